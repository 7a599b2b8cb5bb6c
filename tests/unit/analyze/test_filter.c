/* SPDX-License-Identifier: MIT */
/* Filters: how they are written, and which tasks of a snapshot match. */
#include "hand_snapshot.h"

#include <errno.h>
#include <math.h>

#include "analyze/filter/filter.h"
#include "analyze/filter/filter_match.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

enum { MASTER, WORKER, AIO, SHELL, KTHREAD, TASKS };

static struct snapshot *snapshot;

/* nginx with a worker that has two threads, a shell of somebody else, a kernel thread. */
static int set_up(void **state)
{
	static const struct {
		int32_t tgid, tid;
		const char *comm, *cgroup;
	} tasks[TASKS] = {
		{ 10, 10, "nginx", "/system.slice/nginx.service" },
		{ 11, 11, "nginx", "/system.slice/nginx.service" },
		{ 11, 12, "aio/1", "/system.slice/nginx.service" },
		{ 20, 20, "my shell", "/user.slice" },
		{ 30, 30, "kworker/0:1", "/" },
	};

	(void)state;
	snapshot = hand_new();
	for (size_t i = 0; i < TASKS; i++)
		hand_task(snapshot, tasks[i].tgid, tasks[i].tid, tasks[i].comm, tasks[i].cgroup);
	assert_int_equal(snapshot_finish(snapshot), 0);
	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		static const uint64_t users[] = { 0, 33, 1000, 0 }, parents[] = { 1, 10, 10, 2 };

		hand_set(snapshot, METRIC_uid, row, users[row]);
		hand_set(snapshot, METRIC_ppid, row, parents[row]);
		if (row < 3)
			hand_set(snapshot, METRIC_rss_bytes, row, (uint64_t)(row + 1) << 30);
	}
	snapshot->processes[0].user = hand_text(snapshot, "root");
	snapshot->processes[1].user = hand_text(snapshot, "www-data");
	snapshot->processes[0].cmdline = hand_text(snapshot, "/usr/sbin/nginx -g daemon off");
	for (uint32_t row = 0; row < TASKS; row++) {
		hand_set(snapshot, METRIC_state, row, row == AIO ? 'D' : 'S');
		hand_set(snapshot, METRIC_nice, row, (uint64_t)((int64_t)row - 3));
		hand_set(snapshot, METRIC_run_time_ns, row, row * 1000000000);
		hand_set(snapshot, METRIC_timeslices, row, row * 2);
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	snapshot_free(snapshot);
	return 0;
}

/* One letter a task: y, n, or - for an absent value. */
static void assert_matches_with(const double *cpu, const char *text, const char *expected)
{
	CLEANUP(filter_clear) struct filter filter = { 0 };
	CLEANUP(free_pointer) uint8_t *outcomes = NULL;
	struct error error = { 0 };
	char found[TASKS + 1] = "";

	if (filter_add(&filter, text, &error) < 0 ||
	    filter_match(&filter, snapshot, cpu, &outcomes, &error) < 0)
		fail_msg("%s: %s", text, error.message);
	for (size_t i = 0; i < TASKS; i++)
		found[i] = outcomes[i] == FILTER_YES ? 'y' : outcomes[i] == FILTER_NO ? 'n' : '-';
	if (strcmp(found, expected) != 0)
		fail_msg("%s: %s, not %s", text, found, expected);
}

static void assert_matches(const char *text, const char *expected)
{
	assert_matches_with(NULL, text, expected);
}

static void assert_refused(const char *text, const char *part, size_t position)
{
	CLEANUP(filter_clear) struct filter filter = { 0 };
	struct error error = { 0 };

	assert_int_equal(filter_add(&filter, text, &error), -EINVAL);
	if (!strstr(error.message, part))
		fail_msg("'%s' does not say '%s'", error.message, part);
	if (error.caret != position)
		fail_msg("'%s' is said of %zu, not of %zu", error.message, error.caret, position);
}

static void names_match_as_globs(void **state)
{
	(void)state;
	assert_matches("pcomm=nginx", "yyynn");
	assert_matches("pcomm=ngin", "nnnnn");
	assert_matches("pcomm=n*", "yyynn");
	assert_matches("comm=nginx", "yynnn");
	assert_matches("comm=*/*", "nnyny");
	assert_matches("comm=kworker*", "nnnny");
	assert_matches("cmd=*daemon*", "y----");
	assert_matches("comm!=nginx", "nnyyy");
}

static void a_star_stays_within_a_segment_of_a_path(void **state)
{
	(void)state;
	assert_matches("cgroup=/system.slice/*", "yyynn");
	assert_matches("cgroup=/*", "nnnyy");
	assert_matches("cgroup=/**", "yyyyy");
	assert_matches("container=nginx.service", "yyynn");
}

