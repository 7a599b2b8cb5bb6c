/* SPDX-License-Identifier: MIT */
/* The rules of the critical path, each on a timeline of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "path_scene.h"

static void test_cpu_of_one_thread(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "sh");
	exec_program(scene, 1, 0, "/usr/bin/solver --fast");
	path = find_path(scene, 1, 0, 1000);
	assert_int_equal(path->parts.count, 1);
	assert_string_equal(path->parts.data[0].program, "solver");
	assert_string_equal(path->parts.data[0].thread, "solver");
	assert_string_equal(path->parts.data[0].command, "/usr/bin/solver --fast");
	assert_int_equal(path->parts.data[0].kind, PATH_CPU);
	assert_int_equal(path->parts.data[0].via, PATH_DIRECT);
	assert_int_equal(path->parts.data[0].processes, 1);
	assert_int_equal(path->segments.count, 1);
	assert_int_equal(path->segments.data[0].task.pid, pid_of(1));
	assert_int_equal(path->thread.tid, pid_of(1));
}

static void test_no_such_thread_and_no_time(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "sh");
	assert_int_equal(critical_path_find(scene->timeline, 2, 1, 2, &scene->path), -ESRCH);
	assert_int_equal(critical_path_find(scene->timeline, 0, 1, 2, &scene->path), -ESRCH);
	assert_int_equal(critical_path_find(scene->timeline, 1, 2, 2, &scene->path), -EINVAL);
	assert_false(scene->path.is_known);
}

/* A wait is replaced with what the waker did meanwhile; then the path returns. */
static void test_wait_is_replaced(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "main");
	add_thread(scene, 2, pid_of(1), 1, 0, "worker");
	WAITS(scene, 1, 100, 900, .reason = WAIT_LOCK, .object = 0x1000, BY_MEMBER(2));
	WAITS(scene, 2, 300, 500, .reason = WAIT_DISK, .waker_class = WAKER_INTERRUPT);
	path = find_path(scene, 1, 0, 1000);
	assert_int_equal(part_us(path, NULL, PATH_CPU, PATH_DIRECT), 200);
	assert_int_equal(part_us(path, NULL, PATH_CPU, WAIT_LOCK), 600);
	assert_int_equal(part_us(path, NULL, WAIT_DISK, WAIT_LOCK), 200);
	assert_string_equal(path->parts.data[0].thread, "worker");
	assert_string_equal(path->parts.data[0].program, "main");
	assert_int_equal(path->segments.count, 5);
	assert_int_equal(path->segments.data[1].object, 0x1000);
	assert_int_equal(path->segments.data[1].task.tid, pid_of(2));
	assert_true(fabs(path_edges_per_second(path) - 1000) < 1);
}

/* A wait that nobody of the tree ended stays what it is; someone outside is named. */
static void test_leaves(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;
	const struct path_part *network;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "client");
	WAITS(scene, 1, 0, 700, .reason = WAIT_NETWORK, .object = 77, .waker_class = WAKER_OUTSIDE,
	      .waker_comm = "redis-server");
	WAITS(scene, 1, 700, 800, .reason = WAIT_DISK, .waker_class = WAKER_KERNEL,
	      .waker_comm = "kworker");
	WAITS(scene, 1, 800, 900, .reason = WAIT_TIMER, .waker_class = WAKER_UNKNOWN);
	WAITS(scene, 1, 900, 1000, .reason = WAIT_NETWORK, .waker_class = WAKER_OUTSIDE,
	      .waker_comm = "nginx");
	path = find_path(scene, 1, 0, 1000);
	network = path_main_part(path, WAIT_NETWORK, PATH_ANY);
	assert_int_equal(network->ns, 800 * US);
	assert_string_equal(network->peer, "redis-server");
	assert_int_equal(network->peer_ns, 700 * US);
	assert_int_equal(part_us(path, "client", WAIT_DISK, PATH_DIRECT), 100);
	assert_int_equal(part_us(path, "client", WAIT_TIMER, PATH_DIRECT), 100);
	assert_int_equal(path->segments.data[0].object, 77);
	assert_true(fabs(path_share_of_peers(path, WAIT_NETWORK) - 0.7) < 0.001);
}

