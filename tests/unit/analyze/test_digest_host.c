/* SPDX-License-Identifier: MIT */
/* How busy the host and its disks were, in every mode. */
#include "digest_scene.h"

#include "analyze/compare/interval_snapshot.h"

static void set_host(struct snapshot *snapshot, const char *name, uint64_t value)
{
	set_reading(snapshot, SHEET_HOST, NULL, name, CELL_NUMBER, value);
}

/* Four CPUs of which all were idle for so long, in so many seconds. */
static void set_cpus(struct snapshot *snapshot, uint64_t seconds, uint64_t idle)
{
	set_host(snapshot, "stat cpu user", 4 * seconds * SECOND - idle);
	set_host(snapshot, "stat cpu idle", idle);
}

static struct pair quiet_pair(void)
{
	struct pair pair = pair_new();

	both(&pair, 10, 10, "server", METRIC_run_time_ns, SECOND, SECOND + 1);
	return pair;
}

static struct pair busy(uint64_t idle)
{
	struct pair pair = quiet_pair();

	set_cpus(pair.before, 100, 5);
	set_cpus(pair.after, 110, 5 + idle);
	return pair;
}

static void a_host_without_idle_time_is_busy(void **state)
{
	(void)state;
	assert_only(busy(4 * SECOND + 1), NOTHING);
	assert_only(busy(4 * SECOND), "host was 90.0 % busy (90 % user): no CPU time left");
}

static void the_modes_that_took_most_are_named(void **state)
{
	struct pair pair = busy(2 * SECOND);

	(void)state;
	set_host(pair.before, "stat cpu system", 7);
	set_host(pair.after, "stat cpu system", 7 + 10 * SECOND);
	set_host(pair.before, "stat cpu irq", 0);
	set_host(pair.after, "stat cpu irq", 5 * SECOND);
	assert_only(pair, "host was 96.4 % busy (69 % user, 18 % system): "
			  "no CPU time left");
}

/* The kernel's own sums of idle time and of waiting for disks can fall. */
static void a_mode_that_fell_counts_for_nothing(void **state)
{
	struct pair pair = busy(4 * SECOND);

	(void)state;
	set_host(pair.before, "stat cpu iowait", 50 * SECOND + 1);
	set_host(pair.after, "stat cpu iowait", 50 * SECOND);
	assert_only(pair, "host was 90.0 % busy (90 % user): no CPU time left");
}

static void a_file_without_the_figures_says_nothing(void **state)
{
	struct pair pair = busy(0);

	(void)state;
	sheet_clear(&pair.before->sheets[SHEET_HOST]);
	pair.before->sheets[SHEET_HOST] = (struct sheet){ 0 };
	assert_only(pair, NOTHING);
}

static void the_busiest_disks_come_first(void **state)
{
	static const char *const names[] = { "diskstats vda busy_ns", "diskstats vdb busy_ns",
					     "diskstats vdc busy_ns", "diskstats vdd busy_ns" };
	static const uint64_t seconds[] = { 6, 4, 9, 8 };
	struct pair pair = quiet_pair();
	CLEANUP(digest_clear) struct digest digest = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		set_host(pair.before, names[i], 3);
		set_host(pair.after, names[i], 3 + seconds[i] * SECOND);
	}
	digest = digest_of(pair);
	assert_int_equal(digest.lines.count, 2);
	assert_string_equal(digest.lines.data[0].sentence, "disk vdc was 90.0 % busy");
	assert_string_equal(digest.lines.data[1].sentence, "disk vdd was 80.0 % busy");
	assert_string_equal(digest.lines.data[0].metric, "diskstats vdc busy_ns");
	assert_string_equal(digest.lines.data[0].group, "host");
	assert_int_equal(digest.lines.data[0].section, COMPARE_HOST_USAGE);
	assert_true(digest.lines.data[0].of_capacity == 0.9);
}

static void a_line_about_an_interface_names_the_row_of_the_host(void **state)
{
	struct pair pair = quiet_pair();
	CLEANUP(digest_clear) struct digest digest = { 0 };

	(void)state;
	set_host(pair.before, "net/dev eth0 rx_bytes", 0);
	set_host(pair.after, "net/dev eth0 rx_bytes", 900 * MIB);
	digest = digest_of(pair);
	assert_int_equal(digest.lines.count, 1);
	assert_string_equal(digest.lines.data[0].who, "interface eth0");
	assert_string_equal(digest.lines.data[0].group, "host");
	assert_string_equal(digest.lines.data[0].metric, "net/dev eth0 rx_bytes");
}