static void several_values_are_any_of_them(void **state)
{
	(void)state;
	assert_matches("comm=nginx,aio*", "yyynn");
	assert_matches("comm!=nginx,aio*", "nnnyy");
	assert_matches("pid=10,20", "ynnyn");
	assert_matches("pid!=10,20", "nyyny");
	assert_matches("nice=-3,0", "ynnyn");
}

static void all_terms_must_hold(void **state)
{
	(void)state;
	assert_matches("pcomm=nginx pid=11", "nyynn");
	assert_matches("\t pcomm=nginx\n comm=aio* ", "nnynn");
	assert_matches("pcomm = nginx rss_bytes > 1G", "nyynn");
}

static void values_with_blanks_are_quoted(void **state)
{
	(void)state;
	assert_matches("comm=\"my shell\"", "nnnyn");
	assert_matches("comm='my shell',nginx", "yynyn");
	assert_matches("comm=my?shell", "nnnyn");
	snapshot->tasks[AIO].comm = hand_text(snapshot, "a\"b,c");
	assert_matches("comm=\"a\\\"b,c\"", "nnynn");
	assert_matches("comm='a\"b,c'", "nnynn");
}

static void a_name_that_looks_like_a_glob_matches_itself(void **state)
{
	(void)state;
	snapshot->tasks[AIO].comm = hand_text(snapshot, "[x]");
	assert_matches("comm=[x]", "nnynn");
}

static void a_process_is_a_number_or_a_name(void **state)
{
	(void)state;
	assert_matches("process=20,nginx", "yyyyn");
	assert_matches("process=10", "ynnnn");
}

static void a_user_is_a_name_or_a_number(void **state)
{
	(void)state;
	assert_matches("user=1000,www-data", "nyyyn");
	assert_matches("user!=root", "nyyyy");
	assert_matches("uid>=33", "nyyyn");
	snapshot_clear(snapshot, METRIC_uid, 2);
	assert_matches("user!=root", "nyy-y");
}

static void a_tree_is_a_process_and_all_below_it(void **state)
{
	(void)state;
	assert_matches("tree=10", "yyyyn");
	assert_matches("tree=nginx", "yyyyn");
	assert_matches("tree=11", "nyynn");
	assert_matches("tree!=10", "nnnny");
	/* A circle, as a forged file may have it. */
	hand_set(snapshot, METRIC_ppid, 0, 20);
	assert_matches("tree=11", "nyynn");
	assert_matches("tree=30", "nnnny");
}

static void amounts_are_compared_in_the_unit_of_the_metric(void **state)
{
	(void)state;
	assert_matches("rss_bytes>1G", "nyyy-");
	assert_matches("rss_bytes>=1GiB", "yyyy-");
	assert_matches("rss_bytes=1073741824", "ynnn-");
	assert_matches("run_time_ns>1500ms", "nnyyy");
	assert_matches("run_time_ns<=1s", "yynnn");
	assert_matches("nice>-2", "nnyyy");
	assert_matches("avg_slice_ns>=500ms", "-yyyy");
	assert_matches("cpu_efficiency>20%", "-----");
}

static void metrics_that_are_names_match_as_globs(void **state)
{
	(void)state;
	assert_matches("state=D", "nnynn");
	assert_matches("state!=D,R", "yynyy");
}

/* Both threads of the worker have what their process has. */
static void a_metric_of_processes_is_that_of_the_process(void **state)
{
	(void)state;
	assert_matches("rss_bytes=2G", "nyyn-");
}

static void an_absent_value_matches_nothing(void **state)
{
	(void)state;
	assert_matches("rss_bytes!=5", "yyyy-");
	assert_matches("rss_bytes<1T pcomm=nginx", "yyynn");
	assert_matches("scope=a", "-----");
	assert_matches("majflt>0 minflt>0", "-----");
}

static void what_fails_anyway_is_not_counted_as_absent(void **state)
{
	(void)state;
	assert_matches("rss_bytes>0 comm=nginx", "yynnn");
	assert_matches("comm=nginx rss_bytes>0", "yynnn");
}

static void cpu_needs_an_interval(void **state)
{
	static const double cpu[TASKS] = { 0, 5, 5.5, 100, NAN };
	CLEANUP(filter_clear) struct filter filter = { 0 };
	uint8_t *outcomes = NULL;
	struct error error = { 0 };

	(void)state;
	assert_matches_with(cpu, "cpu>5", "nnyy-");
	assert_matches_with(cpu, "cpu>=5%", "nyyy-");
	assert_int_equal(filter_add(&filter, "cpu>5", &error), 0);
	assert_int_equal(filter_match(&filter, snapshot, NULL, &outcomes, &error), -EINVAL);
	assert_non_null(strstr(error.message, "interval"));
}

