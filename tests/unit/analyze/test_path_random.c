/* SPDX-License-Identifier: MIT */
/*
 * Critical paths of timelines that nobody wrote by hand: random ones, consistent and not, and
 * large ones.  path_scene.h checks what must hold for every path.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "path_scene.h"

#define ROUNDS 300
#define THREADS 24

static uint64_t next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

static uint64_t below(uint64_t *random, uint64_t limit)
{
	return next_random(random) % limit;
}

/*
 * Simulates threads on the way through time: at each moment some thread that runs blocks, or wakes
 * another one.  Returns the end.
 */
static uint64_t simulate(struct scene *scene, uint64_t *random)
{
	uint32_t threads = 2 + (uint32_t)below(random, THREADS - 2), begun = 1;
	uint64_t blocked_us[THREADS + 1] = { 0 }, now_us = 1;

	add_thread(scene, 1, 0, 0, 0, "t1");
	for (int i = 0; i < 2000; i++, now_us += 1 + below(random, 300)) {
		uint32_t one = 1 + (uint32_t)below(random, begun);
		uint32_t other = 1 + (uint32_t)below(random, begun);

		if (begun < threads && below(random, 10) == 0 && !blocked_us[one]) {
			begun++;
			add_thread(scene, begun, begun % 3 ? 0 : pid_of(1), one, now_us, "t");
		} else if (!blocked_us[one]) {
			blocked_us[one] = now_us;
		} else if (one != other && !blocked_us[other]) {
			take_wait(scene, blocked_us[one], now_us, now_us + below(random, 2),
				  (struct tree_wait_event){
					  .serial = one,
					  .reason = (uint8_t)below(random, WAIT_REASON_COUNT),
					  .object = 0x1000 + 64 * below(random, 4),
					  BY_MEMBER(other),
				  });
			blocked_us[one] = 0;
		} else if (below(random, 4) == 0) {
			WAITS(scene, one, blocked_us[one], now_us, .reason = WAIT_LOCK,
			      .object = 0x1000, .waker_class = WAKER_INTERRUPT);
			blocked_us[one] = 0;
		}
	}
	for (uint32_t i = 1; i <= begun; i++)
		if (blocked_us[i])
			WAITS(scene, i, blocked_us[i], now_us, .reason = WAIT_POLL, .open = true);
	return now_us;
}

static void test_consistent(void **state)
{
	uint64_t random = 88172645463325252;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		CLEANUP(scene_free) struct scene *scene = scene_new();
		uint64_t end_us = simulate(scene, &random);
		uint64_t begin_us = below(&random, end_us);
		const struct critical_path *path = find_path(scene, 1, 0, end_us);

		/* Nothing was lost, so nothing is missing. */
		assert_int_equal(path->not_seen_ns, 0);
		assert_true(path->parts.count > 0);
		find_path(scene, 1, begin_us, end_us + 10);
		find_path(scene, 2, begin_us, begin_us + 1);
	}
}

static uint64_t any_number(uint64_t *random)
{
	switch (below(random, 8)) {
	case 0:
		return UINT64_MAX - below(random, 3);
	case 1:
		return below(random, 3);
	default:
		return at_us(below(random, 5000));
	}
}

