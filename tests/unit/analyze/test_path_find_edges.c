/* SPDX-License-Identifier: MIT */
/* The edges of the critical path: what was lost, began or ended meanwhile; and whose path it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "path_scene.h"

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

/* An attach: what a thread did before its first step, and one that is still blocked at the end. */
/* The process of a main thread that ends first ends with its last thread. */
static void test_main_thread_ends_before_the_others(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "main");
	add_thread(scene, 2, pid_of(1), 1, 1000, "early");
	add_thread(scene, 3, pid_of(1), 1, 1000, "late");
	add_thread(scene, 4, 0, 1, 1000, "child");
	WAITS(scene, 3, 2000, 40000, .reason = WAIT_TIMER);
	end_thread(scene, 1, 10000);
	end_thread(scene, 2, 30000);
	end_thread(scene, 3, 50000);
	end_thread(scene, 4, 60000);
	path = find_path(scene, 1, 0, 50000);
	assert_int_equal(path->not_seen_ns, 0);
	assert_int_equal(part_us(path, NULL, PATH_CPU, PATH_ANY), 20000);
	assert_int_equal(part_us(path, NULL, WAIT_TIMER, PATH_ANY), 30000);
	/* After that nobody of the process is left. */
	path = find_path(scene, 1, 0, 60001);
	assert_int_equal(path->not_seen_ns, 10001 * US);
}

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
	/* The watch ends a little after its last walk over the threads. */
	path = find_path(scene, 1, 0, 1030);
	assert_int_equal(part_us(path, "server", PATH_CPU, PATH_ANY), 300);
	assert_int_equal(part_us(path, "server", WAIT_POLL, PATH_ANY), 730);
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

/* The serial number of the thread whose path it is, for a process with this serial number. */
static uint32_t picked_of(const struct scene *scene, uint32_t first, bool is_attached,
			  uint64_t end_us)
{
	struct critical_path path;
	uint32_t serial;

	assert_int_equal(critical_path_of_process(scene->timeline, pid_of(first), is_attached,
						  at_us(0), at_us(end_us), &path),
			 0);
	serial = (uint32_t)(path.thread.tid - pid_of(0));
	assert_int_equal(path.of_busiest, serial != first);
	critical_path_free(&path);
	return serial;
}

static uint32_t picked(const struct scene *scene, bool is_attached, uint64_t end_us)
{
	return picked_of(scene, 1, is_attached, end_us);
}

static void test_pick_thread(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	struct critical_path path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "server");
	add_thread(scene, 2, pid_of(1), 1, 0, "idle");
	add_thread(scene, 3, pid_of(1), 1, 0, "busy");
	WAITS(scene, 1, 10, 940, .reason = WAIT_CONDITION, .waker_class = WAKER_OUTSIDE);
	WAITS(scene, 2, 10, 1000, .reason = WAIT_CONDITION);
	WAITS(scene, 3, 600, 700, .reason = WAIT_CONDITION);
	assert_int_equal(picked(scene, true, 1000), 1);
	WAITS(scene, 1, 960, 1000, .reason = WAIT_CONDITION, .waker_class = WAKER_OUTSIDE);
	assert_int_equal(picked(scene, true, 1000), 3);
	assert_int_equal(
		critical_path_of_process(scene->timeline, 9, true, at_us(0), at_us(1000), &path),
		-ESRCH);
}

/* A main thread that waits for its workers is on the path: the workers are found through it. */
static void test_pick_main_thread_with_workers(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "main");
	add_thread(scene, 2, pid_of(1), 1, 0, "worker");
	WAITS(scene, 1, 0, 1000, .reason = WAIT_CHILD, BY_MEMBER(2));
	assert_int_equal(picked(scene, true, 1000), 1);
}

/* make waits for sh, and sh for sleep: neither says more than the one that does not wait for another. */
static void test_pick_goes_through_those_who_wait_for_children(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "make");
	add_thread(scene, 2, 0, 1, 0, "sh");
	add_thread(scene, 3, 0, 2, 0, "sleep");
	WAITS(scene, 1, 0, 1000, .reason = WAIT_CHILD);
	WAITS(scene, 2, 20, 1000, .reason = WAIT_CHILD);
	WAITS(scene, 3, 0, 1000, .reason = WAIT_TIMER);
	assert_int_equal(picked(scene, true, 1000), 3);
}

