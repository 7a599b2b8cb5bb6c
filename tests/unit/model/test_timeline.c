/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "model/path/timeline.h"
#include "model/tree/run.h"

#define US UINT64_C(1000)
#define BEGIN (1000000 * US)

static struct timeline *make_timeline(void)
{
	struct timeline *timeline = NULL;

	assert_int_equal(timeline_new(&timeline), 0);
	return timeline;
}

static void take_fork(struct timeline *timeline, uint32_t serial, uint32_t creator, uint64_t us)
{
	/* Numbers come again, as in a long run. */
	int32_t pid = 2 + (int32_t)(serial % 30000);
	struct tree_event event = {
		.type = TREE_FORK,
		.task = { pid, pid, serial },
		.time_ns = BEGIN + us * US,
		.fork = { .serial = serial, .creator = creator, .comm = "forked" },
	};

	timeline_take(timeline, &event);
}

static struct tree_event wait_event(uint32_t serial, uint32_t sequence, uint64_t block_us,
				    uint64_t run_us)
{
	int32_t pid = 2 + (int32_t)(serial % 30000);

	return (struct tree_event){
		.type = TREE_WAIT,
		.task = { pid, pid, serial },
		.wait = {
			.serial = serial,
			.sequence = sequence,
			.block_ns = BEGIN + block_us * US,
			.wake_ns = BEGIN + run_us * US,
			.run_ns = BEGIN + run_us * US,
			.reason = WAIT_PIPE,
		},
	};
}

static void take_end(struct timeline *timeline, uint32_t serial, uint64_t us)
{
	int32_t pid = 2 + (int32_t)(serial % 30000);
	struct tree_event event = {
		.type = TREE_THREAD,
		.task = { pid, pid, serial },
		.time_ns = BEGIN + us * US,
		.account = { .ended = true, .end_ns = BEGIN + us * US },
	};

	timeline_take(timeline, &event);
}

static void test_span(void **state)
{
	static const uint64_t exact[] = { 0, 1, 134217727, 1000000000, UINT64_C(1) << 57 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(exact); i++)
		assert_true(span_ns(span_of(exact[i])) <= exact[i] &&
			    exact[i] - span_ns(span_of(exact[i])) <= exact[i] >> 26);
	assert_int_equal(span_ns(span_of(134217727)), 134217727);
	assert_true(span_ns(span_of(UINT64_MAX)) > UINT64_C(1) << 57);
	assert_int_equal(span_add(span_of(5), UINT64_MAX), span_of(UINT64_MAX));
	assert_int_equal(span_ns(span_add(span_of(5), 7)), 12);
}

static void check_label(const char *arguments, size_t length, const char *comm, const char *label,
			const char *command)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = make_timeline();
	struct tree_event event = {
		.type = TREE_EXEC,
		.task = { 3, 3, 1 },
		.time_ns = BEGIN + 1,
		.exec = { .arguments = arguments, .length = length },
	};
	struct program_texts texts;

	snprintf(event.exec.comm, sizeof(event.exec.comm), "%s", comm);
	take_fork(timeline, 1, 0, 0);
	timeline_take(timeline, &event);
	timeline_program(timeline, timeline_program_at(&timeline->processes[0], BEGIN + 2), &texts);
	assert_string_equal(texts.label, label);
	assert_string_equal(texts.comm, comm);
	assert_string_equal(texts.command, command);
}

#define CHECK_LABEL(words, ...) check_label(words, sizeof(words) - 1, __VA_ARGS__)

static void test_labels(void **state)
{
	char wide[400];

	(void)state;
	CHECK_LABEL("/usr/bin/cc\0-c\0x y.c\0", "cc", "cc", "/usr/bin/cc -c x\\ y.c");
	CHECK_LABEL("python3.11\0-u\0/srv/run.py\0a\0", "python3.11", "python3.11 run.py",
		    "python3.11 -u /srv/run.py a");
	CHECK_LABEL("/bin/sh\0-c\0echo hello\0", "sh", "sh", "/bin/sh -c echo\\ hello");
	CHECK_LABEL("python3\0-m\0http.server\0", "python3", "python3 http.server",
		    "python3 -m http.server");
	CHECK_LABEL("java\0-jar\0/opt/app.jar\0", "java", "java app.jar", "java -jar /opt/app.jar");
	CHECK_LABEL("pythonic\0x", "pythonic", "pythonic", "pythonic x");
	CHECK_LABEL("-bash\0", "bash", "bash", "-bash");
	CHECK_LABEL("", "kworker", "kworker", "");
	CHECK_LABEL("/\0", "odd", "odd", "/");
	CHECK_LABEL("a\nb\0", "a", "a?b", "a\nb");
	memset(wide, 'w', sizeof(wide));
	wide[100] = '/';
	check_label(wide, sizeof(wide), "w",
		    "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
		    (memset(wide + 255, 0, 1), wide));
}