static void take_anything(struct scene *scene, uint64_t *random)
{
	int32_t pid = 1 + (int32_t)below(random, 6);
	struct tree_event event = {
		.type = TREE_WAIT,
		.task = { pid, below(random, 2) ? pid : 1 + (int32_t)below(random, 12), 0 },
		.time_ns = any_number(random),
	};

	switch (below(random, 8)) {
	case 0:
		event.type = TREE_FORK;
		event.fork.serial = (uint32_t)below(random, 12);
		event.fork.creator = (uint32_t)below(random, 12);
		event.fork.found = below(random, 2);
		break;
	case 1:
		event.type = TREE_EXEC;
		event.exec.arguments = "/x/prog\0-v";
		event.exec.length = below(random, 11);
		break;
	case 2:
		event.type = TREE_THREAD;
		event.account.ended = true;
		event.account.end_ns = any_number(random);
		break;
	case 3:
		event.type = TREE_PROCESS;
		event.process.ended = true;
		event.process.end_ns = any_number(random);
		break;
	default:
		event.wait = (struct tree_wait_event){
			.serial = (uint32_t)below(random, 12),
			.sequence = (uint32_t)below(random, 40),
			.block_ns = any_number(random),
			.wake_ns = any_number(random),
			.run_ns = any_number(random),
			.reason = (uint8_t)below(random, 20),
			.waker_class = (uint8_t)below(random, 7),
			.waker = (uint32_t)below(random, 13),
			.object = below(random, 300),
			.queued_tree_ns = any_number(random),
			.queued_outside_ns = any_number(random),
			.short_queued_ns = any_number(random),
			.short_blocked_ns = any_number(random),
			.short_count = (uint32_t)any_number(random),
			.short_reason = (uint8_t)below(random, 20),
			.forks = (uint32_t)below(random, 2),
		};
	}
	timeline_take(scene->timeline, &event);
}

static void test_contradictions(void **state)
{
	uint64_t random = 424242;

	(void)state;
	for (int round = 0; round < 5 * ROUNDS; round++) {
		CLEANUP(scene_free) struct scene *scene = scene_new();

		for (int i = 0; i < 120; i++)
			take_anything(scene, &random);
		for (uint32_t serial = 1; serial < 12; serial++)
			if (timeline_thread(scene->timeline, serial))
				find_path(scene, serial, below(&random, 1000),
					  2000 + below(&random, 4000));
	}
}

/* Each thread waits for the next one, until the last has worked: one chain of all of them. */
static void test_long_convoy(void **state)
{
	const uint32_t threads = 2000;
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	for (uint32_t i = 1; i <= threads; i++)
		add_thread(scene, i, i == 1 ? 0 : pid_of(1), i > 1 ? 1 : 0, 0, "convoy");
	for (uint32_t turn = 0; turn < 100; turn++) {
		uint64_t us = turn * 10000;

		for (uint32_t i = threads - 1; i > 0; i--)
			WAITS(scene, i, us + 10, us + 10000 - i, .reason = WAIT_LOCK,
			      .object = 0x1000, BY_MEMBER(i + 1));
	}
	path = find_path(scene, 1, 0, 1000000);
	assert_true(path_share(path, PATH_CPU, WAIT_LOCK) > 0.99);
	assert_int_equal(path->not_seen_ns, 0);
	assert_true(path_edges_per_second(path) > 190000);
}

/* More events than a timeline keeps: the threshold rises, and the answer stays. */
static void test_half_a_million_steps(void **state)
{
	CLEANUP(scene_free) struct scene *scene = scene_new();
	const struct critical_path *path;

	(void)state;
	add_thread(scene, 1, 0, 0, 0, "a");
	add_thread(scene, 2, 0, 1, 0, "b");
	for (uint32_t i = 0; i < 250000; i++) {
		uint64_t us = i * UINT64_C(40);
		bool is_long = i % 50 == 0;

		WAITS(scene, 1, us + 10, us + (is_long ? 32 : 14), .reason = WAIT_PIPE,
		      BY_MEMBER(2));
		WAITS(scene, 2, us + 20, us + 25, .reason = WAIT_DISK);
	}
	assert_true(scene->timeline->steps.count <= TIMELINE_STEPS);
	path = find_path(scene, 1, 0, 10000000);
	assert_true(path->threshold_ns >= 10000);
	assert_int_equal(path->not_seen_ns, 0);
	/* Waits take 4.36 us of every 40 us. */
	assert_true(fabs(path_share(path, PATH_CPU, PATH_DIRECT) - (1 - 4.36 / 40)) < 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_consistent),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_long_convoy),
		cmocka_unit_test(test_half_a_million_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