static void the_loopback_is_not_the_network(void **state)
{
	struct pair pair = quiet_pair();

	(void)state;
	set_host(pair.before, "net/dev lo rx_bytes", 0);
	set_host(pair.after, "net/dev lo rx_bytes", 900 * MIB);
	assert_only(pair, NOTHING);
}

/* An interval of ten seconds with a disk that was busy for so long. */
static struct snapshot *interval(uint64_t idle, uint64_t disk)
{
	struct pair pair = busy(idle);
	struct error error = { 0 };

	set_host(pair.before, "diskstats vda busy_ns", 8);
	set_host(pair.after, "diskstats vda busy_ns", 8 + disk);
	pair_finish(&pair);
	assert_int_equal(interval_snapshot_make(pair.before, pair.after, "a..b", &error), 0);
	snapshot_free(pair.before);
	return pair.after;
}

static void intervals_say_how_busy_it_was_then_and_now(void **state)
{
	(void)state;
	assert_only((struct pair){ interval(4 * SECOND, 0), interval(30 * SECOND, 0) }, NOTHING);
	assert_only((struct pair){ interval(30 * SECOND, 0), interval(2 * SECOND, 0) },
		    "host was 25.0 % → 95.0 % busy (95 % user): no CPU time left");
	assert_only((struct pair){ interval(40 * SECOND, 2 * SECOND),
				   interval(40 * SECOND, 8 * SECOND) },
		    "disk vda was 20.0 % → 80.0 % busy");
	/* What it always was is still why others wait. */
	assert_only((struct pair){ interval(40 * SECOND, 8 * SECOND),
				   interval(40 * SECOND, 8 * SECOND) },
		    "disk vda was 80.0 % busy");
}

static struct snapshot *run_of(const char *recording, uint64_t idle)
{
	struct snapshot *snapshot = pair_snapshot("one", AFTER_NS);
	uint32_t task = hand_task(snapshot, 10, 10, "server", "/");

	snapshot_set_fact_text(snapshot, FACT_recording, recording);
	snapshot_set_fact_number(snapshot, FACT_duration_ns, 10 * SECOND);
	hand_set(snapshot, METRIC_run_time_ns, task, 1);
	hand_set(snapshot, METRIC_wall_time_ns, task, 10 * SECOND);
	set_cpus(snapshot, 10, idle);
	set_host(snapshot, "diskstats vda busy_ns", 6 * SECOND);
	return snapshot;
}

static void runs_say_how_busy_it_was_while_they_ran(void **state)
{
	static const char *const kinds[] = { "run", "attach" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct pair pair = { run_of(kinds[i], 40 * SECOND), run_of(kinds[i], 0) };
		CLEANUP(digest_clear) struct digest digest = digest_of(pair);

		assert_int_equal(digest.lines.count, 2);
		assert_string_equal(digest.lines.data[0].sentence,
				    "host was 0 % → 100 % busy (100 % user): "
				    "no CPU time left");
		assert_string_equal(digest.lines.data[1].sentence, "disk vda was 60.0 % busy");
	}
}

static void other_boots_say_how_busy_they_were_since(void **state)
{
	struct pair pair = { pair_snapshot("one", BEFORE_NS), pair_snapshot("two", BEFORE_NS) };

	(void)state;
	both(&pair, 1000, 1000, "server", METRIC_run_time_ns, 9, 9);
	set_cpus(pair.before, 100, 200 * SECOND);
	set_cpus(pair.after, 100, 20 * SECOND);
	assert_only(pair, "host was 50.0 % → 95.0 % busy since boot (95 % user)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_without_idle_time_is_busy),
		cmocka_unit_test(the_modes_that_took_most_are_named),
		cmocka_unit_test(a_mode_that_fell_counts_for_nothing),
		cmocka_unit_test(a_file_without_the_figures_says_nothing),
		cmocka_unit_test(the_busiest_disks_come_first),
		cmocka_unit_test(a_line_about_an_interface_names_the_row_of_the_host),
		cmocka_unit_test(the_loopback_is_not_the_network),
		cmocka_unit_test(intervals_say_how_busy_it_was_then_and_now),
		cmocka_unit_test(runs_say_how_busy_it_was_while_they_ran),
		cmocka_unit_test(other_boots_say_how_busy_they_were_since),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
