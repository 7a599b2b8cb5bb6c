/* SPDX-License-Identifier: MIT */
/* Each rule at its edges: just below, just above, and around it with noise. */
#include "anomaly_scene.h"

#include <math.h>
#include <stdio.h>

#include "analyze/anomaly/rules.h"
#include "base/cleanup.h"

#define TICK 5.0

static void memory_that_grows_by_half_within_30_seconds_is_a_spike(void **state)
{
	struct anomaly_scene *scene = *state;

	scene_value(scene, 0, METRIC_rss_bytes, 200 * MIB);
	scene_value(scene, 5, METRIC_rss_bytes, 300 * MIB - 1);
	scene_expect(scene, "");
	scene_value(scene, 10, METRIC_rss_bytes, 300 * MIB);
	scene_expect(scene, "open memory_spike low;");
	assert_true(scene->last.threshold == 300.0 * (double)MIB);
	assert_int_equal(scene->last.task.pid, 70);
	assert_non_null(strstr(scene->last.details, "from 200 MiB to 300 MiB"));
	/* It stays there, so the lowest of the last 30 seconds comes up to it. */
	for (double t = 15; t <= 60; t += TICK)
		scene_value(scene, t, METRIC_rss_bytes, 301 * MIB);
	scene_expect(scene, "close memory_spike low;");
	assert_true(scene->last.peak == 301.0 * (double)MIB);
}

static void a_spike_needs_64_mib(void **state)
{
	struct anomaly_scene *scene = *state;

	scene_value(scene, 0, METRIC_rss_bytes, MIB);
	scene_value(scene, 5, METRIC_rss_bytes, 65 * MIB - 1);
	scene_expect(scene, "");
	scene_value(scene, 10, METRIC_rss_bytes, 65 * MIB);
	scene_expect(scene, "open memory_spike low;");
}

static void slow_growth_is_no_spike(void **state)
{
	struct anomaly_scene *scene = *state;

	for (int i = 0; i < 200; i++)
		scene_value(scene, i * TICK, METRIC_rss_bytes, (200 + 10 * (uint64_t)i) * MIB);
	scene_expect(scene, "");
}

static void a_larger_spike_is_more_severe(void **state)
{
	struct anomaly_scene *scene = *state;

	scene_value(scene, 0, METRIC_rss_bytes, 100 * MIB);
	scene_value(scene, 5, METRIC_rss_bytes, 170 * MIB);
	scene_value(scene, 10, METRIC_rss_bytes, 360 * MIB);
	scene_value(scene, 15, METRIC_rss_bytes, 350 * MIB);
	scene_value(scene, 20, METRIC_rss_bytes, 2000 * MIB);
	scene_expect(scene,
		     "open memory_spike low;grow memory_spike high;grow memory_spike critical;");
}

static void the_text_is_of_the_peak(void **state)
{
	struct anomaly_scene *scene = *state;

	scene_value(scene, 0, METRIC_rss_bytes, 200 * MIB);
	scene_value(scene, 5, METRIC_rss_bytes, 300 * MIB);
	assert_int_equal(scene->changed, 0);
	scene_value(scene, 10, METRIC_rss_bytes, 400 * MIB);
	scene_value(scene, 15, METRIC_rss_bytes, 350 * MIB);
	scene_value(scene, 20, METRIC_rss_bytes, 350 * MIB);
	scene_expect(scene, "open memory_spike low;");
	assert_int_equal(scene->changed, 2);
	assert_true(scene->last.value == 350.0 * (double)MIB);
	assert_true(scene->last.peak == 400.0 * (double)MIB);
	assert_non_null(strstr(scene->last.details, "from 200 MiB to 400 MiB"));
}

