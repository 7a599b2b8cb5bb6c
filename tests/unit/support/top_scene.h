/* SPDX-License-Identifier: MIT */
/* `top` with a made-up source and display: four processes, and keys that the test presses. */
#ifndef TOP_SCENE_H
#define TOP_SCENE_H

#include "hand_snapshot.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "fake_display.h"
#include "host/host.h"
#include "host/proc/task_text.h"
#include "tui/moment/moment.h"
#include "tui/moment/moment_source.h"
#include "tui/screen/keys.h"
#include "tui/screen/top.h"

#define BEGIN (UINT64_C(1700000040) * NS_PER_SECOND)

/* What the source gives, and what it was asked. */
static struct {
	struct moment_source_kind kind;
	void (*fill)(struct moment *moment);
	bool wanted[METRIC_STORED];
	struct move moved;
	const struct host *host;
} scene;

static struct snapshot *read_now; /* which the moment points to */

static inline uint32_t add_process(struct snapshot *tasks, int32_t pid, const char *name,
				   char state, uint64_t percent)
{
	uint32_t row = hand_task(tasks, pid, pid, name, "/");

	hand_set(tasks, METRIC_state, row, (uint64_t)state);
	hand_set(tasks, METRIC_run_time_ns, row, percent * NS_PER_SECOND / 100);
	hand_set(tasks, METRIC_rss_bytes, tasks->tasks[row].process, (uint64_t)pid << 20);
	return row;
}

static inline int take(struct moment_source *source, const struct move *move, struct moment *ret,
		       struct error *error)
{
	(void)source;
	(void)error;
	scene.moved = *move;
	snapshot_free(read_now);
	read_now = hand_new();
	snapshot_set_fact_number(read_now, FACT_boottime_ns, 100 * NS_PER_SECOND);
	ret->read = read_now;
	ret->tasks = hand_new();
	add_process(ret->tasks, 10, "burner", 'R', 90);
	add_process(ret->tasks, 20, "reader", 'D', 50);
	add_process(ret->tasks, 30, "sleeper", 'S', 0);
	add_process(ret->tasks, 40, "dead", 'Z', 0);
	ret->tasks->interval_ns = NS_PER_SECOND;
	ret->sample.unix_ns = BEGIN;
	if (scene.fill)
		scene.fill(ret);
	return snapshot_finish(ret->tasks);
}

static inline void want(struct moment_source *source, const bool *wanted)
{
	(void)source;
	memcpy(scene.wanted, wanted, sizeof(scene.wanted));
}

static inline void close_nothing(struct moment_source *source)
{
	(void)source;
}

static inline int begin(void **state)
{
	(void)state;
	memset(&scene, 0, sizeof(scene));
	scene.kind =
		(struct moment_source_kind){ .take = take, .want = want, .close = close_nothing };
	setenv("TZ", "UTC", 1);
	fake.rows = 24;
	fake.columns = 100;
	return 0;
}

static inline int end(void **state)
{
	(void)state;
	snapshot_free(TAKE_PTR(read_now));
	return 0;
}

/* One time is known, "22:14", which is BEGIN. */
static inline int parse_time(void *context, const char *text, uint64_t *ret_unix_ns,
			     struct error *error)
{
	(void)context;
	if (strcmp(text, "22:14") != 0)
		return error_set(error, -EINVAL, "'%s' is no time", text);
	*ret_unix_ns = BEGIN;
	return 0;
}

/* The screen after these keys. */
static inline void show(const char *keys)
{
	struct moment_source source = { .kind = &scene.kind };
	struct top_options options = { .source = &source,
				       .title = "host",
				       .host = scene.host,
				       .parse_time = parse_time,
				       .interval_ns = 1000 * NS_PER_SECOND };
	struct error error = { 0 };
	int input = dup(STDIN_FILENO);

	options.choice.axis = AXIS_PROCESS;
	view_choice_usual(&options.choice, true);
	fake.keys = keys;
	assert_int_equal(top_run(&options, &error), 0);
	dup2(input, STDIN_FILENO);
	close(input);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
