/* SPDX-License-Identifier: MIT */
/* Episodes, identity, and what a detector does with very many processes. */
#include "anomaly_scene.h"

#include <stdio.h>

#include "analyze/anomaly/followed.h"
#include "model/record/life_event.h"

static void another_process_with_the_same_number_is_no_spike(void **state)
{
	struct anomaly_scene *scene = *state;

	for (uint64_t i = 0; i < 20; i++) {
		uint32_t row;

		scene_tick(scene, (double)i);
		row = scene_process(scene, 70, "reused");
		scene->now->processes[row].start_time_ns = i;
		hand_set(scene->now, METRIC_rss_bytes, row, i % 2 ? 900 * MIB : MIB);
		hand_set(scene->now, METRIC_run_time_ns, row, i % 2 ? UINT64_C(1) << 50 : 0);
		hand_set(scene->now, METRIC_nr_threads, row, i % 2 ? 1000 : 1);
		scene_take(scene);
	}
	scene_expect(scene, "");
}

static void an_episode_ends_with_its_process(void **state)
{
	struct anomaly_scene *scene = *state;

	scene_value(scene, 0, METRIC_rss_bytes, MIB);
	scene_value(scene, 5, METRIC_rss_bytes, 900 * MIB);
	assert_int_equal(detector_open_count(scene->detector), 1);
	assert_int_equal(detector_open(scene->detector, 0)->task.pid, 70);
	assert_true(detector_concerns(scene->detector, 70, 70 * UINT64_C(10000000)));
	assert_false(detector_concerns(scene->detector, 70, 1));
	scene_tick(scene, 10);
	scene_process(scene, 1, "init");
	scene_take(scene);
	scene_expect(scene, "open memory_spike critical;close memory_spike critical;");
	assert_int_equal(scene->last.end_unix_ns, 2 * SCENE_START_NS + UINT64_C(10000000000));
	assert_false(detector_concerns(scene->detector, 70, 70 * UINT64_C(10000000)));
}

static void the_next_process_with_the_number_has_its_own_episode(void **state)
{
	struct anomaly_scene *scene = *state;

	scene_value(scene, 0, METRIC_rss_bytes, MIB);
	scene_value(scene, 5, METRIC_rss_bytes, 900 * MIB);
	for (int i = 0; i < 2; i++) {
		uint32_t row;

		scene_tick(scene, 10 + i);
		row = scene_process(scene, 70, "next");
		scene->now->processes[row].start_time_ns = 5;
		hand_set(scene->now, METRIC_rss_bytes, row, i ? 900 * MIB : MIB);
		scene_take(scene);
	}
	scene_expect(scene, "open memory_spike critical;close memory_spike critical;"
			    "open memory_spike critical;");
	assert_string_equal(scene->last.comm, "next");
}

static void another_boot_closes_everything(void **state)
{
	struct anomaly_scene *scene = *state;

	scene_value(scene, 0, METRIC_rss_bytes, MIB);
	scene_value(scene, 5, METRIC_rss_bytes, 900 * MIB);
	scene->boot_id = "next";
	scene_value(scene, 1, METRIC_rss_bytes, MIB);
	scene_expect(scene, "open memory_spike critical;close memory_spike critical;");
	scene_value(scene, 2, METRIC_rss_bytes, MIB);
	scene_expect(scene, "");
}

static void what_is_not_known_changes_nothing(void **state)
{
	struct anomaly_scene *scene = *state;

	scene_value(scene, 0, METRIC_rss_bytes, MIB);
	scene_value(scene, 5, METRIC_rss_bytes, 900 * MIB);
	for (int i = 0; i < 20; i++) {
		scene_tick(scene, 10 + i);
		scene_process(scene, 70, "worker");
		scene_take(scene);
	}
	scene_expect(scene, "open memory_spike critical;");
}

/* Ticks of random processes with random metrics, some absent: the scene checks every report. */
static void every_episode_that_opens_closes(void **state)
{
	static const enum metric_id ids[] = { METRIC_rss_bytes,	       METRIC_nr_threads,
					      METRIC_open_fds,	       METRIC_fd_limit,
					      METRIC_run_time_ns,      METRIC_voluntary_csw,
					      METRIC_nonvoluntary_csw, METRIC_scope_stall_ns };
	static const char states[] = { 'R', 'S', 'D', 'D', 'Z' };
	struct anomaly_scene *scene = *state;
	double seconds = 0;

	srand(11);
	for (int tick = 0; tick < 2000; tick++) {
		scene_tick(scene, seconds += 1 + rand() % 20);
		for (int pid = 1; pid < 12; pid++) {
			uint32_t row;

			if (rand() % 8 == 0)
				continue;
			row = scene_process(scene, pid, "random");
			scene->now->processes[row].start_time_ns = (uint64_t)(rand() % 50 == 0);
			if (rand() % 2)
				hand_set(scene->now, METRIC_state, row,
					 (uint64_t)states[rand() % 5]);
			for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
				if (rand() % 4)
					hand_set(scene->now, ids[i], row,
						 (uint64_t)rand() >> rand() % 31);
		}
		if (rand() % 3)
			snapshot_note_number(scene->now, SHEET_HOST, "pressure io full avg10",
					     (uint64_t)rand() % 10000);
		scene_take(scene);
	}
	assert_true(scene->closed > 100);
}

