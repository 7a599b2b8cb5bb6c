/* SPDX-License-Identifier: MIT */
/* A timeline within its bounds: steps are merged, threads are folded, texts are left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "timeline_events.h"

static uint64_t covered_ns(const struct timeline *timeline)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < timeline->steps.count; i++) {
		const struct timeline_step *step = &timeline->steps.data[i];

		ns += span_ns(step->blocked) + span_ns(step->queued) +
		      span_ns(step->before.blocked) + span_ns(step->before.queued);
	}
	for (uint32_t i = 0; i < timeline->thread_places; i++)
		ns += timeline->threads[i].rest.blocked_ns + timeline->threads[i].rest.queued_ns;
	return ns;
}

/* Steps that are merged leave their time and their forks behind. */
static void test_threshold_rises(void **state)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = make_timeline();
	const uint32_t count = TIMELINE_STEPS + 10000;
	uint64_t off_us = 0;

	(void)state;
	take_fork(timeline, 1, 0, 0);
	take_fork(timeline, 2, 1, 0);
	for (uint32_t i = 1; i <= count; i++) {
		uint64_t us = i * UINT64_C(1000), length_us = i % 10 == 0 ? 500 : 7;
		struct tree_event event = wait_event(1 + i % 2, (i + 1) / 2, us, us + length_us);

		if (i % 2 == 0)
			event.wait.sequence = i / 2;
		event.wait.forks = i == 4;
		timeline_take(timeline, &event);
		off_us += length_us;
	}
	assert_int_equal(timeline->threshold_ns, 10000);
	assert_true(timeline->steps.count < count / 9);
	assert_int_equal(timeline->lost_steps, 0);
	assert_int_equal(covered_ns(timeline), off_us * US);
	for (size_t i = 1; i < timeline->steps.count; i++)
		assert_true(timeline->steps.data[i].block_ns >
			    timeline->steps.data[i - 1].block_ns);
	/* Only every tenth is left; the fork came in one that was merged into the first of them. */
	assert_true(timeline->steps.data[0].before.forked);
	assert_false(timeline->steps.data[1].before.forked);
}

/* A lost step stays a gap, however the steps around it are merged. */
static void test_gap_is_kept(void **state)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = make_timeline();
	struct tree_event event = wait_event(1, 1, 10, 11);

	(void)state;
	take_fork(timeline, 1, 0, 0);
	timeline_take(timeline, &event);
	event = wait_event(1, 3, 20, 22);
	event.wait.threshold_ns = 100 * US;
	timeline_take(timeline, &event);
	event = wait_event(1, 4, 30, 500);
	timeline_take(timeline, &event);
	assert_int_equal(timeline->steps.count, 2);
	assert_true(timeline->steps.data[1].before.gap);
	assert_int_equal(timeline->steps.data[1].before.count, 1);
	assert_int_equal(timeline->lost_steps, 1);
}

/*
 * A shell that starts a million short programs: memory stays bounded, and each wait for one of
 * them still has its program and kind.
 */
static void test_million_forks(void **state)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = make_timeline();
	struct tree_event exec = { .type = TREE_EXEC };
	size_t folded = 0, lost = 0;

	(void)state;
	take_fork(timeline, 1, 0, 0);
	exec.exec.arguments = "/bin/true";
	exec.exec.length = 9;
	memcpy(exec.exec.comm, "true", 5);
	for (uint32_t i = 2; i < 1000000; i++) {
		uint64_t us = i * UINT64_C(500);
		struct tree_event event = wait_event(1, i - 1, us + 10, us + 400);

		take_fork(timeline, i, 1, us);
		exec.task = timeline_thread(timeline, i)->task;
		exec.time_ns = BEGIN + (us + 5) * US;
		timeline_take(timeline, &exec);
		take_end(timeline, i, us + 400);
		event.wait.reason = WAIT_CHILD;
		event.wait.waker_class = WAKER_MEMBER;
		event.wait.waker = i;
		event.wait.forks = 1;
		timeline_take(timeline, &event);
	}
	assert_int_equal(timeline->untracked_threads, 0);
	assert_int_equal(timeline->lost_steps, 0);
	assert_true(timeline->folded_threads > 980000);
	assert_true(timeline->steps.count <= TIMELINE_STEPS);
	assert_non_null(timeline_thread(timeline, 1));
	for (size_t i = 0; i < timeline->steps.count; i++) {
		const struct timeline_step *step = &timeline->steps.data[i];
		struct program_texts texts;

		if (step->waker_class == WAKER_FOLDED) {
			timeline_program(timeline, folded_program(step), &texts);
			assert_string_equal(texts.label, "true");
			assert_int_equal(folded_kind(step), PATH_CPU);
			folded++;
		} else {
			lost += !timeline_thread(timeline, step->waker);
		}
	}
	assert_int_equal(lost, 0);
	/* They were shorter than the threshold that there had to be. */
	assert_true(folded > 0 || timeline->threshold_ns > 390 * US);
}

