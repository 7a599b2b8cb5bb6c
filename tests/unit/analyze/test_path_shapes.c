/* SPDX-License-Identifier: MIT */
/*
 * Critical paths of programs as people run them, in timelines like those that were recorded of
 * them: who is named, and with which share.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "path_scene.h"

#define MS 1000

static void add_program(struct scene *scene, uint32_t serial, uint32_t creator, uint64_t us,
			const char *command)
{
	add_thread(scene, serial, 0, creator, us, "sh");
	exec_program(scene, serial, us, command);
}

static double share_of(const struct critical_path *path, const char *program, uint8_t kind,
		       uint8_t via)
{
	return (double)part_us(path, program, kind, via) * US / (double)path->total_ns;
}

/* One stage of a pipe works; the other waits for it most of the time. */
static void take_stages(struct scene *scene, uint32_t busy, uint32_t waiting, uint64_t end_us)
{
	for (uint64_t us = 10 * MS; us + 10 * MS <= end_us; us += 10 * MS)
		WAITS(scene, waiting, us + 500, us + 9500, .reason = WAIT_PIPE, .object = 5,
		      BY_MEMBER(busy));
}

/* tar ends first; the shell then waits for gzip, which it waited for from the beginning. */
static void test_pipe_of_two(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_program(scene, 1, 0, 0, "sh -c tar|gzip");
	add_program(scene, 2, 1, 1 * MS, "/bin/tar c .");
	add_program(scene, 3, 1, 2 * MS, "/bin/gzip");
	take_stages(scene, 3, 2, 900 * MS);
	WAITS(scene, 1, 3 * MS, 900 * MS, .reason = WAIT_CHILD, .forks = 2, BY_MEMBER(2));
	end_thread(scene, 2, 900 * MS);
	WAITS(scene, 3, 20 * MS, 60 * MS, .reason = WAIT_PIPE, BY_MEMBER(2));
	WAITS(scene, 1, 900 * MS + 200, 1000 * MS, .reason = WAIT_CHILD, BY_MEMBER(3));
	end_thread(scene, 3, 1000 * MS);
	path = find_path(scene, 1, 0, 1000 * MS);
	assert_true(share_of(path, "gzip", PATH_CPU, PATH_ANY) > 0.93);
	assert_true(share_of(path, "tar", PATH_ANY, PATH_ANY) < 0.05);
	assert_string_equal(path_main_part(path, PATH_ANY, PATH_ANY)->program, "gzip");
}

/* gzip | xz | cat: both sides wait for the one in the middle. */
static void test_pipe_of_three(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_program(scene, 1, 0, 0, "sh");
	add_program(scene, 2, 1, 1 * MS, "gzip -d");
	add_program(scene, 3, 1, 1 * MS, "xz");
	add_program(scene, 4, 1, 1 * MS, "cat");
	take_stages(scene, 3, 2, 1000 * MS);
	take_stages(scene, 3, 4, 1000 * MS);
	WAITS(scene, 1, 2 * MS, 970 * MS, .reason = WAIT_CHILD, .forks = 3, BY_MEMBER(2));
	WAITS(scene, 1, 970 * MS, 980 * MS, .reason = WAIT_CHILD, BY_MEMBER(3));
	WAITS(scene, 1, 980 * MS, 1000 * MS, .reason = WAIT_CHILD, BY_MEMBER(4));
	path = find_path(scene, 1, 0, 1000 * MS);
	assert_true(share_of(path, "xz", PATH_CPU, WAIT_PIPE) > 0.85);
}

static void test_slow_writer(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_program(scene, 1, 0, 0, "gzip");
	add_program(scene, 2, 1, 0, "/usr/bin/python3 -u writer.py 7");
	for (uint64_t us = 0; us < 1000 * MS; us += 100 * MS) {
		WAITS(scene, 1, us + 1 * MS, us + 99 * MS, .reason = WAIT_PIPE, .object = 9,
		      BY_MEMBER(2));
		WAITS(scene, 2, us + 3 * MS, us + 96 * MS, .reason = WAIT_TIMER,
		      .waker_class = WAKER_INTERRUPT);
	}
	path = find_path(scene, 1, 0, 1000 * MS);
	assert_true(fabs(share_of(path, "python3 writer.py", WAIT_TIMER, WAIT_PIPE) - 0.93) <
		    0.001);
	assert_true(fabs(path_share(path, PATH_ANY, WAIT_PIPE) - 0.98) < 0.001);
}