static void a_mib_a_minute_for_half_an_hour_is_a_leak(void **state)
{
	struct anomaly_scene *scene = *state;

	for (int second = 0; second < 1800; second += 5)
		scene_value(scene, second, METRIC_rss_bytes,
			    100 * MIB + MIB * (uint64_t)second / 60);
	scene_expect(scene, "");
	for (int second = 1800; second < 2400; second += 5)
		scene_value(scene, second, METRIC_rss_bytes,
			    100 * MIB + MIB * (uint64_t)second / 60);
	scene_expect(scene, "open memory_leak low;");
	assert_non_null(strstr(scene->last.details, "a minute"));
	/* It gives the memory back. */
	for (int second = 2400; second < 3000; second += 5)
		scene_value(scene, second, METRIC_rss_bytes, 100 * MIB);
	scene_expect(scene, "close memory_leak low;");
}

static void less_than_that_is_no_leak(void **state)
{
	struct anomaly_scene *scene = *state;

	for (int second = 0; second < 7200; second += 5)
		scene_value(scene, second, METRIC_rss_bytes,
			    100 * MIB + MIB * 99 / 100 * (uint64_t)second / 60);
	scene_expect(scene, "");
}

static void a_leak_is_a_fifth_of_the_start_at_least(void **state)
{
	struct anomaly_scene *scene = *state;

	/* 60 MiB in half an hour of 1000 MiB. */
	for (int second = 0; second < 7200; second += 5)
		scene_value(scene, second, METRIC_rss_bytes,
			    1000 * MIB + 2 * MIB * (uint64_t)second / 60);
	scene_expect(scene, "");
}

static void memory_that_is_freed_again_and_again_is_no_leak(void **state)
{
	static const int periods[] = { 20, 60, 300, 600, 1200 };
	struct anomaly_scene *scene = *state;

	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++)
		for (int second = 0; second < 7200; second += 5)
			scene_value(scene, (double)i * 7200 + second, METRIC_rss_bytes,
				    400 * MIB + 150 * MIB * (uint64_t)(second % periods[i]) /
							(uint64_t)periods[i]);
	scene_expect(scene, "");
}

static void noise_over_a_leak_makes_one_episode(void **state)
{
	struct anomaly_scene *scene = *state;

	srand(7);
	for (int second = 0; second < 7200; second += 5)
		scene_value(scene, second, METRIC_rss_bytes,
			    100 * MIB + 4 * MIB * (uint64_t)second / 60 +
				    (uint64_t)rand() % (3 * MIB));
	assert_int_equal(scene->opened, 1);
	assert_int_equal(scene->closed, 0);
}

static void one_jump_is_no_leak(void **state)
{
	struct anomaly_scene *scene = *state;

	for (int second = 0; second < 7200; second += 5)
		scene_value(scene, second, METRIC_rss_bytes, (second < 3600 ? 200 : 260) * MIB);
	scene_expect(scene, "");
}

/* A tick of the host alone, with so much memory available of 1000 bytes. */
static void memory_tick(struct anomaly_scene *scene, double seconds, uint64_t available)
{
	scene_tick(scene, seconds);
	scene_process(scene, 1, "init");
	assert_int_equal(snapshot_note_number(scene->now, SHEET_HOST, "meminfo MemTotal", 1000), 0);
	assert_int_equal(
		snapshot_note_number(scene->now, SHEET_HOST, "meminfo MemAvailable", available), 0);
	scene_take(scene);
}

static void less_than_a_tenth_available_is_pressure(void **state)
{
	struct anomaly_scene *scene = *state;

	memory_tick(scene, 0, 100);
	scene_expect(scene, "");
	memory_tick(scene, 5, 99);
	scene_expect(scene, "open memory_pressure medium;");
	assert_true(scene->last.value == 901 && scene->last.threshold == 900);
	for (int i = 0; i < 10; i++)
		memory_tick(scene, 10 + i, 95 + (uint64_t)i % 2 * 29);
	memory_tick(scene, 30, 50);
	memory_tick(scene, 35, 125);
	scene_expect(scene, "grow memory_pressure critical;");
	memory_tick(scene, 40, 126);
	scene_expect(scene, "close memory_pressure critical;");
	assert_true(scene->last.peak == 950);
}

