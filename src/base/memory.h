/* SPDX-License-Identifier: MIT */
/*
 * Whether anything that was to be shown is missing for lack of memory.
 *
 * What prints cannot stop in the middle of a line and say so.  It notes it here, leaves out what it
 * must, and whoever ends the program asks once.  State of the whole process.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>

void memory_note_missing(void);
bool memory_was_missing(void);

#endif
