/* SPDX-License-Identifier: MIT */
/*
 * Lines of users in a file that is rotated: nobody's lines push out those of others at once.  A user may
 * write a share of a file, and earns it again in ten minutes.  Lines beyond that are counted.  Root and
 * the user who records may write all that they like.
 */
#ifndef RECORD_LINE_SHARES_H
#define RECORD_LINE_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_USERS 64 /* who wrote lines lately */
#define LINE_SHARE_NS UINT64_C(600000000000)
#define LINE_USER_UNKNOWN INT64_C(-1)

struct line_user {
	int64_t uid;
	uint64_t bytes; /* that may be written */
	uint64_t earned_at_ns;
	uint64_t left_out; /* lines, not reported yet */
};

/* All zeros but `share`: nobody wrote anything. */
struct line_shares {
	uint64_t share; /* bytes */
	struct line_user users[LINE_USERS];
	size_t count;
	uint64_t left_out; /* in all */
};

/*
 * Asks for a user whether a line may be written now (CLOCK_MONOTONIC).  The caller charges the result with
 * the line's bytes; NULL: the line was counted instead.
 */
struct line_user *line_shares_ask(struct line_shares *shares, int64_t uid, uint64_t now_ns);
static inline void line_user_charge(struct line_user *user, uint64_t bytes)
{
	user->bytes -= bytes < user->bytes ? bytes : user->bytes;
}

/* Takes a count that was not reported; false when there is none. */
bool line_shares_take(struct line_shares *shares, int64_t *ret_uid, uint64_t *ret_left_out);

#endif