/* A tick of a cgroup that may have 100 bytes, on a host that has none left. */
static void cgroup_tick(struct anomaly_scene *scene, double seconds, uint64_t used)
{
	struct sheet *sheet;
	uint32_t row;

	scene_tick(scene, seconds);
	snapshot_set_fact_text(scene->now, FACT_filter, "cgroup /a");
	assert_int_equal(snapshot_note_number(scene->now, SHEET_HOST, "meminfo MemTotal", 1000), 0);
	assert_int_equal(snapshot_note_number(scene->now, SHEET_HOST, "meminfo MemAvailable", 900),
			 0);
	sheet = &scene->now->sheets[SHEET_CGROUPS];
	if (used) {
		scene_process(scene, 1, "init");
		assert_int_equal(sheet_add_row(sheet, hand_text(scene->now, "/a"), &row), 0);
		sheet_set(sheet, row, "memory.max", CELL_NUMBER, 100);
		sheet_set(sheet, row, "memory.current", CELL_NUMBER, used);
	}
	scene_take(scene);
}

static void a_cgroup_is_judged_by_its_own_memory(void **state)
{
	struct anomaly_scene *scene = *state;

	cgroup_tick(scene, 0, 50);
	scene_expect(scene, "");
	cgroup_tick(scene, 5, 99);
	scene_expect(scene, "open memory_pressure critical;");
	assert_non_null(strstr(scene->last.details, "(of cgroup /a)"));
	/* When all of it has ended there is no pressure, and the host's memory says nothing. */
	cgroup_tick(scene, 10, 0);
	scene_expect(scene, "close memory_pressure critical;");
	assert_true(scene->last.peak == 99);
}

static void memory_pressure_that_lasts_is_more_severe(void **state)
{
	struct anomaly_scene *scene = *state;

	for (int i = 0; i <= 600; i += 5)
		memory_tick(scene, i, 99);
	scene_expect(scene, "open memory_pressure medium;grow memory_pressure high;"
			    "grow memory_pressure critical;");
}

/* Ticks of a process with so much CPU use; returns the total. */
static uint64_t burn(struct anomaly_scene *scene, double from, double to, double percent,
		     uint64_t total)
{
	for (double t = from; t <= to; t += TICK) {
		total += (uint64_t)(TICK * 1e9 * percent / 100);
		scene_value(scene, t, METRIC_run_time_ns, total);
	}
	return total;
}

static void a_whole_cpu_for_a_minute_is_a_runaway(void **state)
{
	struct anomaly_scene *scene = *state;
	uint64_t total = burn(scene, 0, 100, 89.9, 0);

	scene_expect(scene, "");
	total = burn(scene, 105, 155, 100, total);
	scene_expect(scene, "");
	total = burn(scene, 160, 160, 100, total);
	scene_expect(scene, "open runaway_cpu low;");
	assert_true(fabs(scene->last.value - 100) < 0.01);
	/* Noise around the threshold. */
	for (int i = 0; i < 20; i++)
		total = burn(scene, 165 + 5 * i, 165 + 5 * i, 83 + 10 * (i % 2), total);
	scene_expect(scene, "");
	burn(scene, 265, 265, 80, total);
	scene_expect(scene, "close runaway_cpu low;");
}

static void a_runaway_pause_begins_the_minute_again(void **state)
{
	struct anomaly_scene *scene = *state;
	uint64_t total = burn(scene, 0, 55, 100, 0);

	total = burn(scene, 60, 60, 50, total);
	burn(scene, 65, 115, 100, total);
	scene_expect(scene, "");
}

static void what_ended_threads_used_still_counts(void **state)
{
	struct anomaly_scene *scene = *state;

	for (uint64_t i = 0; i <= 20; i++) {
		uint32_t row;

		scene_tick(scene, (double)i * TICK);
		row = scene_process(scene, 70, "pool");
		hand_set(scene->now, METRIC_run_time_ns, row, 1000);
		hand_set(scene->now, METRIC_dead_run_time_ns, row, i * 5000000000);
		scene_take(scene);
	}
	scene_expect(scene, "open runaway_cpu low;");
}

static void zombie_tick(struct anomaly_scene *scene, double seconds, int zombies)
{
	scene_tick(scene, seconds);
	scene_process(scene, 1, "init");
	for (int i = 0; i < zombies; i++)
		hand_set(scene->now, METRIC_state, scene_process(scene, 100 + i, "gone"), 'Z');
	scene_take(scene);
}