/* make -j4: three short compile steps and a long one, named by its command line. */
static void test_one_long_compile(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;
	const struct path_part *most;

	(void)state;
	add_program(scene, 1, 0, 0, "make -j4");
	for (uint32_t i = 2; i < 6; i++) {
		char command[64];

		snprintf(command, sizeof(command), "/usr/lib/cc1 part%u.c", i);
		add_program(scene, i, 1, i * MS, command);
	}
	WAITS(scene, 1, 6 * MS, 50 * MS, .reason = WAIT_CHILD, .forks = 4, BY_MEMBER(2));
	WAITS(scene, 1, 50 * MS + 500, 60 * MS, .reason = WAIT_CHILD, BY_MEMBER(3));
	WAITS(scene, 1, 60 * MS + 500, 70 * MS, .reason = WAIT_CHILD, BY_MEMBER(5));
	WAITS(scene, 1, 70 * MS + 500, 980 * MS, .reason = WAIT_CHILD, BY_MEMBER(4));
	add_program(scene, 6, 1, 981 * MS, "/usr/bin/ld -o all");
	WAITS(scene, 1, 981 * MS, 995 * MS, .reason = WAIT_CHILD, .forks = 1, BY_MEMBER(6));
	path = find_path(scene, 1, 0, 1000 * MS);
	most = path_main_part(path, PATH_CPU, WAIT_CHILD);
	assert_string_equal(most->command, "/usr/lib/cc1 part4.c");
	assert_true(share_of(path, "cc1", PATH_CPU, PATH_ANY) > 0.96);
	assert_int_equal(part_us(path, "ld", PATH_CPU, WAIT_CHILD), 14 * MS);
}

static void test_many_short_and_a_sleep(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;
	uint64_t us = 0;

	(void)state;
	add_program(scene, 1, 0, 0, "sh");
	for (uint32_t i = 2; i < 102; i++, us += 800) {
		add_program(scene, i, 1, us + 200, "true");
		WAITS(scene, 1, us + 250, us + 800, .reason = WAIT_CHILD, .forks = 1, BY_MEMBER(i));
		end_thread(scene, i, us + 798);
	}
	add_program(scene, 102, 1, us, "sleep 1");
	WAITS(scene, 102, us, us + 1000 * MS, .reason = WAIT_TIMER, .waker_class = WAKER_INTERRUPT);
	WAITS(scene, 1, us, us + 1000 * MS, .reason = WAIT_CHILD, .forks = 1, BY_MEMBER(102));
	path = find_path(scene, 1, 0, us + 1000 * MS);
	assert_true(share_of(path, "sleep", WAIT_TIMER, WAIT_CHILD) > 0.92);
	assert_true(fabs(share_of(path, "true", PATH_CPU, PATH_ANY) - 0.05) < 0.01);
	assert_int_equal(path_main_part(path, PATH_CPU, WAIT_CHILD)->processes, 100);
}

/* Those that ended early are folded; they count all the same. */
static void test_more_short_ones_than_there_is_room_for(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const uint32_t count = TIMELINE_THREADS + 100;
	const struct critical_path *path;
	uint64_t us = 0;

	(void)state;
	add_program(scene, 1, 0, 0, "sh");
	for (uint32_t i = 2; i < count + 2; i++, us += 800) {
		add_program(scene, i, 1, us + 200, "true");
		WAITS(scene, 1, us + 250, us + 800, .reason = WAIT_CHILD, .forks = 1, BY_MEMBER(i));
		end_thread(scene, i, us + 798);
	}
	path = find_path(scene, 1, 0, us);
	assert_int_equal(path_main_part(path, PATH_CPU, WAIT_CHILD)->processes, count);
}

static void test_many_sleepers(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;
	uint64_t us = 0;

	(void)state;
	add_program(scene, 1, 0, 0, "sh");
	for (uint32_t i = 2; i < 602; i++, us += 600) {
		add_program(scene, i, 1, us + 100, "sleep 2");
		WAITS(scene, i, us + 150, us + 2000 * MS, .reason = WAIT_TIMER);
		QUEUED(scene, 1, us + 110, us + 600, .queued_tree_ns = 490 * US, .forks = 1);
	}
	for (uint32_t i = 2; i < 602; i++)
		WAITS(scene, 1, i == 2 ? us : (i - 3) * 600 + 2000 * MS + 30,
		      (i - 2) * 600 + 2000 * MS + 20, .reason = WAIT_CHILD, BY_MEMBER(i));
	path = find_path(scene, 1, 0, us + 2000 * MS);
	assert_true(share_of(path, "sleep", WAIT_TIMER, WAIT_CHILD) > 0.8);
	assert_true(fabs(path_share_by_tree(path) - 0.125) < 0.01);
}

