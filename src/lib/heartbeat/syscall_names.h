/* SPDX-License-Identifier: MIT */
/*
 * Names of the system calls in which threads wait.
 */
#ifndef LIB_SYSCALL_NAMES_H
#define LIB_SYSCALL_NAMES_H

/* NULL: not in the table, since threads hardly ever wait in it. */
const char *syscall_name(long number);

#endif