/* A thread that only the clock wakes keeps house, whatever little CPU time it uses. */
static void test_pick_passes_over_house_keepers(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "java");
	add_thread(scene, 2, pid_of(1), 1, 0, "main");
	add_thread(scene, 3, pid_of(1), 1, 0, "ticker");
	WAITS(scene, 1, 0, 1000, .reason = WAIT_CHILD);
	WAITS(scene, 2, 0, 1000, .reason = WAIT_CONDITION);
	WAITS(scene, 3, 0, 480, .reason = WAIT_CONDITION, .waker_class = WAKER_INTERRUPT);
	WAITS(scene, 3, 485, 1000, .reason = WAIT_CONDITION, .waker_class = WAKER_INTERRUPT);
	assert_int_equal(picked(scene, true, 1000), 2);
}

/* Two processes of a pipe: one waits for the other to read, which is stopped. */
static void test_pick_who_is_stopped(void **state)
{
	(void)state;
	for (uint32_t stopped = 2; stopped <= 3; stopped++) {
		CLEANUP(scene_free) struct scene *scene = scene_new();

		add_thread(scene, 1, 0, 0, 0, "sh");
		add_thread(scene, 2, 0, 1, 0, "one");
		add_thread(scene, 3, 0, 1, 0, "other");
		WAITS(scene, 1, 0, 1000, .reason = WAIT_CHILD);
		WAITS(scene, stopped, 0, 1000, .reason = WAIT_STOPPED);
		WAITS(scene, 5 - stopped, 0, 1000, .reason = WAIT_PIPE);
		assert_int_equal(picked(scene, true, 1000), stopped);
		assert_int_equal(picked_of(scene, 5 - stopped, true, 1000), stopped);
	}
}

/* Naps of 20 ms from the beginning on, `count` of them, and another process that waits for a disk. */
static uint32_t pick_beside_naps(uint32_t count, uint64_t nap_us, uint64_t worked_us)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	uint64_t end_us = 400000;

	add_thread(scene, 1, 0, 0, 0, "parent");
	add_thread(scene, 2, 0, 1, 0, "job");
	for (uint32_t i = 0; i < count; i++)
		WAITS(scene, 1, i * nap_us, (i + 1) * nap_us - 10, .reason = WAIT_TIMER,
		      .waker_class = WAKER_INTERRUPT);
	if (count * nap_us < end_us)
		WAITS(scene, 1, count * nap_us, end_us, .reason = WAIT_POLL);
	WAITS(scene, 2, 0, worked_us, .reason = WAIT_DISK, .waker_class = WAKER_INTERRUPT);
	WAITS(scene, 2, worked_us, end_us, .reason = WAIT_POLL);
	return picked(scene, false, end_us);
}

static void test_pick_who_works_while_the_first_naps(void **state)
{
	(void)state;
	assert_int_equal(pick_beside_naps(20, 20000, 390000), 2);
	assert_int_equal(pick_beside_naps(10, 20000, 390000), 1); /* naps are less than half */
	assert_int_equal(pick_beside_naps(11, 20000, 390000), 2);
	assert_int_equal(pick_beside_naps(20, 20000, 190000), 1); /* the other worked less */
	assert_int_equal(pick_beside_naps(3, 133000, 390000), 1); /* these are sleeps */
	assert_int_equal(pick_beside_naps(9, 40000, 390000), 1);  /* too few */
}

/* A script that runs sleep again and again until its job, which waits for a disk, is done. */
static uint32_t pick_beside_sleepers(uint32_t count, uint64_t nap_us)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();

	add_thread(scene, 1, 0, 0, 0, "sh");
	add_thread(scene, 2, 0, 1, 0, "job");
	WAITS(scene, 2, 0, count * nap_us, .reason = WAIT_DISK, .waker_class = WAKER_INTERRUPT);
	for (uint32_t i = 0; i < count; i++) {
		add_thread(scene, 3 + i, 0, 1, i * nap_us, "sleep");
		WAITS(scene, 3 + i, i * nap_us, (i + 1) * nap_us - 10, .reason = WAIT_TIMER,
		      .waker_class = WAKER_INTERRUPT);
		end_thread(scene, 3 + i, (i + 1) * nap_us - 5);
		WAITS(scene, 1, i * nap_us, (i + 1) * nap_us - 5, .reason = WAIT_CHILD, .forks = 1,
		      BY_MEMBER(3 + i));
	}
	return picked(scene, false, count * nap_us);
}