/* Threads that take turns with a lock; waits of 5 ms time out, the last one is ended. */
static void take_turns(struct scene *scene, uint32_t threads, uint64_t timeout_us)
{
	uint64_t turn_us = 20 * MS;
	uint64_t begin_us[8] = { 0 };

	for (uint64_t turn = 1; turn <= 50; turn++) {
		uint32_t next = (uint32_t)(turn % threads), holder = (next + threads - 1) % threads;
		uint64_t now_us = turn * turn_us, us = begin_us[next];

		while (timeout_us && us + timeout_us + 20 < now_us) {
			WAITS(scene, next + 2, us, us + timeout_us, .reason = WAIT_CONDITION,
			      .object = 0x7f0000001040, .waker_class = WAKER_INTERRUPT);
			us += timeout_us + 20;
		}
		if (us < now_us)
			WAITS(scene, next + 2, us, now_us, .reason = WAIT_LOCK,
			      .object = 0x7f0000001000, BY_MEMBER(holder + 2));
		begin_us[holder] = now_us + 10;
	}
}

static void make_threads(struct scene *scene, uint32_t count, const char *command)
{
	add_program(scene, 1, 0, 0, command);
	for (uint32_t i = 2; i < 2 + count; i++)
		add_thread(scene, i, pid_of(1), 1, 0, "worker");
}

/* Python's interpreter lock, and a plain mutex: the work is done one after the other. */
static void test_serialised(void **state)
{
	static const uint64_t timeouts[] = { 5 * MS, 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(timeouts); i++) {
		CLEANUP(scene_free) struct scene *scene = scene_new();
		const struct critical_path *path;

		make_threads(scene, 4, "python3 gil.py");
		take_turns(scene, 4, timeouts[i]);
		/* Turn 50 is the last: it belongs to the third worker. */
		WAITS(scene, 1, 100, 1020 * MS, .reason = WAIT_CHILD, BY_MEMBER(4));
		path = find_path(scene, 1, 0, 1020 * MS);
		assert_true(path_share(path, PATH_CPU, PATH_ANY) > 0.8);
		assert_true(path_share(path, PATH_CPU, WAIT_LOCK) +
				    path_share(path, PATH_CPU, WAIT_CONDITION) >
			    0.55);
	}
}

/* A queue between two threads: the slow side is the path, whichever it is. */
static void test_producer_and_consumer(void **state)
{
	(void)state;
	for (uint32_t slow = 2; slow < 4; slow++) {
		CLEANUP(scene_free) struct scene *scene = scene_new();
		uint32_t fast = 5 - slow;
		const struct critical_path *path;

		make_threads(scene, 2, "queue");
		for (uint64_t us = 1 * MS; us < 999 * MS; us += 10 * MS)
			WAITS(scene, fast, us + 100, us + 9900, .reason = WAIT_CONDITION,
			      .object = 0x2000, BY_MEMBER(slow));
		WAITS(scene, 1, 100, 999 * MS, .reason = WAIT_CHILD, BY_MEMBER(fast));
		path = find_path(scene, 1, 0, 1000 * MS);
		assert_true(path_share(path, PATH_CPU, WAIT_CONDITION) > 0.97);
	}
}

static void test_server_inside_and_outside(void **state)
{
	(void)state;
	for (int inside = 0; inside < 2; inside++) {
		CLEANUP(scene_free) struct scene *scene = scene_new();
		const struct critical_path *path;

		add_program(scene, 1, 0, 0, "client");
		add_program(scene, 2, 1, 0, "/usr/bin/python3 /srv/server.py");
		for (uint64_t us = 0; us < 1000 * MS; us += 20 * MS)
			WAITS(scene, 1, us + 1 * MS, us + 20 * MS, .reason = WAIT_NETWORK,
			      .waker_class = inside ? WAKER_MEMBER : WAKER_OUTSIDE, .waker = 2,
			      .waker_comm = "server");
		path = find_path(scene, 1, 0, 1000 * MS);
		if (inside) {
			assert_true(share_of(path, "python3 server.py", PATH_CPU, WAIT_NETWORK) >
				    0.94);
		} else {
			assert_true(path_share_of_peers(path, WAIT_NETWORK) > 0.94);
			assert_string_equal(path->parts.data[0].peer, "server");
		}
	}
}

static void test_starved_by_others(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_program(scene, 1, 0, 0, "nice -n 10 work");
	for (uint64_t us = 0; us < 1000 * MS; us += 100 * MS)
		QUEUED(scene, 1, us + 5 * MS, us + 100 * MS, .queued_outside_ns = 95 * MS * US,
		       .queued_comm = "hog");
	path = find_path(scene, 1, 0, 1000 * MS);
	assert_true(path_share_by_outside(path) > 0.94);
	assert_string_equal(path->parts.data[0].peer, "hog");
}

