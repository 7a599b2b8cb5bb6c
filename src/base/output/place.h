/* SPDX-License-Identifier: MIT */
/*
 * This room is how output gets where it belongs: into memory (memory_stream.h), into a file as lines
 * (lines.h), and to a place that nobody else can move (here).
 *
 * The place to write a file: a directory that is held open, and a name in it.
 *
 * A directory on the path may belong to others, or be one where everybody can write.  They can put
 * a link there, or swap a directory for a link, to make root overwrite one of its own files.  So
 * the path is walked once, part by part, and is not looked up again.  A link is followed only if
 * it and every directory on the way belong to root or the caller, and no other group can rename
 * what is there; else the place is refused with -EACCES.  ".." from a directory of others to one
 * of ours is also refused, since they can move their directory.
 *
 * A FUSE file system that somebody else mounted can say of any file that it is root's, so all its
 * directories count as theirs.
 *
 * Links of procfs are made by the kernel and are followed.
 */
#ifndef BASE_PLACE_H
#define BASE_PLACE_H

#include <limits.h>
#include <stdbool.h>

struct place {
	int dir;		 /* O_PATH */
	char name[NAME_MAX + 1]; /* never a link to follow; need not exist */
	bool is_linked;		 /* a link at the end of the path led here */
	bool is_shared;		 /* others can put files into the directory */
	bool is_exposed;	 /* others can put another file in the place of one of ours */
	bool is_kernels;	 /* the name is a link of procfs: it must be opened as it is */
};

/* Returns 0, or a negative errno: -EISDIR for a path that ends in "/", "." or "..". */
int place_open(struct place *place, const char *path);
void place_close(struct place *place); /* also after a failed place_open() */

/* Whether the owner of a file is root or the caller. */
bool place_trusts(unsigned int owner);

#endif
