/* SPDX-License-Identifier: MIT */
/*
 * A detector that is fed with ticks made by hand.  Whatever it reports is checked: every episode
 * opens once and closes once, times are in order, and the peak is never below the value.
 */
#ifndef ANOMALY_SCENE_H
#define ANOMALY_SCENE_H

#include "hand_snapshot.h"

#include <stdlib.h>

#include "analyze/anomaly/detector.h"
#include "analyze/anomaly/host_figures.h"
#include "base/text.h"

#define SCENE_START_NS UINT64_C(1000000000000)
#define MIB UINT64_C(1048576)

struct anomaly_scene {
	struct detector *detector;
	struct snapshot *now;
	struct host_sample host;
	const char *boot_id;
	double seconds;	 /* of the tick */
	struct text log; /* "open memory_spike low;close memory_spike low;" */
	size_t opened, closed, changed;
	uint64_t last_id;
	struct anomaly last; /* that was reported */
};

static inline int scene_note(void *context, enum anomaly_change change,
			     const struct anomaly *anomaly)
{
	static const char *const words[] = { "open", "grow", "close" };
	struct anomaly_scene *scene = context;

	if (change == ANOMALY_CHANGED)
		scene->changed++;
	else
		text_format(&scene->log, "%s %s %s;", words[change],
			    anomaly_rules[anomaly->rule].name, severity_names[anomaly->severity]);
	if (change == ANOMALY_OPENED) {
		assert_int_equal(anomaly->id, scene->last_id + 1);
		scene->last_id = anomaly->id;
		scene->opened++;
		assert_true(anomaly->value >= anomaly->threshold);
		assert_true(strlen(anomaly->details) > 0);
	}
	scene->closed += change == ANOMALY_CLOSED;
	assert_true(scene->closed <= scene->opened);
	assert_true(anomaly->peak >= anomaly->value);
	if (change == ANOMALY_CLOSED)
		assert_true(anomaly->end_unix_ns >= anomaly->begin_unix_ns);
	else
		assert_int_equal(anomaly->end_unix_ns, 0);
	scene->last = *anomaly;
	return 0;
}

static inline void scene_tick(struct anomaly_scene *scene, double seconds)
{
	uint64_t ns = SCENE_START_NS + (uint64_t)(seconds * 1e9);

	scene->seconds = seconds;
	scene->now = hand_new();
	snapshot_set_fact_text(scene->now, FACT_boot_id, scene->boot_id ? scene->boot_id : "boot");
	snapshot_set_fact_number(scene->now, FACT_monotonic_ns, ns);
	snapshot_set_fact_number(scene->now, FACT_captured_at_unix_ns, ns + SCENE_START_NS);
}

/* Adds a process of one thread; its metrics can be set until scene_take().  Returns its row. */
static inline uint32_t scene_process(struct anomaly_scene *scene, int32_t pid, const char *name)
{
	uint32_t row = hand_task(scene->now, pid, pid, name, "/");

	hand_set(scene->now, METRIC_state, row, 'S');
	return scene->now->tasks[row].process;
}

/* Gives the tick to the detector. */
static inline void scene_take(struct anomaly_scene *scene)
{
	assert_int_equal(snapshot_finish(scene->now), 0);
	host_figures(NULL, scene->now, &scene->host);
	assert_int_equal(
		detector_take(scene->detector, scene->now, &scene->host, scene_note, scene), 0);
	assert_int_equal(detector_open_count(scene->detector), scene->opened - scene->closed);
	snapshot_free(scene->now);
	scene->now = NULL;
}

/* A tick with one process that has one metric. */
static inline void scene_value(struct anomaly_scene *scene, double seconds, enum metric_id id,
			       uint64_t value)
{
	scene_tick(scene, seconds);
	hand_set(scene->now, id, scene_process(scene, 70, "worker"), value);
	scene_take(scene);
}

/* What was reported since the last call. */
static inline void scene_expect(struct anomaly_scene *scene, const char *expected)
{
	assert_string_equal(text_string(&scene->log), expected);
	text_clear(&scene->log);
}

static inline int scene_make_detector(void **state)
{
	struct anomaly_scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	assert_int_equal(detector_new(&anomaly_defaults, &scene->detector), 0);
	*state = scene;
	return 0;
}

/* Closing what is open must leave as many ends as beginnings. */
static inline int scene_drop_detector(void **state)
{
	struct anomaly_scene *scene = *state;

	assert_int_equal(detector_finish(scene->detector, UINT64_MAX / 2, scene_note, scene), 0);
	assert_int_equal(scene->opened, scene->closed);
	assert_int_equal(detector_open_count(scene->detector), 0);
	detector_free(scene->detector);
	text_free(&scene->log);
	free(scene);
	return 0;
}

#define DETECTOR_TEST(test)                                                                        \
	cmocka_unit_test_setup_teardown(test, scene_make_detector, scene_drop_detector)

#endif
