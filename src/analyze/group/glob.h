/* SPDX-License-Identifier: MIT */
/*
 * Globs over paths, segment by segment.
 *
 *	*	any characters but "/"
 *	**	any characters; where it stands for whole segments also for none, so that
 *		"/a/", "**" and "/b" in a row match /a/b
 *	?	one character but "/"
 *	[a-z]	one character of a set; [!a-z] one that is not in it; never "/"
 *
 * Everything else stands for itself.  There is no escape: [*] is an asterisk,
 * and a backslash is a backslash, since systemd writes \x2d into names.  A glob
 * matches the whole text.  Characters are UTF-8; each byte that is not counts
 * as a character.
 *
 * Matching takes at most time proportional to the glob's length times the
 * text's, whatever they are.
 */
#ifndef ANALYZE_GLOB_H
#define ANALYZE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct error;
struct glob;

#define GLOB_MAX 1024 /* bytes */

/* What is wrong with a glob, and where. */
struct glob_fault {
	size_t position;    /* bytes before it */
	const char *reason; /* "'[' has no ']'"; no full stop */
};

/*
 * Returns 0 and a glob that the caller frees, -EINVAL with the fault, which may
 * be NULL, or -ENOMEM.
 */
int glob_new(const char *pattern, struct glob **ret, struct glob_fault *ret_fault);
void glob_free(struct glob *glob);	    /* NULL is allowed */
CLEANUP_POINTER(glob_free, struct glob)

bool glob_match(const struct glob *glob, const char *text);

/*
 * Matches a name of which only the first bytes are a path, or none: after them
 * "/" is an ordinary character, which "*" and "?" match too.
 */
bool glob_match_name(const struct glob *glob, const char *text, size_t path_length);

/* 0, -ENOMEM, or -EINVAL with a sentence that names the glob and the position. */
int glob_check(const char *pattern, struct error *error);

#endif
