/* SPDX-License-Identifier: MIT */
/* What names mean: files, lists of files, intervals. */
#include "cli/parts/compare/compare_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/snapshot_file.h"
#include "two_snapshots.h"

static char folder[] = "/tmp/compare-input-XXXXXX";
static const char *const names[] = { "a", "b", "c..d", "x,y", "sub/a", "sub/b" };

static void write_moment(const char *name, uint64_t boottime_ns)
{
	CLEANUP(snapshot_free_pointer)
	struct snapshot *snapshot = pair_snapshot("one", boottime_ns);
	struct error error = { 0 };

	hand_task(snapshot, 10, 10, "server", "/");
	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_int_equal(snapshot_file_write(snapshot, name, &error), 0);
}

/* All files are moments of one boot, each a second after the one before. */
static int make_files(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || chdir(folder) < 0 || mkdir("sub", 0700) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		write_moment(names[i], BEFORE_NS + i * 1000000000);
	return 0;
}

static int drop_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(names[i]);
	return rmdir("sub") < 0 || chdir("/") < 0 || rmdir(folder) < 0 ? -1 : 0;
}

/* Reads both sides; gives how long the intervals of the first are together, in seconds. */
static uint64_t seconds_of(const char *before, size_t count)
{
	CLEANUP(compare_input_clear) struct compare_input input = { 0 };
	char *words[] = { (char *)before, (char *)before };
	struct error error = { 0 };
	uint64_t sum = 0;

	if (compare_input_read(&input, words, &error) < 0)
		fail_msg("%s: %s", before, error.message);
	assert_int_equal(input.before.snapshots.count, count);
	assert_int_equal(input.after.snapshots.count, count);
	for (size_t i = 0; i < count; i++)
		sum += input.before.snapshots.data[i]->interval_ns / 1000000000;
	return sum;
}

static void assert_refused(const char *word, const char *says)
{
	CLEANUP(compare_input_clear) struct compare_input input = { 0 };
	char *words[] = { (char *)word, (char *)word };
	struct error error = { 0 };

	assert_true(compare_input_read(&input, words, &error) < 0);
	if (!strstr(error.message, says))
		fail_msg("'%s' does not say '%s'", error.message, says);
}

static void a_name_that_is_a_file_is_that_file(void **state)
{
	(void)state;
	assert_int_equal(seconds_of("a", 1), 0);
	assert_int_equal(seconds_of("c..d", 1), 0);
	assert_int_equal(seconds_of("x,y", 1), 0);
	assert_int_equal(seconds_of("sub/../a", 1), 0);
	assert_false(compare_input_is_interval("c..d"));
	assert_false(compare_input_is_interval("a"));
}

static void two_names_are_an_interval(void **state)
{
	(void)state;
	assert_true(compare_input_is_interval("a..b"));
	assert_int_equal(seconds_of("a..b", 1), 1);
	/* The last ".." divides. */
	assert_int_equal(seconds_of("c..d..sub/b", 1), 3);
}

static void the_end_is_in_the_folder_of_the_beginning_unless_it_has_one(void **state)
{
	(void)state;
	assert_int_equal(seconds_of("sub/a..b", 1), 1);
	assert_int_equal(seconds_of("a..sub/b", 1), 5);
	assert_int_equal(seconds_of("sub/../a..b", 1), 1);
}

static void several_intervals_have_commas_between_them(void **state)
{
	(void)state;
	assert_int_equal(seconds_of("a..b,sub/a..b,b..sub/a", 3), 1 + 1 + 3);
	assert_int_equal(seconds_of("a,b", 2), 0);
}

static void dots_beside_a_slash_or_at_an_end_do_not_divide(void **state)
{
	(void)state;
	assert_false(compare_input_is_interval("../nothing"));
	assert_false(compare_input_is_interval("nothing/.."));
	assert_false(compare_input_is_interval("nothing.."));
	assert_false(compare_input_is_interval("..nothing"));
	assert_false(compare_input_is_interval("none/../nothing"));
	assert_false(compare_input_is_interval(""));
	assert_false(compare_input_is_interval(".."));
}

static void mistakes_name_what_is_meant(void **state)
{
	(void)state;
	assert_refused("b..a", "'b..a' is not an interval");
	assert_refused("a..a", "no time is between");
	assert_refused("sub/a..c", "sub/c");
	assert_refused("nothing..b", "'nothing'");
	assert_refused("a..b,", "empty name");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_that_is_a_file_is_that_file),
		cmocka_unit_test(two_names_are_an_interval),
		cmocka_unit_test(the_end_is_in_the_folder_of_the_beginning_unless_it_has_one),
		cmocka_unit_test(several_intervals_have_commas_between_them),
		cmocka_unit_test(dots_beside_a_slash_or_at_an_end_do_not_divide),
		cmocka_unit_test(mistakes_name_what_is_meant),
	};

	return cmocka_run_group_tests(tests, make_files, drop_files);
}