static void test_pick_who_works_while_others_nap_for_the_first(void **state)
{
	(void)state;
	assert_int_equal(pick_beside_sleepers(11, 100000), 2);
	assert_int_equal(pick_beside_sleepers(11, 1500000), 2);
	assert_int_equal(pick_beside_sleepers(11, 1500011), 1); /* these are sleeps */
	assert_int_equal(pick_beside_sleepers(9, 100000), 1);	/* too few */
}

/*
 * The first naps.  A shell waits until a time for a thread, and then for a timer; a helper waits all the
 * time for what the first hands it.
 */
static uint32_t pick_beside_shell(uint32_t waker, uint64_t waits_us)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();

	add_thread(scene, 1, 0, 0, 0, "supervisor");
	add_thread(scene, 5, pid_of(1), 1, 0, "supervisor");
	add_thread(scene, 2, 0, 1, 0, "helper");
	add_thread(scene, 3, 0, 1, 0, "sh");
	add_thread(scene, 4, 0, 3, 0, "job");
	for (uint32_t i = 0; i < 20; i++)
		WAITS(scene, 1, i * 20000, i * 20000 + 19990, .reason = WAIT_TIMER,
		      .waker_class = WAKER_INTERRUPT);
	WAITS(scene, 5, 0, 400000, .reason = WAIT_POLL);
	WAITS(scene, 2, 0, 399000, .reason = WAIT_PIPE, BY_MEMBER(5));
	WAITS(scene, 3, 0, waits_us, .reason = WAIT_CHILD, BY_MEMBER(waker));
	WAITS(scene, 3, waits_us, 400000, .reason = WAIT_TIMER);
	end_thread(scene, 4, 0);
	return picked(scene, false, 400000);
}

/* What a shell's children do is its work, though each of them is short. */
static void test_pick_who_waits_for_workers_while_the_first_naps(void **state)
{
	(void)state;
	assert_int_equal(pick_beside_shell(4, 200000), 3);
	assert_int_equal(pick_beside_shell(4, 199999), 1); /* it slept most of the time */
	assert_int_equal(pick_beside_shell(1, 390000), 1); /* it waited for the first itself */
}

/*
 * A shell waits for timeout, which waits for a signal until the end.  The shell that that started waits
 * for its children, one after the other, and sleeps from `idle_us` on.
 */
static uint32_t pick_below_timeout(uint8_t reason, uint64_t waits_us, uint64_t idle_us)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();

	add_thread(scene, 1, 0, 0, 0, "sh");
	add_thread(scene, 2, 0, 1, 0, "timeout");
	add_thread(scene, 3, 0, 2, 0, "sh");
	add_thread(scene, 4, 0, 3, 0, "first");
	add_thread(scene, 5, 0, 3, 300, "second");
	WAITS(scene, 3, 5, 300, .reason = WAIT_CHILD, BY_MEMBER(4));
	end_thread(scene, 4, 300);
	WAITS(scene, 3, 305, idle_us, .reason = WAIT_CHILD, BY_MEMBER(5));
	end_thread(scene, 5, idle_us);
	WAITS(scene, 3, idle_us, 1000, .reason = WAIT_TIMER);
	WAITS(scene, 2, 1000 - waits_us, 1000, .reason = reason, .waker_class = WAKER_INTERRUPT);
	WAITS(scene, 1, 0, 1000, .reason = WAIT_CHILD, BY_MEMBER(2));
	return picked(scene, false, 1000);
}

