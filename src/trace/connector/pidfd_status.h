/* SPDX-License-Identifier: MIT */
/*
 * Gets the exit status of a process from its pidfd.  Kernels since 6.15 keep it there once the
 * process was reaped.
 */
#ifndef TRACE_PIDFD_STATUS_H
#define TRACE_PIDFD_STATUS_H

#include <stdbool.h>

/* False when it is not known, or not yet.  *ret is the status as wait() has it. */
bool pidfd_exit_status(int pidfd, int *ret);

#endif
