/* SPDX-License-Identifier: MIT */
/*
 * Names functions that nearly every stack has, where the file does not: distributions strip the C
 * library and programs of all names that are not exported.
 *
 *	_start			has the entry point of the program
 *	main			_start passes its address to the C library
 *	__libc_start_call_main	__libc_start_main calls it, and it can end a thread
 *	start_thread		sets up the list of robust locks, and ends a thread
 *	clone3			makes the system call of that name, and ends a thread
 *	memcpy, strlen, ...	an exported resolver of that name has the address of the function
 *
 * What a function does is read from its instructions, with the few patterns that compilers use for
 * it.  Where they are not found, the function has no name.  Only in a confined child.
 */
#ifndef HOST_CODE_KNOWN_FUNCTIONS_H
#define HOST_CODE_KNOWN_FUNCTIONS_H

#include "base/text.h"

typedef struct Elf Elf;
struct function_table;

/*
 * Adds those functions to a finished table, and finishes it again.  Their names go into `names`,
 * which must stay.  Returns 0 or -ENOMEM.
 */
int known_functions_add(struct function_table *table, Elf *elf, struct text *names);

#endif