static void a_zombie_of_half_a_minute_is_reported(void **state)
{
	struct anomaly_scene *scene = *state;

	for (int t = 0; t < 30; t += 5)
		zombie_tick(scene, t, 2);
	scene_expect(scene, "");
	zombie_tick(scene, 30, 3);
	scene_expect(scene, "open zombie low;");
	assert_true(scene->last.value == 2);
	assert_int_equal(scene->last.task.pid, 0);
	assert_int_equal(scene->last.task_count, 2);
	assert_int_equal(scene->last.tasks[0].pid, 100);
	assert_true(detector_concerns(scene->detector, 101, 101 * UINT64_C(10000000)));
	assert_false(detector_concerns(scene->detector, 102, 102 * UINT64_C(10000000)));
	zombie_tick(scene, 35, 1);
	scene_expect(scene, "");
	zombie_tick(scene, 40, 0);
	scene_expect(scene, "close zombie low;");
}

static void fd_tick(struct anomaly_scene *scene, double seconds, uint64_t open)
{
	uint32_t row;

	scene_tick(scene, seconds);
	row = scene_process(scene, 70, "server");
	hand_set(scene->now, METRIC_open_fds, row, open);
	hand_set(scene->now, METRIC_fd_limit, row, 1000);
	scene_take(scene);
}

static void four_fifths_of_the_files_are_too_many(void **state)
{
	struct anomaly_scene *scene = *state;

	fd_tick(scene, 0, 799);
	scene_expect(scene, "");
	fd_tick(scene, 5, 800);
	scene_expect(scene, "open fd_exhaustion low;");
	for (int i = 0; i < 20; i++)
		fd_tick(scene, 10 + i, 770 + 40 * (uint64_t)i % 2);
	scene_expect(scene, "");
	fd_tick(scene, 40, 1000);
	fd_tick(scene, 45, 759);
	scene_expect(scene, "grow fd_exhaustion critical;close fd_exhaustion critical;");
	assert_non_null(strstr(scene->last.details, "1000 files open and may have 1000"));
}

static void twice_the_threads_and_a_hundred_more_are_a_leak(void **state)
{
	struct anomaly_scene *scene = *state;

	for (int i = 0; i < 60; i++)
		scene_value(scene, i * TICK, METRIC_nr_threads, 120);
	scene_value(scene, 300, METRIC_nr_threads, 239);
	scene_expect(scene, "");
	scene_value(scene, 305, METRIC_nr_threads, 240);
	scene_expect(scene, "open thread_leak low;");
	for (int i = 62; i < 400; i++)
		scene_value(scene, i * TICK, METRIC_nr_threads, 240);
	scene_expect(scene, "close thread_leak low;");
}

static void few_threads_may_double(void **state)
{
	struct anomaly_scene *scene = *state;

	scene_value(scene, 0, METRIC_nr_threads, 10);
	scene_value(scene, 5, METRIC_nr_threads, 109);
	scene_expect(scene, "");
	scene_value(scene, 10, METRIC_nr_threads, 110);
	scene_expect(scene, "open thread_leak low;");
}

static void sleep_tick(struct anomaly_scene *scene, double seconds, char state, uint64_t switches)
{
	uint32_t row;

	scene_tick(scene, seconds);
	row = scene_process(scene, 70, "reader");
	hand_set(scene->now, METRIC_state, row, (uint64_t)state);
	hand_set(scene->now, METRIC_voluntary_csw, row, switches);
	hand_set(scene->now, METRIC_nonvoluntary_csw, row, 0);
	scene_take(scene);
}

static void a_minute_in_d_without_a_switch_is_stuck(void **state)
{
	struct anomaly_scene *scene = *state;

	for (int t = 0; t < 60; t += 5)
		sleep_tick(scene, t, 'D', 7);
	scene_expect(scene, "");
	sleep_tick(scene, 60, 'D', 7);
	scene_expect(scene, "open stuck_d medium;");
	assert_int_equal(scene->last.tasks[0].tid, 70);
	sleep_tick(scene, 65, 'D', 8);
	scene_expect(scene, "close stuck_d medium;");
	assert_true(scene->last.peak == 60e9);
}