/* xargs -P4 on two CPUs: the last job shared its CPU with the others for a while. */
static void test_oversubscribed(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_program(scene, 1, 0, 0, "xargs -P4 work");
	for (uint32_t i = 2; i < 6; i++) {
		add_program(scene, i, 1, 1 * MS, "work");
		for (uint64_t us = 10 * MS; us < 690 * MS; us += 8 * MS)
			QUEUED(scene, i, us, us + 4 * MS, .queued_tree_ns = 4 * MS * US);
		WAITS(scene, 1, i == 2 ? 2 * MS : i * 100 * MS + 20, (i + 1) * 100 * MS + 400 * MS,
		      .reason = WAIT_CHILD, .forks = i == 2 ? 4 : 0, BY_MEMBER(i));
	}
	path = find_path(scene, 1, 0, 1000 * MS);
	assert_true(fabs(path_share_by_tree(path) - 0.34) < 0.01);
	assert_true(share_of(path, "work", PATH_CPU, PATH_ANY) > 0.64);
}

/* An idle pool and a ticker beside a busy main thread, which joins the ticker at the end. */
static void test_idle_threads_beside_a_busy_one(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	make_threads(scene, 3, "busy");
	for (uint64_t us = 0; us < 1000 * MS; us += 10 * MS)
		WAITS(scene, 2, us + 20, us + 10 * MS, .reason = WAIT_TIMER,
		      .waker_class = WAKER_INTERRUPT);
	WAITS(scene, 3, 10, 996 * MS, .reason = WAIT_CONDITION, BY_MEMBER(1));
	WAITS(scene, 1, 996 * MS, 1000 * MS, .reason = WAIT_CHILD, BY_MEMBER(2));
	path = find_path(scene, 1, 0, 1000 * MS);
	assert_true(share_of(path, "busy", PATH_CPU, PATH_DIRECT) > 0.995);
}

static void test_ping_pong(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_program(scene, 1, 0, 0, "ping");
	add_program(scene, 2, 1, 0, "pong");
	for (uint64_t us = 0; us < 100 * MS; us += 200) {
		take_wait(
			scene, us + 80, us + 180, us + 200,
			(struct tree_wait_event){ .serial = 1, .reason = WAIT_PIPE, BY_MEMBER(2) });
		take_wait(
			scene, us + 180, us + 280, us + 300,
			(struct tree_wait_event){ .serial = 2, .reason = WAIT_PIPE, BY_MEMBER(1) });
	}
	path = find_path(scene, 1, 0, 100 * MS);
	assert_true(fabs(path_edges_per_second(path) - 5000) < 20);
	assert_true(path_share(path, PATH_CPU, PATH_ANY) > 0.79);
	assert_true(path_share(path, PATH_RUN_QUEUE, PATH_ANY) > 0.19);
}

static void test_fsync_per_insert(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_program(scene, 1, 0, 0, "sqlite3 base.db");
	for (uint64_t us = 0; us < 1000 * MS; us += 1000)
		WAITS(scene, 1, us + 600, us + 1000, .reason = WAIT_DISK, .object = 4711,
		      .waker_class = WAKER_INTERRUPT);
	path = find_path(scene, 1, 0, 1000 * MS);
	assert_int_equal(part_us(path, "sqlite3", WAIT_DISK, PATH_DIRECT), 400 * MS);
	assert_int_equal(part_us(path, "sqlite3", PATH_CPU, PATH_DIRECT), 600 * MS);
}

/* A vfork: the parent waits until its child executes a program, and then for its end. */
static void test_vfork(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_program(scene, 1, 0, 0, "make");
	add_thread(scene, 2, 0, 1, 100, "make");
	WAITS(scene, 1, 110, 500, .reason = WAIT_CHILD, .forks = 1, BY_MEMBER(2));
	exec_program(scene, 2, 500, "cc");
	WAITS(scene, 1, 600, 900, .reason = WAIT_CHILD, BY_MEMBER(2));
	path = find_path(scene, 1, 0, 1000);
	assert_int_equal(part_us(path, "cc", PATH_CPU, WAIT_CHILD), 300);
	assert_int_equal(part_us(path, "make", PATH_CPU, WAIT_CHILD), 390);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipe_of_two),
		cmocka_unit_test(test_pipe_of_three),
		cmocka_unit_test(test_slow_writer),
		cmocka_unit_test(test_one_long_compile),
		cmocka_unit_test(test_many_short_and_a_sleep),
		cmocka_unit_test(test_more_short_ones_than_there_is_room_for),
		cmocka_unit_test(test_many_sleepers),
		cmocka_unit_test(test_serialised),
		cmocka_unit_test(test_producer_and_consumer),
		cmocka_unit_test(test_server_inside_and_outside),
		cmocka_unit_test(test_starved_by_others),
		cmocka_unit_test(test_oversubscribed),
		cmocka_unit_test(test_idle_threads_beside_a_busy_one),
		cmocka_unit_test(test_ping_pong),
		cmocka_unit_test(test_fsync_per_insert),
		cmocka_unit_test(test_vfork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
