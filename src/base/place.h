/* SPDX-License-Identifier: MIT */
/*
 * Where a file is to be written: a directory that is held open, and a name in it.
 *
 * A directory may belong to others, or be one where everybody writes.  Whoever can
 * put a link there, or swap a directory for one, must not lead what root writes to
 * a file of root's.  So the path is walked once, part by part, and nothing is
 * looked up by it again.  A link is followed where it belongs to root or the
 * caller, and so does its directory; else the place is refused with -EACCES.  So is
 * ".." that leads from a directory of others to one of ours: they can move theirs.
 *
 * Links of procfs are the kernel's own and lead where it says.
 */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include <limits.h>
#include <stdbool.h>

struct place {
	int dir;		 /* O_PATH */
	char name[NAME_MAX + 1]; /* what it names need not be there; no link that was followed */
	bool is_linked;		 /* a link at the end of the path led here */
	bool is_shared;		 /* others can put files into the directory */
	bool is_kernels;	 /* the name is a link of procfs: it must be opened as it is */
};

/* 0, or a negative errno: -EISDIR for a path that ends in a directory's name and "/", "." or "..". */
int place_open(struct place *place, const char *path);
void place_close(struct place *place); /* also after a failed place_open() */

/* Whether the owner of a file is root or the caller. */
bool place_trusts(unsigned int owner);

#endif
