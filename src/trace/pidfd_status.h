/* SPDX-License-Identifier: MIT */
/* How a process ended, by a pidfd of it: where the kernel keeps that (since 6.15), once it was reaped. */
#ifndef TRACE_PIDFD_STATUS_H
#define TRACE_PIDFD_STATUS_H

#include <stdbool.h>

/* False when it is not known (yet).  `ret` is as wait() has it. */
bool pidfd_exit_status(int pidfd, int *ret);

#endif
