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

/* A shell that waits for signals waits for its children, if they send them at their end. */
static void test_join_all_by_signals(void **state)
{
	(void)state;
	for (uint64_t late = 0; late < 2; late++) {
		CLEANUP(scene_free) struct scene *scene = scene_new();
		uint8_t via = late ? WAIT_POLL : WAIT_CHILD;
		const struct critical_path *path;

		add_thread(scene, 1, 0, 0, 0, "dash");
		add_thread(scene, 2, 0, 1, 0, "tar");
		add_thread(scene, 3, 0, 1, 0, "gzip");
		WAITS(scene, 1, 0, 5000, .reason = WAIT_POLL, BY_MEMBER(2));
		end_thread(scene, 2, 15000 + late);
		WAITS(scene, 1, 5000, 30000, .reason = WAIT_POLL, BY_MEMBER(3));
		end_thread(scene, 3, 30000);
		path = find_path(scene, 1, 0, 30000);
		assert_int_equal(part_us(path, "tar", PATH_CPU, via), late ? 5000 : 0);
		assert_int_equal(part_us(path, "gzip", PATH_CPU, WAIT_CHILD), late ? 25000 : 30000);
	}
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
		cmocka_unit_test(test_join_all_by_signals),
		cmocka_unit_test(test_short_times),
		cmocka_unit_test(test_programs_of_one_process),
		cmocka_unit_test(test_lock_episode_with_wakers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
