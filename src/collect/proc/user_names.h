/* SPDX-License-Identifier: MIT */
/*
 * Names of users, from a passwd file.  No name service is asked: it may be
 * slow, and it knows only this host.
 */
#ifndef COLLECT_USER_NAMES_H
#define COLLECT_USER_NAMES_H

#include <stdint.h>

#include "base/collection/array.h"
#include "base/text.h"

struct user_name {
	uint64_t uid;
	const char *name; /* in the text, `length` bytes */
	size_t length;
};

/* All zeros is empty and valid. */
struct user_names {
	struct text text;
	ARRAY_OF(struct user_name) list; /* by uid */
};

void user_names_clear(struct user_names *names);

/* Reads the passwd file below `etc`.  Returns 0 or a negative errno. */
int user_names_read(int etc, struct user_names *ret);

/*
 * Finds the users in names->text.  Lines that do not describe a user are left out.  0 or -ENOMEM.
 */
int user_names_parse(struct user_names *names);

/* The name of a user, the first one if there are several; NULL when there is none. */
const struct user_name *user_names_find(const struct user_names *names, uint64_t uid);

#endif