static void test_run_queue(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;
	const struct path_part *part;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "a");
	QUEUED(scene, 1, 100, 900, .queued_tree_ns = 200 * US, .queued_outside_ns = 400 * US,
	       .queued_comm = "hog");
	path = find_path(scene, 1, 0, 1000);
	part = path_main_part(path, PATH_RUN_QUEUE, PATH_ANY);
	assert_int_equal(part->ns, 800 * US);
	assert_true(fabs(path_share_by_tree(path) - 0.2) < 0.005);
	assert_true(fabs(path_share_by_outside(path) - 0.4) < 0.005);
	assert_string_equal(part->peer, "hog");
	assert_int_equal(part->peer_ns, part->by_outside_ns);
	/* Half of it. */
	path = find_path(scene, 1, 500, 1000);
	assert_int_equal(part_us(path, NULL, PATH_RUN_QUEUE, PATH_ANY), 400);
	assert_true(fabs(path_share_by_outside(path) - 0.4) < 0.005);
}

/* Before it began, a child is its creator. */
static void test_before_the_beginning(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "main");
	add_thread(scene, 2, 0, 1, 0, "maker");
	add_thread(scene, 3, 0, 2, 600, "made");
	add_thread(scene, 4, 0, 3, 800, "last");
	WAITS(scene, 1, 100, 1000, .reason = WAIT_PIPE, BY_MEMBER(4));
	path = find_path(scene, 1, 0, 1000);
	assert_int_equal(part_us(path, "maker", PATH_CPU, WAIT_PIPE), 500);
	assert_int_equal(part_us(path, "made", PATH_CPU, WAIT_PIPE), 200);
	assert_int_equal(part_us(path, "last", PATH_CPU, WAIT_PIPE), 200);
	assert_int_equal(part_us(path, "main", PATH_CPU, PATH_DIRECT), 100);
}

/* Two threads that each claim to have woken the other while both were blocked. */
static void test_mutual(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "a");
	add_thread(scene, 2, 0, 1, 0, "b");
	WAITS(scene, 1, 100, 900, .reason = WAIT_LOCK, BY_MEMBER(2));
	WAITS(scene, 2, 200, 1000, .reason = WAIT_LOCK, BY_MEMBER(1));
	path = find_path(scene, 1, 0, 1000);
	assert_int_equal(part_us(path, NULL, PATH_MUTUAL, PATH_ANY), 700);
	assert_int_equal(part_us(path, "b", PATH_CPU, WAIT_LOCK), 100);
}

/* A thread that is woken by itself, as by a signal, waits as it says. */
static void test_own_waker(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "a");
	WAITS(scene, 1, 100, 900, .reason = WAIT_POLL, BY_MEMBER(1));
	assert_int_equal(part_us(find_path(scene, 1, 0, 1000), "a", WAIT_POLL, PATH_DIRECT), 800);
}

static void take_timed_out(struct scene *scene, uint64_t cpu_us, uint64_t object)
{
	add_thread(scene, 1, 0, 0, 0, "waiter");
	add_thread(scene, 2, pid_of(1), 1, 0, "holder");
	WAITS(scene, 1, 0, 5000, .reason = WAIT_LOCK, .object = 0x1000,
	      .waker_class = WAKER_INTERRUPT);
	QUEUED(scene, 1, 5000, 5010, );
	WAITS(scene, 1, 5010 + cpu_us, 9000, .reason = WAIT_CONDITION, .object = object,
	      BY_MEMBER(2));
}

