/* SPDX-License-Identifier: MIT */
#include "record/lines/line_shares.h"

#include <unistd.h>

#include "base/cleanup.h"

/*
 * A place for a new user.  When all are taken, the user who may write most loses it: a new one may
 * hardly write less.
 */
static struct line_user *replaced_user(struct line_shares *shares)
{
	struct line_user *found = &shares->users[0];

	if (shares->count < LINE_USERS)
		return &shares->users[shares->count++];
	for (size_t i = 1; i < LINE_USERS; i++)
		if (shares->users[i].bytes > found->bytes)
			found = &shares->users[i];
	return found;
}

static struct line_user *find_user(struct line_shares *shares, int64_t uid, uint64_t now_ns)
{
	struct line_user *user;

	for (size_t i = 0; i < shares->count; i++)
		if (shares->users[i].uid == uid)
			return &shares->users[i];
	user = replaced_user(shares);
	*user = (struct line_user){ uid, shares->share, now_ns, 0 };
	return user;
}

static void earn(const struct line_shares *shares, struct line_user *user, uint64_t now_ns)
{
	uint64_t passed = now_ns > user->earned_at_ns ? now_ns - user->earned_at_ns : 0;
	double earned = (double)shares->share * (double)passed / (double)LINE_SHARE_NS;

	if (passed >= LINE_SHARE_NS || (uint64_t)earned >= shares->share - user->bytes) {
		user->bytes = shares->share;
		user->earned_at_ns = now_ns;
	} else if (earned >= 1) {
		user->bytes += (uint64_t)earned;
		user->earned_at_ns = now_ns;
	}
}

static bool is_unlimited(int64_t uid)
{
	return uid == 0 || uid == (int64_t)geteuid();
}

struct line_user *line_shares_ask(struct line_shares *shares, int64_t uid, uint64_t now_ns)
{
	struct line_user *user = find_user(shares, uid, now_ns);

	if (is_unlimited(uid)) {
		user->bytes = shares->share;
		return user;
	}
	earn(shares, user, now_ns);
	if (user->bytes)
		return user;
	user->left_out++;
	shares->left_out++;
	return NULL;
}

bool line_shares_take(struct line_shares *shares, int64_t *ret_uid, uint64_t *ret_left_out)
{
	for (size_t i = 0; i < shares->count; i++) {
		if (!shares->users[i].left_out)
			continue;
		*ret_uid = shares->users[i].uid;
		*ret_left_out = TAKE(shares->users[i].left_out, 0);
		return true;
	}
	return false;
}
