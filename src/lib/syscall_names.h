/* SPDX-License-Identifier: MIT */
/*
 * Names of the system calls in which threads wait.
 */
#ifndef LIB_SYSCALL_NAMES_H
#define LIB_SYSCALL_NAMES_H

/* NULL: one that hardly ever waits. */
const char *syscall_name(long number);

#endif