/* Waits for a lock that time out count as those that the holder finally ended. */
static void test_lock_episode(void **state)
{
	static const struct {
		uint64_t cpu_us, object;
		bool inherits;
	} cases[] = {
		{ 10, 0x1000, true },	{ 299, 0x1000 + 96, true }, { 10, 0x1000 - 96, true },
		{ 300, 0x1000, false }, { 10, 0x1000 + 97, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(scene_free) struct scene *scene = scene_new();
		const struct critical_path *path;

		take_timed_out(scene, cases[i].cpu_us, cases[i].object);
		path = find_path(scene, 1, 0, 9000);
		assert_int_equal(part_us(path, NULL, WAIT_LOCK, PATH_DIRECT),
				 cases[i].inherits ? 0 : 5000);
		assert_int_equal(part_us(path, NULL, PATH_CPU, WAIT_LOCK),
				 cases[i].inherits ? 5000 : 0);
	}
}

/* The shell waits for both children; the first to end is not what it waited for. */
static void test_join_all(void **state)
{
	static const struct {
		uint64_t cpu_us;
		uint32_t forks;
		bool is_one;
	} cases[] = { { 100, 0, true }, { 999, 0, true }, { 1000, 0, false }, { 100, 1, false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(scene_free) struct scene *scene = scene_new();
		const struct critical_path *path;

		add_thread(scene, 1, 0, 0, 0, "sh");
		add_thread(scene, 2, 0, 1, 0, "tar");
		add_thread(scene, 3, 0, 1, 0, "gzip");
		WAITS(scene, 1, 0, 5000, .reason = WAIT_CHILD, BY_MEMBER(2));
		end_thread(scene, 2, 5000);
		WAITS(scene, 1, 5000 + cases[i].cpu_us, 9000, .reason = WAIT_CHILD, BY_MEMBER(3),
		      .forks = cases[i].forks);
		end_thread(scene, 3, 9000);
		path = find_path(scene, 1, 0, 9000);
		assert_int_equal(part_us(path, "tar", PATH_CPU, WAIT_CHILD),
				 cases[i].is_one ? 0 : 5000);
		assert_int_equal(part_us(path, "gzip", PATH_CPU, WAIT_CHILD),
				 9000 - cases[i].cpu_us - (cases[i].is_one ? 0 : 5000));
	}
}

static void test_gap(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "a");
	WAITS(scene, 1, 100, 200, .reason = WAIT_DISK);
	WAITS(scene, 1, 600, 700, .reason = WAIT_DISK, .sequence = 5);
	path = find_path(scene, 1, 0, 1000);
	assert_int_equal(part_us(path, NULL, PATH_NOT_SEEN, PATH_ANY), 400);
	assert_int_equal(path->not_seen_ns, 400 * US);
	assert_int_equal(scene->timeline->lost_steps, 3);
	assert_int_equal(part_us(path, NULL, PATH_CPU, PATH_ANY), 400);
}

/* A waker of which nothing is known, and one whose beginning was lost. */
static void test_unknown_threads(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "a");
	scene->tasks[3] = (struct task_key){ 103, 103, 3 };
	WAITS(scene, 1, 100, 300, .reason = WAIT_PIPE, BY_MEMBER(2));
	WAITS(scene, 1, 400, 900, .reason = WAIT_PIPE, BY_MEMBER(3));
	WAITS(scene, 3, 600, 700, .reason = WAIT_DISK);
	path = find_path(scene, 1, 0, 1000);
	assert_int_equal(part_us(path, NULL, PATH_NOT_SEEN, PATH_DIRECT), 200);
	assert_int_equal(part_us(path, NULL, PATH_NOT_SEEN, WAIT_PIPE), 200);
	assert_int_equal(part_us(path, NULL, WAIT_DISK, WAIT_PIPE), 100);
	assert_int_equal(part_us(path, NULL, PATH_CPU, WAIT_PIPE), 200);
}

