/* SPDX-License-Identifier: MIT */
/*
 * Names of signals and of error numbers, as programs spell them.
 */
#ifndef BASE_KERNEL_NAMES_H
#define BASE_KERNEL_NAMES_H

#define KERNEL_NAME_SIZE 24

/* "SIGKILL", "SIGRTMIN+3"; "signal 99" for an unknown number.  Returns the buffer. */
const char *signal_name(int number, char buffer[KERNEL_NAME_SIZE]);

/* "ENOENT", also errors that only the kernel sees, "ERESTARTSYS"; "errno_999" for the rest. */
const char *error_name(unsigned number, char buffer[KERNEL_NAME_SIZE]);

/* The number of an error's name, or -1. */
int error_number(const char *name);

#endif