/* A wait that comes before the fork of its thread, and one that names a waker to come. */
static void test_events_out_of_order(void **state)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = make_timeline();
	struct tree_event event = wait_event(2, 1, 10, 20);

	(void)state;
	event.wait.waker_class = WAKER_MEMBER;
	event.wait.waker = 3;
	timeline_take(timeline, &event);
	assert_false(timeline_thread(timeline, 2)->has_begun);
	assert_null(timeline_thread(timeline, 3));
	take_fork(timeline, 2, 1, 5);
	assert_true(timeline_thread(timeline, 2)->has_begun);
	assert_int_equal(timeline_thread(timeline, 2)->creator, 1);
	assert_int_equal(timeline->thread_count, 1);
	take_fork(timeline, 3, 7, 5);
	assert_int_equal(timeline_thread(timeline, 3)->creator, 0);
	assert_int_equal(timeline_main_thread(timeline, 5), 3);
	assert_int_equal(timeline_main_thread(timeline, 6), 0);
}

/* The final sample sends a wait that is not over; when its end comes after all, that counts. */
static void test_same_sequence(void **state)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = make_timeline();
	struct tree_event event = wait_event(1, 1, 10, 20);

	(void)state;
	take_fork(timeline, 1, 0, 0);
	timeline_take(timeline, &event);
	event = wait_event(1, 1, 10, 30);
	timeline_take(timeline, &event);
	assert_int_equal(timeline->steps.count, 1);
	assert_int_equal(step_run_ns(&timeline->steps.data[0]), BEGIN + 30 * US);
	/* An older one is not taken. */
	event = wait_event(1, 0, 40, 50);
	timeline_take(timeline, &event);
	assert_int_equal(timeline->steps.count, 1);
	event = wait_event(1, 2, 25, 50);
	timeline_take(timeline, &event);
	assert_int_equal(timeline->steps.data[1].block_ns, BEGIN + 30 * US);
	assert_int_equal(timeline->lost_steps, 0);
}

/* A thread executes a program: it takes the number of the main thread, and keeps its own steps. */
static void test_exec_of_another_thread(void **state)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = make_timeline();
	struct tree_event event = { .type = TREE_FORK, .task = { 3, 9, 4 }, .time_ns = BEGIN };

	(void)state;
	take_fork(timeline, 1, 0, 0);
	event.fork.serial = 2;
	event.fork.creator = 1;
	timeline_take(timeline, &event);
	event = (struct tree_event){ .type = TREE_EXEC, .task = { 3, 3, 1 }, .time_ns = BEGIN + 5 };
	memcpy(event.exec.comm, "new", 4);
	timeline_take(timeline, &event);
	event = wait_event(2, 1, 10, 20);
	event.task = (struct task_key){ 3, 3, 1 };
	timeline_take(timeline, &event);
	assert_int_equal(timeline_thread(timeline, 2)->task.tid, 3);
	assert_int_equal(timeline_thread(timeline, 2)->process,
			 timeline_thread(timeline, 1)->process);
	/* The end of number 3 is its end now; the thread that had the number before ends too. */
	take_end(timeline, 1, 40);
	assert_int_equal(timeline_end_ns(timeline, timeline_thread(timeline, 2)), BEGIN + 40 * US);
}

/* An end that was another thread's: the thread goes on. */
static void test_step_after_the_end(void **state)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = make_timeline();
	struct tree_event event = wait_event(1, 1, 50, 60);

	(void)state;
	take_fork(timeline, 1, 0, 0);
	take_end(timeline, 1, 40);
	timeline_take(timeline, &event);
	assert_int_equal(timeline_end_ns(timeline, timeline_thread(timeline, 1)), UINT64_MAX);
	event = (struct tree_event){ .type = TREE_PROCESS,
				     .task = { 3, 3, 1 },
				     .time_ns = BEGIN + 70 * US };
	event.process.ended = true;
	timeline_take(timeline, &event);
	assert_int_equal(timeline_end_ns(timeline, timeline_thread(timeline, 1)), BEGIN + 70 * US);
}

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

static void test_run_has_a_timeline(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = NULL;
	struct tree_event event = {
		.type = TREE_FORK, .task = { 3, 3, 1 }, .time_ns = BEGIN, .fork = { .serial = 1 }
	};

	(void)state;
	assert_int_equal(run_new(&run), 0);
	assert_int_equal(run_take_event(run, &event), 0);
	assert_int_equal(timeline_new(&run->timeline), 0);
	event.fork.serial = 2;
	assert_int_equal(run_take_event(run, &event), 0);
	event = wait_event(2, 1, 10, 20);
	assert_int_equal(run_take_event(run, &event), 0);
	assert_null(timeline_thread(run->timeline, 1));
	assert_int_equal(run->timeline->steps.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_span),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_events_out_of_order),
		cmocka_unit_test(test_same_sequence),
		cmocka_unit_test(test_exec_of_another_thread),
		cmocka_unit_test(test_step_after_the_end),
		cmocka_unit_test(test_threshold_rises),
		cmocka_unit_test(test_gap_is_kept),
		cmocka_unit_test(test_million_forks),
		cmocka_unit_test(test_fold),
		cmocka_unit_test(test_too_many_live_threads),
		cmocka_unit_test(test_texts_are_bounded),
		cmocka_unit_test(test_run_has_a_timeline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