/* Short times off the CPU are taken out of the time between two steps, in proportion. */
static void test_short_times(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "a");
	WAITS(scene, 1, 1000, 1100, .reason = WAIT_DISK, .short_queued_ns = 200 * US,
	      .short_blocked_ns = 400 * US, .short_reason = WAIT_PIPE, .short_count = 60,
	      .threshold_ns = 50 * US);
	path = find_path(scene, 1, 0, 1100);
	assert_int_equal(part_us(path, NULL, PATH_CPU, PATH_ANY), 400);
	assert_int_equal(part_us(path, NULL, PATH_RUN_QUEUE, PATH_ANY), 200);
	assert_int_equal(part_us(path, NULL, WAIT_PIPE, PATH_ANY), 400);
	assert_int_equal(path->threshold_ns, 50 * US);
	assert_true(fabs(path_edges_per_second(path) - 60 / 0.0011) < 1);
	path = find_path(scene, 1, 500, 1000);
	assert_int_equal(part_us(path, NULL, PATH_CPU, PATH_ANY), 200);
	assert_int_equal(part_us(path, NULL, WAIT_PIPE, PATH_ANY), 200);
}

/* Sums that are longer than the time they are about. */
static void test_short_times_beyond_the_time(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "a");
	WAITS(scene, 1, 1000, 1100, .reason = WAIT_DISK, .short_queued_ns = UINT64_MAX,
	      .short_blocked_ns = 900 * US, .short_reason = 200);
	path = find_path(scene, 1, 0, 1100);
	assert_int_equal(part_us(path, NULL, WAIT_OTHER, PATH_ANY), 900);
	assert_int_equal(part_us(path, NULL, PATH_RUN_QUEUE, PATH_ANY), 100);
}

/* A process that executes programs one after the other, without a wait between them. */
static void test_programs_of_one_process(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "taskscope");
	exec_program(scene, 1, 0, "/bin/sh -c make");
	add_thread(scene, 2, 0, 1, 100, "sh");
	exec_program(scene, 2, 200, "/usr/bin/env cc x.c");
	exec_program(scene, 2, 300, "/usr/lib/cc1 x.c");
	WAITS(scene, 1, 100, 900, .reason = WAIT_CHILD, BY_MEMBER(2));
	path = find_path(scene, 1, 0, 1000);
	assert_int_equal(part_us(path, "sh", PATH_CPU, PATH_DIRECT), 200);
	assert_int_equal(part_us(path, "sh", PATH_CPU, WAIT_CHILD), 100);
	assert_int_equal(part_us(path, "env", PATH_CPU, WAIT_CHILD), 100);
	assert_int_equal(part_us(path, "cc1", PATH_CPU, WAIT_CHILD), 600);
	assert_string_equal(path->parts.data[0].command, "/usr/lib/cc1 x.c");
	assert_string_equal(path->parts.data[0].thread, "cc1");
	/* After its fork it has the parent's program and name. */
	for (size_t i = 0; i < path->parts.count; i++)
		if (strcmp(path->parts.data[i].program, "sh") == 0)
			assert_string_equal(path->parts.data[i].thread, "sh");
}

/* The end of a thread may be reported a little before the waking that its exit makes. */
static void test_after_the_end(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "a");
	add_thread(scene, 2, 0, 1, 0, "b");
	WAITS(scene, 1, 0, 50000, .reason = WAIT_CHILD, BY_MEMBER(2));
	end_thread(scene, 2, 40000);
	path = find_path(scene, 1, 0, 50000);
	assert_int_equal(part_us(path, "b", PATH_CPU, WAIT_CHILD), 50000);
	end_thread(scene, 2, 39999);
	path = find_path(scene, 1, 0, 50000);
	assert_int_equal(part_us(path, "b", PATH_CPU, WAIT_CHILD), 39999);
	assert_int_equal(part_us(path, NULL, PATH_NOT_SEEN, PATH_ANY), 10001);
}

