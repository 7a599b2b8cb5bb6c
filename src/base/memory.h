/* SPDX-License-Identifier: MIT */
/*
 * Remembers whether any output is missing because memory ran out.
 *
 * Code that prints cannot stop in the middle of a line to say so.  It notes the failure here and
 * leaves out what it must; the end of the program asks once.  This is state of the whole process.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>

void memory_note_missing(void);
bool memory_was_missing(void);

#endif
