/* SPDX-License-Identifier: MIT */
/*
 * Notes about the columns of a sheet: where values come from, if not from the
 * file that the name says, and why some are missing.
 */
#ifndef RENDER_SHEET_NOTES_H
#define RENDER_SHEET_NOTES_H

#include <stdint.h>

struct sheet;
struct text;

enum sheet_note {
	SHEET_NOTE_ORIGIN, /* "from v1 cpu: cpu.shares: cpu.weight" */
	SHEET_NOTE_ABSENT, /* "absent, the root cgroup does not have it: memory.max, memory.high" */
	SHEET_NOTE_COUNT,
};

/*
 * Appends a line for each distinct note of that kind on columns of these
 * sections, with all names that it concerns; a star stands for all names that
 * begin with the same words.  Returns 0 or -ENOMEM.
 */
int sheet_notes_append(const struct sheet *sheet, enum sheet_note kind, uint32_t sections,
		       struct text *out);

#endif