static void test_pick_who_is_active_while_one_waits_for_events(void **state)
{
	static const uint8_t reasons[] = { WAIT_POLL, WAIT_CHILD };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
		assert_int_equal(pick_below_timeout(reasons[i], 800, 500), 3);
		/* It also did something itself. */
		assert_int_equal(pick_below_timeout(reasons[i], 799, 500), 1);
		/* The others slept most of the time. */
		assert_int_equal(pick_below_timeout(reasons[i], 800, 499), 1);
	}
	assert_int_equal(pick_below_timeout(WAIT_TIMER, 800, 500), 1);
}

/* The first sleeps once, until the end; a thread works for so long, of its process or of another. */
static uint32_t pick_beside_sleep(int32_t pid, uint64_t sleeps_us, uint64_t works_us)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();

	add_thread(scene, 1, 0, 0, 0, "bench");
	add_thread(scene, 2, pid, 1, 0, "worker");
	WAITS(scene, 1, 1000 - sleeps_us, 1000, .reason = WAIT_TIMER,
	      .waker_class = WAKER_INTERRUPT);
	WAITS(scene, 2, works_us, 1000, .reason = WAIT_CONDITION);
	return picked(scene, false, 1000);
}

/* A main thread often only keeps the time; a job in the background is not what a shell sleeps for. */
static void test_pick_who_works_while_the_main_thread_sleeps(void **state)
{
	(void)state;
	assert_int_equal(pick_beside_sleep(pid_of(1), 800, 500), 2);
	assert_int_equal(pick_beside_sleep(pid_of(1), 799, 500), 1);
	assert_int_equal(pick_beside_sleep(pid_of(1), 800, 499), 1);
	assert_int_equal(pick_beside_sleep(0, 800, 500), 1);
}

/* The first thread waits until a millisecond; the other works for so long of it. */
static uint32_t pick_beside_reader(uint8_t reason, uint64_t from_us, uint64_t wake_us,
				   uint64_t worked_us)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();

	add_thread(scene, 1, 0, 0, 0, "parent");
	add_thread(scene, 2, 0, 1, 0, "child");
	WAITS(scene, 1, from_us, wake_us, .reason = reason);
	WAITS(scene, 2, worked_us, 1000, .reason = WAIT_TIMER);
	return picked(scene, true, 1000);
}

/* Nobody knows yet who will write what it reads. */
static void test_pick_who_works_while_the_first_reads(void **state)
{
	(void)state;
	assert_int_equal(pick_beside_reader(WAIT_PIPE, 50, 1000, 500), 2);
	assert_int_equal(pick_beside_reader(WAIT_NETWORK, 50, 1000, 500), 2);
	assert_int_equal(pick_beside_reader(WAIT_DISK, 50, 1000, 500), 1);
	assert_int_equal(pick_beside_reader(WAIT_PIPE, 51, 1000, 500), 1); /* it did more */
	assert_int_equal(pick_beside_reader(WAIT_PIPE, 20, 999, 500), 1);  /* somebody else wrote */
	assert_int_equal(pick_beside_reader(WAIT_PIPE, 50, 1000, 499), 1); /* the other slept */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pick_goes_through_those_who_wait_for_children),
		cmocka_unit_test(test_pick_passes_over_house_keepers),
		cmocka_unit_test(test_pick_who_works_while_the_first_naps),
		cmocka_unit_test(test_pick_who_is_stopped),
		cmocka_unit_test(test_pick_who_works_while_others_nap_for_the_first),
		cmocka_unit_test(test_pick_who_waits_for_workers_while_the_first_naps),
		cmocka_unit_test(test_pick_who_works_while_the_first_reads),
		cmocka_unit_test(test_pick_who_is_active_while_one_waits_for_events),
		cmocka_unit_test(test_pick_who_works_while_the_main_thread_sleeps),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_unknown_threads),
		cmocka_unit_test(test_short_times_beyond_the_time),
		cmocka_unit_test(test_after_the_end),
		cmocka_unit_test(test_thread_of_the_path_ends_early),
		cmocka_unit_test(test_main_thread_ends_before_the_others),
		cmocka_unit_test(test_attach),
		cmocka_unit_test(test_wakings_at_the_edge),
		cmocka_unit_test(test_many_parts),
		cmocka_unit_test(test_pick_thread),
		cmocka_unit_test(test_pick_main_thread_with_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