/* Threads of several processes: their numbers are in no order. */
static void each_thread_in_d_is_followed_by_itself(void **state)
{
	static const struct {
		int32_t pid, tid;
	} threads[] = { { 70, 70 }, { 70, 95 }, { 80, 80 }, { 90, 90 } };
	struct anomaly_scene *scene = *state;

	for (int t = 0; t <= 60; t += 5) {
		scene_tick(scene, t);
		for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
			uint32_t row = hand_task(scene->now, threads[i].pid, threads[i].tid,
						 "reader", "/");

			hand_set(scene->now, METRIC_state, row, i ? 'D' : 'S');
			hand_set(scene->now, METRIC_voluntary_csw, row, 7);
			hand_set(scene->now, METRIC_nonvoluntary_csw, row, 0);
		}
		scene_take(scene);
	}
	scene_expect(scene, "open stuck_d medium;open stuck_d medium;open stuck_d medium;");
}

/* A busy disk: always in D, but never for long. */
static void a_thread_that_runs_in_between_is_not_stuck(void **state)
{
	struct anomaly_scene *scene = *state;

	for (int t = 0; t < 600; t += 5)
		sleep_tick(scene, t, 'D', (uint64_t)t);
	for (int t = 600; t < 1200; t += 5)
		sleep_tick(scene, t, t % 50 ? 'D' : 'S', 7);
	scene_expect(scene, "");
}

static void io_tick(struct anomaly_scene *scene, double seconds, uint64_t centipercent)
{
	scene_tick(scene, seconds);
	scene_process(scene, 1, "init");
	assert_int_equal(snapshot_note_number(scene->now, SHEET_HOST, "pressure io full avg10",
					      centipercent),
			 0);
	scene_take(scene);
}

static void a_fifth_of_the_time_in_io_is_a_stall_of_the_host(void **state)
{
	struct anomaly_scene *scene = *state;

	io_tick(scene, 0, 2000);
	scene_expect(scene, "");
	io_tick(scene, 5, 2001);
	scene_expect(scene, "open io_stall medium;");
	for (int i = 0; i < 10; i++)
		io_tick(scene, 10 + i, 1600 + 800 * ((uint64_t)i % 2));
	scene_expect(scene, "");
	io_tick(scene, 30, 8000);
	io_tick(scene, 35, 1499);
	scene_expect(scene, "grow io_stall critical;close io_stall critical;");
}

static void what_a_program_calls_a_stall_is_one(void **state)
{
	struct anomaly_scene *scene = *state;

	scene_value(scene, 0, METRIC_scope_stall_ns, 0);
	scene_expect(scene, "");
	scene_value(scene, 5, METRIC_scope_stall_ns, 30000000000);
	scene_expect(scene, "open stall medium;");
	assert_non_null(strstr(scene->last.details, "no progress for 30.0 s"));
	scene_value(scene, 10, METRIC_scope_stall_ns, 35000000000);
	scene_value(scene, 15, METRIC_scope_stall_ns, 0);
	scene_expect(scene, "close stall medium;");
	assert_true(scene->last.peak == 35e9);
}

static void read_guide(struct text *ret)
{
	char path[4096];
	FILE *file;
	int byte;

	snprintf(path, sizeof(path), "%s/../../docs/anomalies.md", getenv("TASKSCOPE_TEST_DATA"));
	file = fopen(path, "r");
	assert_non_null(file);
	while ((byte = getc(file)) != EOF)
		text_format(ret, "%c", byte);
	fclose(file);
}

static void append_steps(struct text *out, const double *steps)
{
	text_append_string(out, steps[0] > 0 ? "" : "-");
	for (int i = 0; i < RULE_STEPS && steps[i] > 0; i++)
		text_format(out, "%s%g", i ? ", " : "", steps[i]);
}