static void what_only_a_run_has_is_refused_for_a_capture(void **state)
{
	CLEANUP(filter_clear) struct filter filter = { 0 };
	uint8_t *outcomes = NULL;
	struct error error = { 0 };

	(void)state;
	assert_int_equal(filter_add(&filter, "wait_disk_ns>5s", &error), 0);
	assert_int_equal(filter_match(&filter, snapshot, NULL, &outcomes, &error), -EINVAL);
	assert_non_null(strstr(error.message, "run and attach"));
}

static void mistakes_are_pointed_at(void **state)
{
	(void)state;
	assert_refused("pcom=a", "did you mean pcomm?", 0);
	assert_refused("comm=a rss_byte>1", "did you mean rss_bytes?", 7);
	assert_refused("comm", "needs an operator", 4);
	assert_refused("comm==a", "needs an operator", 4);
	assert_refused("comm>a", "a name", 4);
	assert_refused("state<D", "a name", 5);
	assert_refused("comm=", "value", 5);
	assert_refused("comm=a,", "value", 7);
	assert_refused("comm=\"a", "not closed", 5);
	assert_refused("comm=\"a\"b", "must follow", 8);
	assert_refused("comm=[a", "not valid", 5);
	assert_refused("pid=nginx", "takes a number", 4);
	assert_refused("pid=1K", "plain number", 4);
	assert_refused("rss_bytes>5s", "measured in", 10);
	assert_refused("rss_bytes>20%", "measured in", 10);
	assert_refused("rss_bytes>big", "amount", 10);
	assert_refused("rss_bytes>1,2", "several values", 13);
	assert_refused("=a", "NAME OPERATOR VALUE", 0);
	assert_refused("  ", "empty", 0);
}

static void too_much_is_refused(void **state)
{
	CLEANUP(filter_clear) struct filter filter = { 0 };
	struct error error = { 0 };
	char text[8192];

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(filter_add(&filter, text, &error), -EINVAL);
	error = (struct error){ 0 };
	for (int i = 0; i < FILTER_TERMS_MAX; i++)
		assert_int_equal(filter_add(&filter, "pid=1", &error), 0);
	assert_int_equal(filter_add(&filter, "pid=1", &error), -EINVAL);
	assert_non_null(strstr(error.message, "at most 64 terms"));
}

static void several_texts_are_one_filter(void **state)
{
	CLEANUP(filter_clear) struct filter filter = { 0 };
	struct error error = { 0 };

	(void)state;
	assert_true(filter_is_empty(&filter));
	assert_int_equal(filter_add(&filter, " pcomm=a ", &error), 0);
	assert_int_equal(filter_add(&filter, "user=b", &error), 0);
	assert_string_equal(text_string(filter.text), "pcomm=a user=b");
	assert_int_equal(filter.terms.count, 2);
}

static void a_literal_stands_for_itself(void **state)
{
	static const char *const names[] = { "a",	 "*",	 "a[b]?", "a b",   "a\"b", "a\\",
					     "x\\\"y z", "it's", "a,b",	  "\\x2d", "a b\\" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		CLEANUP(text_free) struct text term = { 0 };

		text_append_string(&term, "comm=");
		filter_append_literal(&term, names[i], "");
		snapshot->tasks[AIO].comm = hand_text(snapshot, names[i]);
		assert_matches(term.data, "nnynn");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_match_as_globs),
		TEST(a_star_stays_within_a_segment_of_a_path),
		TEST(several_values_are_any_of_them),
		TEST(all_terms_must_hold),
		TEST(values_with_blanks_are_quoted),
		TEST(a_name_that_looks_like_a_glob_matches_itself),
		TEST(a_process_is_a_number_or_a_name),
		TEST(a_user_is_a_name_or_a_number),
		TEST(a_tree_is_a_process_and_all_below_it),
		TEST(amounts_are_compared_in_the_unit_of_the_metric),
		TEST(metrics_that_are_names_match_as_globs),
		TEST(a_metric_of_processes_is_that_of_the_process),
		TEST(an_absent_value_matches_nothing),
		TEST(what_fails_anyway_is_not_counted_as_absent),
		TEST(cpu_needs_an_interval),
		TEST(what_only_a_run_has_is_refused_for_a_capture),
		TEST(mistakes_are_pointed_at),
		TEST(too_much_is_refused),
		TEST(several_texts_are_one_filter),
		TEST(a_literal_stands_for_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
