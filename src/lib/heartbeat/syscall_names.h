/* SPDX-License-Identifier: MIT */
/*
 * Names of the system calls of the machine that the library was built for.
 */
#ifndef LIB_SYSCALL_NAMES_H
#define LIB_SYSCALL_NAMES_H

/* NULL: no call has that number. */
const char *syscall_name(long number);

#endif