static void the_guide_has_the_table_of_the_rules(void **state)
{
	CLEANUP(text_free) struct text guide = { 0 }, line = { 0 };

	(void)state;
	read_guide(&guide);
	for (int id = 0; id < ANOMALY_RULE_COUNT; id++) {
		text_clear(&line);
		text_format(&line, "| `%s` | %g | %s | ", anomaly_rules[id].name,
			    rules[id].closes_below, severity_names[rules[id].severity]);
		append_steps(&line, rules[id].far);
		text_append_string(&line, " | ");
		append_steps(&line, rules[id].seconds);
		text_append_string(&line, " |\n");
		if (!strstr(text_string(&guide), text_string(&line)))
			fail_msg("docs/anomalies.md lacks: %s", text_string(&line));
	}
}

static void the_guide_has_every_setting_and_its_default(void **state)
{
	static const struct {
		const char *name, *type;
		double value;
	} settings[] = {
#define ANOMALY_SETTING(rule, id, type, value, help) { #id, #type, value },
#include "model/record/anomaly_rules.def"
	};
	CLEANUP(text_free) struct text guide = { 0 }, line = { 0 };

	(void)state;
	read_guide(&guide);
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		double value = settings[i].value;

		text_clear(&line);
		text_append_string(&line, settings[i].name);
		if (strcmp(settings[i].type, "BYTES") == 0)
			text_format(&line, "` | %g MiB |", value / (double)MIB);
		else if (strcmp(settings[i].type, "PERCENT") == 0)
			text_format(&line, "` | %g %% |", value);
		else if (strcmp(settings[i].type, "DURATION") == 0)
			text_format(&line, "` | %g s |", value / 1e9);
		else
			text_format(&line, "` | %g |", value);
		if (!strstr(text_string(&guide), text_string(&line)))
			fail_msg("docs/anomalies.md lacks: %s", text_string(&line));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DETECTOR_TEST(memory_that_grows_by_half_within_30_seconds_is_a_spike),
		DETECTOR_TEST(a_spike_needs_64_mib),
		DETECTOR_TEST(slow_growth_is_no_spike),
		DETECTOR_TEST(a_larger_spike_is_more_severe),
		DETECTOR_TEST(the_text_is_of_the_peak),
		DETECTOR_TEST(a_mib_a_minute_for_half_an_hour_is_a_leak),
		DETECTOR_TEST(less_than_that_is_no_leak),
		DETECTOR_TEST(a_leak_is_a_fifth_of_the_start_at_least),
		DETECTOR_TEST(memory_that_is_freed_again_and_again_is_no_leak),
		DETECTOR_TEST(noise_over_a_leak_makes_one_episode),
		DETECTOR_TEST(one_jump_is_no_leak),
		DETECTOR_TEST(less_than_a_tenth_available_is_pressure),
		DETECTOR_TEST(a_cgroup_is_judged_by_its_own_memory),
		DETECTOR_TEST(memory_pressure_that_lasts_is_more_severe),
		DETECTOR_TEST(a_whole_cpu_for_a_minute_is_a_runaway),
		DETECTOR_TEST(a_runaway_pause_begins_the_minute_again),
		DETECTOR_TEST(what_ended_threads_used_still_counts),
		DETECTOR_TEST(a_zombie_of_half_a_minute_is_reported),
		DETECTOR_TEST(four_fifths_of_the_files_are_too_many),
		DETECTOR_TEST(twice_the_threads_and_a_hundred_more_are_a_leak),
		DETECTOR_TEST(few_threads_may_double),
		DETECTOR_TEST(a_minute_in_d_without_a_switch_is_stuck),
		DETECTOR_TEST(each_thread_in_d_is_followed_by_itself),
		DETECTOR_TEST(a_thread_that_runs_in_between_is_not_stuck),
		DETECTOR_TEST(a_fifth_of_the_time_in_io_is_a_stall_of_the_host),
		DETECTOR_TEST(what_a_program_calls_a_stall_is_one),
		cmocka_unit_test(the_guide_has_the_table_of_the_rules),
		cmocka_unit_test(the_guide_has_every_setting_and_its_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
