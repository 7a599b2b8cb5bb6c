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
#include "model/tree/run.h"
#include "timeline_events.h"

static void test_span(void **state)
{
	static const uint64_t exact[] = { 0, 1, 134217727, 1000000000, UINT64_C(1) << 57 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(exact); i++)
		assert_true(span_ns(span_of(exact[i])) <= exact[i] &&
			    exact[i] - span_ns(span_of(exact[i])) <= exact[i] >> 26);
	assert_int_equal(span_ns(span_of(134217727)), 134217727);
	assert_true(span_ns(span_of(UINT64_MAX)) > UINT64_C(1) << 57);
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

/* Only a wait that ended shows that this kernel does not say who ends them. */
static void test_wakers_that_are_not_known(void **state)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = make_timeline();
	struct tree_event pushed_off = wait_event(1, 1, 10, 20);
	struct tree_event wait = wait_event(1, 2, 30, 40);

	(void)state;
	take_fork(timeline, 1, 0, 0);
	pushed_off.wait.wake_ns = pushed_off.wait.block_ns;
	pushed_off.wait.waker_class = wait.wait.waker_class = WAKER_UNKNOWN;
	timeline_take(timeline, &pushed_off);
	assert_false(timeline->lacks_wakers);
	wait.wait.open = true;
	timeline_take(timeline, &wait);
	assert_false(timeline->lacks_wakers);
	wait.wait.open = false;
	timeline_take(timeline, &wait);
	assert_true(timeline->lacks_wakers);
	assert_false(timeline->knows_wakers);
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
		cmocka_unit_test(test_wakers_that_are_not_known),
		cmocka_unit_test(test_same_sequence),
		cmocka_unit_test(test_exec_of_another_thread),
		cmocka_unit_test(test_step_after_the_end),
		cmocka_unit_test(test_run_has_a_timeline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
