/* SPDX-License-Identifier: MIT */
/* No user's lines push out those of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/lines/line_shares.h"

#define BEGIN_NS UINT64_C(5000000000)

/* How many lines of ten bytes the user can write at that time. */
static unsigned write_lines(struct line_shares *shares, int64_t uid, unsigned count,
			    uint64_t now_ns)
{
	unsigned written = 0;

	for (unsigned i = 0; i < count; i++) {
		struct line_user *user = line_shares_ask(shares, uid, now_ns);

		if (user)
			line_user_charge(user, 10);
		written += user != NULL;
	}
	return written;
}

static void a_flood_leaves_room_for_others(void **state)
{
	struct line_shares shares = { .share = 1000 };

	(void)state;
	assert_int_equal(write_lines(&shares, 666, 500, BEGIN_NS), 100);
	assert_int_equal(write_lines(&shares, 1000, 50, BEGIN_NS), 50);
	assert_int_equal(write_lines(&shares, LINE_USER_UNKNOWN, 101, BEGIN_NS), 100);
	assert_int_equal(shares.left_out, 401);
}

static void a_share_is_earned_again(void **state)
{
	struct line_shares shares = { .share = 1000 };
	unsigned written = 0;

	(void)state;
	assert_int_equal(write_lines(&shares, 666, 200, BEGIN_NS), 100);
	assert_int_equal(write_lines(&shares, 666, 200, BEGIN_NS + LINE_SHARE_NS / 2), 50);
	assert_int_equal(write_lines(&shares, 666, 200, BEGIN_NS + 9 * LINE_SHARE_NS), 100);
	/* Asked again and again, it earns no less. */
	for (uint64_t i = 1; i <= 10000; i++)
		written += write_lines(&shares, 666, 1,
				       BEGIN_NS + 9 * LINE_SHARE_NS + i * (LINE_SHARE_NS / 10000));
	assert_in_range(written, 99, 1001);
	/* A clock that stands still or goes back gives nothing. */
	assert_true(write_lines(&shares, 666, 5, BEGIN_NS) <= 1);
}

static void root_and_the_user_who_records_are_not_limited(void **state)
{
	struct line_shares shares = { .share = 1000 };

	(void)state;
	assert_int_equal(write_lines(&shares, 0, 500, BEGIN_NS), 500);
	assert_int_equal(write_lines(&shares, geteuid(), 500, BEGIN_NS), 500);
	assert_int_equal(shares.left_out, 0);
}

static void what_was_left_out_is_told_once_by_user(void **state)
{
	struct line_shares shares = { .share = 1000 };
	uint64_t left_out = 0;
	int64_t uid = 0;

	(void)state;
	assert_false(line_shares_take(&shares, &uid, &left_out));
	write_lines(&shares, 666, 103, BEGIN_NS);
	write_lines(&shares, 667, 10, BEGIN_NS);
	write_lines(&shares, 668, 107, BEGIN_NS);
	assert_true(line_shares_take(&shares, &uid, &left_out));
	assert_true(uid == 666 && left_out == 3);
	assert_true(line_shares_take(&shares, &uid, &left_out));
	assert_true(uid == 668 && left_out == 7);
	assert_false(line_shares_take(&shares, &uid, &left_out));
}

static void one_who_wrote_much_does_not_begin_anew_among_many(void **state)
{
	struct line_shares shares = { .share = 1000 };

	(void)state;
	assert_int_equal(write_lines(&shares, 666, 500, BEGIN_NS), 100);
	for (int64_t uid = 1000; uid < 1000 + 2 * LINE_USERS; uid++)
		assert_int_equal(write_lines(&shares, uid, 1, BEGIN_NS), 1);
	assert_int_equal(write_lines(&shares, 666, 500, BEGIN_NS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flood_leaves_room_for_others),
		cmocka_unit_test(a_share_is_earned_again),
		cmocka_unit_test(root_and_the_user_who_records_are_not_limited),
		cmocka_unit_test(what_was_left_out_is_told_once_by_user),
		cmocka_unit_test(one_who_wrote_much_does_not_begin_anew_among_many),
	};

	return cmocka_run_group_tests_name("line_shares", tests, NULL, NULL);
}