static void an_oom_kill_comes_with_the_largest_and_those_that_grew(void **state)
{
	struct anomaly_scene *scene = *state;
	struct life_event event = {
		.kind = LIFE_OOM, .unix_ns = 99, .task = { 70, 70, 7 }, .comm = "victim"
	};
	struct life_event other = { .kind = LIFE_EXIT };

	for (int t = 0; t <= 120; t += 5) {
		scene_tick(scene, t);
		for (int pid = 1; pid <= 30; pid++) {
			char name[16];
			uint64_t size = (uint64_t)pid * 10;

			snprintf(name, sizeof(name), "p%d", pid);
			if (pid <= 3)
				size += (uint64_t)(pid * t) / 20;
			hand_set(scene->now, METRIC_rss_bytes, scene_process(scene, pid, name),
				 size * MIB);
		}
		scene_take(scene);
	}
	assert_int_equal(detector_take_event(scene->detector, &other, scene_note, scene), 0);
	assert_int_equal(detector_take_event(scene->detector, &event, scene_note, scene), 0);
	scene_expect(scene, "open oom high;close oom high;");
	assert_int_equal(scene->last.begin_unix_ns, 99);
	assert_int_equal(scene->last.end_unix_ns, 99);
	assert_int_equal(scene->last.task.pid, 70);
	assert_non_null(strstr(scene->last.details, "killed victim (pid 70)"));
	assert_non_null(strstr(scene->last.details, "the largest: p30 (pid 30) 300 MiB, p29"));
	assert_null(strstr(scene->last.details, "p20 (pid 20)"));
	assert_non_null(strstr(scene->last.details, "grown the most in a minute: p3 (pid 3) by "));
}

/* The largest are followed; a process with an open episode stays, whatever its size. */
static void very_many_processes_are_bounded(void **state)
{
	struct anomaly_scene *scene = *state;
	const int many = 30000;

	for (int tick = 0; tick < 4; tick++) {
		scene_tick(scene, tick * 5);
		for (int pid = 1; pid <= many; pid++) {
			uint32_t row = scene_process(scene, pid, "many");
			uint64_t size = (uint64_t)pid * 4096;

			if (pid == 20 && tick)
				size = tick == 1 ? 900 * MIB : 0;
			hand_set(scene->now, METRIC_rss_bytes, row, size);
		}
		if (tick == 0) {
			/* It is small, but there is room in the first tick. */
			scene->now->process_count = scene->now->task_count = FOLLOWED_MOST;
			scene_take(scene);
			assert_int_equal(detector_lost(scene->detector), 0);
			continue;
		}
		scene_take(scene);
		assert_int_equal(detector_lost(scene->detector), many - FOLLOWED_MOST);
	}
	scene_expect(scene, "open memory_spike critical;close memory_spike critical;");
}

/* All at once: what has no room is counted. */
static void very_many_episodes_are_bounded(void **state)
{
	struct anomaly_scene *scene = *state;

	for (int tick = 0; tick < 2; tick++) {
		scene_tick(scene, tick * 5);
		for (int pid = 1; pid <= 3000; pid++)
			hand_set(scene->now, METRIC_rss_bytes, scene_process(scene, pid, "all"),
				 tick ? 900 * MIB : 0);
		scene_take(scene);
	}
	assert_int_equal(detector_open_count(scene->detector), 1024);
	assert_int_equal(detector_lost(scene->detector), 3000 - 1024);
}

static int refuse(void *context, enum anomaly_change change, const struct anomaly *anomaly)
{
	(void)context;
	(void)change;
	(void)anomaly;
	return -EIO;
}

static void the_error_of_the_sink_is_returned(void **state)
{
	struct anomaly_scene *scene = *state;
	const struct life_event event = { .kind = LIFE_OOM };

	assert_int_equal(detector_take_event(scene->detector, &event, refuse, NULL), -EIO);
	scene->last_id++;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		DETECTOR_TEST(another_process_with_the_same_number_is_no_spike),
		DETECTOR_TEST(an_episode_ends_with_its_process),
		DETECTOR_TEST(the_next_process_with_the_number_has_its_own_episode),
		DETECTOR_TEST(another_boot_closes_everything),
		DETECTOR_TEST(what_is_not_known_changes_nothing),
		DETECTOR_TEST(every_episode_that_opens_closes),
		DETECTOR_TEST(an_oom_kill_comes_with_the_largest_and_those_that_grew),
		DETECTOR_TEST(very_many_processes_are_bounded),
		DETECTOR_TEST(very_many_episodes_are_bounded),
		DETECTOR_TEST(the_error_of_the_sink_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
