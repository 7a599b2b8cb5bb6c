/* SPDX-License-Identifier: MIT */
/* Who is named in a digest, in which words, in every mode. */
#include "digest_scene.h"

#include "analyze/compare/interval_snapshot.h"

static void add_run(struct pair *pair, int32_t pid, const char *name, uint64_t before,
		    uint64_t after)
{
	both(pair, pid, pid, name, METRIC_run_time_ns, before, after);
}

static void the_largest_come_first_and_taskscope_is_not_named(void **state)
{
	struct pair pair = pair_new();
	CLEANUP(digest_clear) struct digest digest = { 0 };

	(void)state;
	add_run(&pair, 10, "small", 0, 1 * SECOND);
	add_run(&pair, 11, "large", 0, 6 * SECOND);
	add_run(&pair, 12, "taskscope", 0, 9 * SECOND);
	add_run(&pair, 13, "medium", 0, 3 * SECOND);
	add_run(&pair, 14, "tiny", 0, 400 * MS);
	digest = digest_of(pair);
	assert_int_equal(digest.lines.count, 3);
	assert_string_equal(digest.lines.data[0].sentence,
			    "large used 6.00 s of CPU (15 % of the host), 31 % of all");
	assert_string_equal(digest.lines.data[1].who, "medium");
	assert_string_equal(digest.lines.data[2].who, "small");
	assert_true(digest.lines.data[0].delta == 6e9 && digest.lines.data[0].rate == 6e8);
	assert_true(digest.lines.data[0].of_capacity == 0.15);
	assert_string_equal(digest.lines.data[0].metric, "run_time_ns");
	assert_string_equal(digest.lines.data[0].group, "large");
}

static void who_has_a_small_part_is_not_named(void **state)
{
	struct pair pair = pair_new();
	CLEANUP(digest_clear) struct digest digest = { 0 };

	(void)state;
	add_run(&pair, 10, "small", 0, 1 * SECOND);
	add_run(&pair, 11, "large", 0, 20 * SECOND);
	digest = digest_of(pair);
	assert_int_equal(digest.lines.count, 1);
	assert_string_equal(digest.lines.data[0].who, "large");
}

static void what_children_did_is_said(void **state)
{
	struct pair pair = pair_new();

	(void)state;
	add_run(&pair, 10, "make", 0, 1 * SECOND);
	dead(&pair, 10, METRIC_child_utime_ns, 5, 5 + 3 * SECOND);
	assert_says(pair,
		    "make used 4.00 s of CPU by its children (10 % of the host), 100 % of all");
}

static void a_long_name_loses_its_middle(void **state)
{
	struct pair pair = pair_new();

	(void)state;
	add_run(&pair, 10, "a-very-long-name-of-a-process-that-does-not-fit-in-here", 0, SECOND);
	assert_says(pair, "a-very-long-n…t-fit-in-here used 1.00 s of CPU "
			  "(2.5 % of the host), 100 % of all");
}

static void names_from_strangers_are_escaped(void **state)
{
	struct pair pair = pair_new();

	(void)state;
	add_run(&pair, 10, "bad\x1bname", 0, SECOND);
	assert_says(pair, "bad\\x1bname used 1.00 s of CPU (2.5 % of the host), 100 % of all");
}

static void there_are_never_more_lines_than_fit(void **state)
{
	struct pair pair = pair_new();
	CLEANUP(digest_clear) struct digest digest = { 0 };

	(void)state;
	both(&pair, 10, 10, "all", METRIC_run_time_ns, 0, 9 * SECOND);
	for (int id = 0; id < METRIC_STORED; id++) {
		bool of_process = metrics[id].scope == METRIC_OF_PROCESS;

		if (metrics[id].kind != KIND_COUNTER || id == METRIC_run_time_ns || of_process)
			continue;
		hand_set(pair.before, (enum metric_id)id, 0, 0);
		hand_set(pair.after, (enum metric_id)id, 0, 100 * SECOND);
	}
	digest = digest_of(pair);
	assert_int_equal(digest.lines.count, DIGEST_LINES);
}

/* An interval of ten seconds in which a process burnt so many ms. */
static struct snapshot *interval(uint64_t ms)
{
	struct pair pair = pair_new();
	struct error error = { 0 };