/* The busiest thread ends before the others: the path goes on with the main thread. */
static void test_thread_of_the_path_ends_early(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "main");
	add_thread(scene, 2, pid_of(1), 1, 0, "busy");
	end_thread(scene, 2, 30000);
	WAITS(scene, 1, 100, 90000, .reason = WAIT_POLL);
	path = find_path(scene, 2, 0, 90000);
	assert_int_equal(part_us(path, NULL, PATH_CPU, PATH_DIRECT), 30000);
	assert_int_equal(part_us(path, NULL, WAIT_POLL, PATH_DIRECT), 60000);
	/* A main thread has none that goes on. */
	end_thread(scene, 1, 91000);
	path = find_path(scene, 1, 0, 110000);
	assert_int_equal(part_us(path, NULL, PATH_NOT_SEEN, PATH_DIRECT), 19000);
}

/* A wait that someone ended keeps its waker, also within an episode. */
static void test_lock_episode_with_wakers(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "waiter");
	add_thread(scene, 2, 0, 1, 0, "first");
	add_thread(scene, 3, 0, 1, 0, "second");
	WAITS(scene, 1, 0, 400, .reason = WAIT_LOCK, .object = 64, BY_MEMBER(2));
	WAITS(scene, 1, 410, 1000, .reason = WAIT_LOCK, .object = 64, BY_MEMBER(3));
	path = find_path(scene, 1, 0, 1000);
	assert_int_equal(part_us(path, "first", PATH_CPU, WAIT_LOCK), 400);
	assert_int_equal(part_us(path, "second", PATH_CPU, WAIT_LOCK), 590);
}

/* An attach: what a thread did before its first step, and one that is still blocked at the end. */
static void test_attach(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;
	struct tree_event found = {
		.type = TREE_FORK,
		.task = { 101, 101, 1 },
		.time_ns = at_us(0),
		.fork = { .serial = 1, .found = true, .comm = "server" },
	};

	(void)state;
	scene->tasks[1] = found.task;
	timeline_take(scene->timeline, &found);
	exec_program(scene, 1, 10, "/usr/sbin/server");
	take_wait(scene, 300, 1000, 1000,
		  (struct tree_wait_event){ .serial = 1, .reason = WAIT_POLL, .open = true });
	path = find_path(scene, 1, 0, 1000);
	assert_int_equal(part_us(path, "server", PATH_CPU, PATH_ANY), 300);
	assert_int_equal(part_us(path, "server", WAIT_POLL, PATH_ANY), 700);
}

/* The waker wakes while it is off the CPU itself, by clocks that differ a little. */
static void test_wakings_at_the_edge(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "a");
	add_thread(scene, 2, 0, 1, 0, "b");
	WAITS(scene, 2, 490, 600, .reason = WAIT_PIPE, BY_MEMBER(1));
	WAITS(scene, 1, 100, 500, .reason = WAIT_PIPE, BY_MEMBER(2));
	path = find_path(scene, 1, 0, 1000);
	assert_int_equal(part_us(path, "b", PATH_CPU, WAIT_PIPE), 390);
	assert_int_equal(part_us(path, NULL, PATH_MUTUAL, PATH_ANY), 10);
	assert_int_equal(part_us(path, "a", PATH_CPU, PATH_DIRECT), 600);
}

