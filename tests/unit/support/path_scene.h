/* SPDX-License-Identifier: MIT */
/*
 * A timeline made by hand.  Times are in microseconds from the scene's beginning.  Every path that
 * is found in it is checked: its parts add up to the time, its segments are in order.
 */
#ifndef TESTS_UNIT_PATH_SCENE_H
#define TESTS_UNIT_PATH_SCENE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/path/path_find.h"
#include "analyze/path/path_shares.h"

#define US UINT64_C(1000)
#define SCENE_BEGIN (1000000000 * US)
#define SCENE_THREADS (2 * TIMELINE_THREADS)

struct scene {
	struct timeline *timeline;
	uint32_t sequences[SCENE_THREADS];
	struct task_key tasks[SCENE_THREADS]; /* by serial number */
	struct critical_path path;
};

static inline struct scene *scene_new(void)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	assert_int_equal(timeline_new(&scene->timeline), 0);
	return scene;
}

static inline void scene_free(struct scene **scene)
{
	timeline_free((*scene)->timeline);
	critical_path_free(&(*scene)->path);
	free(*scene);
}

static inline uint64_t at_us(uint64_t us)
{
	return SCENE_BEGIN + us * US;
}

static inline int32_t pid_of(uint32_t serial)
{
	return (int32_t)serial + 100;
}

/* A process; or a thread of the process `pid`, if that is not 0. */
static inline void add_thread(struct scene *scene, uint32_t serial, int32_t pid, uint32_t creator,
			      uint64_t begin_us, const char *comm)
{
	struct tree_event event = {
		.type = TREE_FORK,
		.task = { pid ? pid : pid_of(serial), pid_of(serial), serial },
		.time_ns = at_us(begin_us),
		.fork = { .serial = serial, .creator = creator },
	};

	event.fork.parent_pid = pid ? pid : scene->tasks[creator].pid;
	snprintf(event.fork.comm, TREE_COMM_SIZE, "%s", comm);
	scene->tasks[serial] = event.task;
	timeline_take(scene->timeline, &event);
}

/* The command line has blanks between its words. */
static inline void exec_program(struct scene *scene, uint32_t serial, uint64_t us,
				const char *command)
{
	char arguments[512];
	size_t length = strlen(command);
	const char *slash;
	struct tree_event event = {
		.type = TREE_EXEC,
		.task = scene->tasks[serial],
		.time_ns = at_us(us),
		.exec = { .arguments = arguments, .length = length + 1 },
	};

	memcpy(arguments, command, length + 1);
	for (size_t i = 0; i < length; i++)
		if (arguments[i] == ' ')
			arguments[i] = '\0';
	slash = strrchr(arguments, '/');
	snprintf(event.exec.comm, TREE_COMM_SIZE, "%.15s", slash ? slash + 1 : arguments);
	timeline_take(scene->timeline, &event);
}

static inline void end_thread(struct scene *scene, uint32_t serial, uint64_t us)
{
	struct tree_event event = {
		.type = TREE_THREAD,
		.task = scene->tasks[serial],
		.time_ns = at_us(us),
		.account = { .ended = true, .end_ns = at_us(us) },
	};

	timeline_take(scene->timeline, &event);
}

static inline void take_wait(struct scene *scene, uint64_t block_us, uint64_t wake_us,
			     uint64_t run_us, struct tree_wait_event wait)
{
	struct tree_event event = {
		.type = TREE_WAIT,
		.task = scene->tasks[wait.serial],
		.time_ns = at_us(run_us),
		.wait = wait,
	};

	if (!event.wait.sequence)
		event.wait.sequence = ++scene->sequences[wait.serial];
	scene->sequences[wait.serial] = event.wait.sequence;
	event.wait.block_ns = at_us(block_us);
	event.wait.wake_ns = at_us(wake_us);
	event.wait.run_ns = at_us(run_us);
	timeline_take(scene->timeline, &event);
}

/* A wait of a thread that ends at wake_us, with the rest as members of struct tree_wait_event. */
#define WAITS(scene, own_serial, block_us, wake_us, ...)                                           \
	take_wait((scene), (block_us), (wake_us), (wake_us),                                       \
		  (struct tree_wait_event){ .serial = (own_serial), __VA_ARGS__ })

/* Time in the run queue. */
#define QUEUED(scene, own_serial, from_us, run_us, ...)                                            \
	take_wait((scene), (from_us), (from_us), (run_us),                                         \
		  (struct tree_wait_event){ .serial = (own_serial), __VA_ARGS__ })

#define BY_MEMBER(number) .waker_class = WAKER_MEMBER, .waker = (number)

static inline void check_segments(const struct critical_path *path)
{
	uint64_t kinds[PATH_KIND_COUNT] = { 0 }, parts[PATH_KIND_COUNT] = { 0 };
	uint64_t before = 0;

	for (size_t i = 0; i < path->segments.count; i++) {
		const struct path_segment *segment = &path->segments.data[i];

		assert_true(segment->begin_ns >= before && segment->end_ns > segment->begin_ns);
		assert_true(segment->kind < PATH_KIND_COUNT && segment->via <= PATH_DIRECT);
		kinds[segment->kind] += segment->end_ns - segment->begin_ns;
		before = segment->end_ns;
	}
	assert_true(before <= path->total_ns);
	assert_true(path->segments.count <= PATH_SEGMENTS_MAX);
	for (size_t i = 0; i < path->parts.count; i++)
		parts[path->parts.data[i].kind] += path->parts.data[i].ns;
	for (int i = 0; i < PATH_KIND_COUNT && !path->segments_omitted; i++)
		assert_int_equal(kinds[i], parts[i]);
}

static inline void check_path(const struct critical_path *path, uint64_t total_ns)
{
	uint64_t sum = 0, before = UINT64_MAX;

	assert_true(path->is_known);
	assert_int_equal(path->total_ns, total_ns);
	assert_true(path->parts.count <= PATH_PARTS_MAX);
	for (size_t i = 0; i < path->parts.count; i++) {
		const struct path_part *part = &path->parts.data[i];

		sum += part->ns;
		assert_true(part->ns && part->kind < PATH_KIND_COUNT && part->via <= PATH_DIRECT);
		assert_true(part->by_tree_ns + part->by_outside_ns <= part->ns);
		assert_true(part->peer_ns <= part->ns && part->command_ns <= part->ns);
		assert_true(part->ns <= before || strcmp(part->program, PATH_OTHERS) == 0);
		before = part->ns;
	}
	assert_int_equal(sum, total_ns);
	check_segments(path);
}

static inline const struct critical_path *find_path(struct scene *scene, uint32_t serial,
						    uint64_t begin_us, uint64_t end_us)
{
	critical_path_free(&scene->path);
	assert_int_equal(critical_path_find(scene->timeline, serial, at_us(begin_us), at_us(end_us),
					    &scene->path),
			 0);
	check_path(&scene->path, (end_us - begin_us) * US);
	return &scene->path;
}

/* Time of a program's parts of one kind and way; NULL and PATH_ANY take all. */
static inline uint64_t part_us(const struct critical_path *path, const char *program, uint8_t kind,
			       uint8_t via)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < path->parts.count; i++) {
		const struct path_part *part = &path->parts.data[i];

		if ((program && strcmp(part->program, program) != 0) ||
		    (kind != PATH_ANY && kind != part->kind) ||
		    (via != PATH_ANY && via != part->via))
			continue;
		ns += part->ns;
	}
	return ns / US;
}

#endif