	add_run(&pair, 10, "server", SECOND, SECOND + ms * MS);
	pair_finish(&pair);
	assert_int_equal(interval_snapshot_make(pair.before, pair.after, "a..b", &error), 0);
	snapshot_free(pair.before);
	return pair.after;
}

static void intervals_are_told_by_rates(void **state)
{
	(void)state;
	assert_only((struct pair){ interval(5000), interval(5499) }, NOTHING);
	assert_only((struct pair){ interval(5000), interval(9000) },
		    "server uses 0.50 → 0.90 CPUs (+10 % of the host), 100 % of what moved");
	/* Above the floor, but a tenth of what it is. */
	assert_only((struct pair){ interval(20000), interval(22000) }, NOTHING);
	assert_only((struct pair){ interval(20000), interval(22300) },
		    "server uses 2.00 → 2.23 CPUs (+5.8 % of the host), 100 % of what moved");
}

static void what_several_intervals_do_not_tell_from_chance_is_not_said(void **state)
{
	static const uint64_t ms[2][3] = { { 1000, 9000, 1500 }, { 8000, 1200, 9500 } };
	struct snapshot *runs[2][3];
	struct compare_side sides[] = { { (const struct snapshot *const *)runs[0], 3 },
					{ (const struct snapshot *const *)runs[1], 3 } };
	CLEANUP(digest_clear) struct digest digest = { 0 };

	(void)state;
	for (int i = 0; i < 6; i++)
		runs[i / 3][i % 3] = interval(ms[i / 3][i % 3]);
	assert_int_equal(make_digest(&sides[0], &sides[1], &digest), 0);
	assert_string_equal(digest.lines.data[0].sentence, NOTHING);
	for (int i = 0; i < 6; i++)
		snapshot_free(runs[i / 3][i % 3]);
}

/* Captures of two boots: what matters is what each task does in a second of its life. */
static void other_boots_are_told_by_the_rates_of_lives(void **state)
{
	struct pair pair = { pair_snapshot("one", BEFORE_NS), pair_snapshot("two", BEFORE_NS) };

	(void)state;
	/* Started after ten seconds, so it has lived for ninety. */
	add_run(&pair, 1000, "server", 9 * SECOND, 45 * SECOND);
	assert_only(pair, "server uses 0.10 → 0.50 CPUs (+10 % of the host), 100 % of what moved");
}

static struct snapshot *run_of(const char *recording, uint64_t ms, uint64_t lock_ms)
{
	struct snapshot *snapshot = pair_snapshot("one", AFTER_NS);
	uint32_t task = hand_task(snapshot, 10, 10, "server", "/");

	snapshot_set_fact_text(snapshot, FACT_recording, recording);
	snapshot_set_fact_number(snapshot, FACT_duration_ns, 10 * SECOND);
	hand_set(snapshot, METRIC_run_time_ns, task, ms * MS);
	hand_set(snapshot, METRIC_wait_lock_ns, task, lock_ms * MS);
	hand_set(snapshot, METRIC_wall_time_ns, task, 10 * SECOND);
	return snapshot;
}

static void runs_are_told_by_their_totals(void **state)
{
	(void)state;
	assert_only((struct pair){ run_of("run", 5000, 0), run_of("run", 5400, 0) }, NOTHING);
	assert_only((struct pair){ run_of("run", 5000, 0), run_of("run", 9000, 0) },
		    "server used 5.00 → 9.00 s of CPU, 100 % of what moved");
}

static void attached_runs_are_told_by_the_time_that_was_watched(void **state)
{
	(void)state;
	assert_says((struct pair){ run_of("attach", 1000, 500), run_of("attach", 1000, 6000) },
		    "server waits 50.0 → 600 ms/s for locks, 100 % of what moved");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_come_first_and_taskscope_is_not_named),
		cmocka_unit_test(who_has_a_small_part_is_not_named),
		cmocka_unit_test(what_children_did_is_said),
		cmocka_unit_test(a_long_name_loses_its_middle),
		cmocka_unit_test(names_from_strangers_are_escaped),
		cmocka_unit_test(there_are_never_more_lines_than_fit),
		cmocka_unit_test(intervals_are_told_by_rates),
		cmocka_unit_test(what_several_intervals_do_not_tell_from_chance_is_not_said),
		cmocka_unit_test(other_boots_are_told_by_the_rates_of_lives),
		cmocka_unit_test(runs_are_told_by_their_totals),
		cmocka_unit_test(attached_runs_are_told_by_the_time_that_was_watched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