/* More parts than a result holds: the smallest are added up by kind. */
static void test_many_parts(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;
	uint64_t others = 0;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "sh");
	for (uint32_t i = 2; i < 302; i++) {
		char comm[TREE_COMM_SIZE];

		snprintf(comm, sizeof(comm), "p%u", i);
		add_thread(scene, i, 0, 1, (i - 2) * 1000, comm);
		exec_program(scene, i, (i - 2) * 1000, comm);
		WAITS(scene, i, (i - 2) * 1000 + 200, (i - 2) * 1000 + 200 + i,
		      .reason = WAIT_DISK);
		WAITS(scene, 1, (i - 2) * 1000, (i - 2) * 1000 + 900 + i % 7, .forks = 1,
		      .reason = WAIT_CHILD, BY_MEMBER(i));
		end_thread(scene, i, (i - 2) * 1000 + 900 + i % 7);
	}
	path = find_path(scene, 1, 0, 300000);
	for (size_t i = 0; i < path->parts.count; i++)
		others += strcmp(path->parts.data[i].program, PATH_OTHERS) == 0;
	assert_int_equal(others, 2);
	assert_int_equal(part_us(path, NULL, WAIT_DISK, PATH_ANY), 300 * 303 / 2);
	assert_true(path->segments_omitted > 0);
	assert_int_equal(path->segments.count, PATH_SEGMENTS_MAX);
}

static void test_pick_thread(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	bool of_busiest = true;
	uint32_t serial;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "server");
	add_thread(scene, 2, pid_of(1), 1, 0, "idle");
	add_thread(scene, 3, pid_of(1), 1, 0, "busy");
	WAITS(scene, 1, 10, 940, .reason = WAIT_POLL, .waker_class = WAKER_OUTSIDE);
	WAITS(scene, 2, 10, 1000, .reason = WAIT_CONDITION);
	WAITS(scene, 3, 600, 700, .reason = WAIT_CONDITION);
	assert_int_equal(path_pick_thread(scene->timeline, pid_of(1), at_us(0), at_us(1000),
					  &serial, &of_busiest),
			 0);
	assert_int_equal(serial, 1);
	assert_false(of_busiest);
	WAITS(scene, 1, 960, 1000, .reason = WAIT_POLL, .waker_class = WAKER_OUTSIDE);
	assert_int_equal(path_pick_thread(scene->timeline, pid_of(1), at_us(0), at_us(1000),
					  &serial, &of_busiest),
			 0);
	assert_int_equal(serial, 3);
	assert_true(of_busiest);
	assert_int_equal(
		path_pick_thread(scene->timeline, 9, at_us(0), at_us(1000), &serial, &of_busiest),
		-ESRCH);
}

/* A main thread that waits for its workers is on the path: the workers are found through it. */
static void test_pick_main_thread_with_workers(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	bool of_busiest;
	uint32_t serial;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "main");
	add_thread(scene, 2, pid_of(1), 1, 0, "worker");
	WAITS(scene, 1, 0, 1000, .reason = WAIT_CHILD, BY_MEMBER(2));
	assert_int_equal(path_pick_thread(scene->timeline, pid_of(1), at_us(0), at_us(1000),
					  &serial, &of_busiest),
			 0);
	assert_int_equal(serial, 1);
	assert_false(of_busiest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cpu_of_one_thread),
		cmocka_unit_test(test_no_such_thread_and_no_time),
		cmocka_unit_test(test_wait_is_replaced),
		cmocka_unit_test(test_leaves),
		cmocka_unit_test(test_run_queue),
		cmocka_unit_test(test_before_the_beginning),
		cmocka_unit_test(test_mutual),
		cmocka_unit_test(test_own_waker),
		cmocka_unit_test(test_lock_episode),
		cmocka_unit_test(test_join_all),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_unknown_threads),
		cmocka_unit_test(test_short_times),
		cmocka_unit_test(test_short_times_beyond_the_time),
		cmocka_unit_test(test_programs_of_one_process),
		cmocka_unit_test(test_after_the_end),
		cmocka_unit_test(test_thread_of_the_path_ends_early),
		cmocka_unit_test(test_lock_episode_with_wakers),
		cmocka_unit_test(test_attach),
		cmocka_unit_test(test_wakings_at_the_edge),
		cmocka_unit_test(test_many_parts),
		cmocka_unit_test(test_pick_thread),
		cmocka_unit_test(test_pick_main_thread_with_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