/* What a folded thread did most of its life, and who made the threads that it made. */
static void test_fold(void **state)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = make_timeline();
	struct tree_event event;
	uint32_t serial;

	(void)state;
	take_fork(timeline, 1, 0, 0);
	take_fork(timeline, 2, 1, 10);
	take_fork(timeline, 3, 2, 20);
	event = wait_event(2, 1, 30, 900);
	event.wait.reason = WAIT_DISK;
	timeline_take(timeline, &event);
	take_end(timeline, 2, 910);
	event = wait_event(1, 1, 15, 910);
	event.wait.waker_class = WAKER_MEMBER;
	event.wait.waker = 2;
	timeline_take(timeline, &event);
	for (serial = 4; serial <= TIMELINE_THREADS + 10; serial++) {
		take_fork(timeline, serial, 3, 1000);
		take_end(timeline, serial, 1100);
		event = wait_event(3, serial - 3, 1000 + serial * UINT64_C(100),
				   1000 + serial * UINT64_C(100) + 50);
		timeline_take(timeline, &event);
	}
	assert_null(timeline_thread(timeline, 2));
	assert_int_equal(timeline_thread(timeline, 3)->creator, 1);
	for (size_t i = 0; i < timeline->steps.count; i++) {
		const struct timeline_step *step = &timeline->steps.data[i];

		if (&timeline->threads[step->thread] != timeline_thread(timeline, 1))
			continue;
		assert_int_equal(step->waker_class, WAKER_FOLDED);
		assert_int_equal(folded_kind(step), WAIT_DISK);
	}
	assert_int_equal(timeline->untracked_threads, 0);
}

/* More threads at the same time than there is room for: they are counted, others stay. */
static void test_too_many_live_threads(void **state)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = make_timeline();
	struct tree_event event = wait_event(TIMELINE_THREADS + 50, 1, 10, 20);

	(void)state;
	for (uint32_t i = 1; i <= TIMELINE_THREADS + 100; i++)
		take_fork(timeline, i, i - 1, i);
	assert_int_equal(timeline->thread_count, TIMELINE_THREADS);
	assert_int_equal(timeline->untracked_threads, 100);
	timeline_take(timeline, &event);
	assert_int_equal(timeline->lost_steps, 1);
}

/* Command lines that are all different: in the end only labels are kept, then known ones. */
static void test_texts_are_bounded(void **state)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = make_timeline();
	struct tree_event event = { .type = TREE_EXEC, .task = { 3, 3, 1 } };
	struct program_texts texts;
	char arguments[300];

	(void)state;
	take_fork(timeline, 1, 0, 0);
	event.exec.arguments = arguments;
	event.exec.length = sizeof(arguments);
	memset(arguments, 'x', sizeof(arguments));
	for (uint32_t i = 0; i < 20000; i++) {
		memcpy(arguments, "cc", 3);
		snprintf(arguments + 3, sizeof(arguments) - 3, "%010u", i);
		memset(arguments + 13, 'x', sizeof(arguments) - 13);
		event.time_ns = BEGIN + i;
		timeline_take(timeline, &event);
	}
	assert_true(timeline->text_bytes < TIMELINE_TEXT_BYTES + TIMELINE_TEXT_BYTES / 4);
	timeline_program(timeline, timeline_program_at(&timeline->processes[0], UINT64_MAX),
			 &texts);
	assert_string_equal(texts.label, "cc");
	assert_string_equal(texts.command, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threshold_rises),
		cmocka_unit_test(test_gap_is_kept),
		cmocka_unit_test(test_million_forks),
		cmocka_unit_test(test_fold),
		cmocka_unit_test(test_too_many_live_threads),
		cmocka_unit_test(test_texts_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
