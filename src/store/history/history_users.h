/* SPDX-License-Identifier: MIT */
/*
 * What the sums of users' rows (history_users.c) and dropping such rows (history_user_drops.c) share.
 * Private to these two.
 */
#ifndef STORE_HISTORY_USERS_H
#define STORE_HISTORY_USERS_H

#include "store/history/history_parts.h"

/*
 * A table whose rows are of users, in SQL: whose a row is, how many bytes it takes, when it began and
 * ended.  `wanted` says which of a user's rows may go, the oldest first: ?1 is the last id that was
 * dropped, ?2 the user, ?4 a time before which they ended.
 */
struct user_table {
	const char *table, *user, *bytes, *begin, *end, *wanted;
};

/*
 * The parts of the file: one in so many.  The rows of the first table go first, and then those of the
 * second that ended before them.
 */
struct user_part_info {
	const char *name;
	uint64_t part;
	const struct user_table *first, *second; /* second: NULL for none */
	int64_t row_bytes;			 /* the least that a row takes */
};

extern const struct user_part_info user_parts[USER_PARTS];

/* What all users have of the part.  Call it when the transaction is over. */
int64_t user_part_bytes(struct history *history, enum user_part part);

#endif
