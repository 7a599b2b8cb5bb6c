/* SPDX-License-Identifier: MIT */
/* The sentence that answers why, from what was seen; and what needs no watching. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/host.h"
#include "session/why/why.h"

#define PID 50
#define SECOND UINT64_C(1000000000)

/* Two threads, the leader second: it did less. */
struct scene {
	struct why why;
	struct why_thread threads[2];
	struct task_state before[2], after[2];
};

static void sleeping_process(struct scene *scene)
{
	struct process_state found = {
		.pid = PID, .state = 'S', .parent_pid = 40, .thread_count = 2
	};

	*scene = (struct scene){ .why = { .watched_ns = SECOND } };
	memcpy(found.parent_comm, "sh\033[1m", 7);
	scene->why.before = scene->why.after = found;
	for (int i = 0; i < 2; i++) {
		struct task_state thread = { .tid = PID + 1 - i, .state = 'S' };

		memcpy(thread.channel, "futex_wait", 11);
		scene->before[i] = scene->after[i] = thread;
		scene->threads[i] = (struct why_thread){ .tid = thread.tid,
							 .state = 'S',
							 .reason = -1,
							 .comm = "worker",
							 .found = &scene->after[i] };
	}
	scene->why.before.threads.data = scene->before;
	scene->why.after.threads.data = scene->after;
	scene->why.before.threads.count = scene->why.after.threads.count = 2;
	scene->why.threads.data = scene->threads;
	scene->why.threads.count = 2;
}

static void set_state(struct scene *scene, char state)
{
	scene->why.before.state = scene->why.after.state = state;
	for (int i = 0; i < 2; i++)
		scene->before[i].state = scene->after[i].state = scene->threads[i].state = state;
}

static void set_cause(struct scene *scene, enum run_cause cause)
{
	scene->why.judged = true;
	scene->why.diagnosis.verdict.cause = cause;
}

static void expect(struct scene *scene, const char *answer)
{
	why_answer(&scene->why);
	assert_string_equal(scene->why.answer, answer);
}

static void a_zombie_waits_for_its_parent(void **state)
{
	struct scene scene;

	(void)state;
	sleeping_process(&scene);
	set_state(&scene, 'Z');
	scene.why.before.is_dead = scene.why.after.is_dead = true;
	scene.why.has_status = true;
	scene.why.status = W_EXITCODE(3, 0);
	expect(&scene, "it is dead, ended with exit code 3, and waits for its parent 40 "
		       "(sh\\x1b[1m) to reap it");
	scene.why.status = W_EXITCODE(0, SIGKILL);
	scene.why.after.parent_comm[0] = '\0';
	expect(&scene, "it is dead, ended by SIGKILL, and waits for its parent 40 to reap it");
	scene.why.has_status = false;
	expect(&scene, "it is dead, ended, and waits for its parent 40 to reap it");
	/* Alive at the first look. */
	scene.why.before.is_dead = false;
	expect(&scene, "it ended while it was watched");
}

static void one_that_is_gone_ended_while_it_was_watched(void **state)
{
	struct scene scene;

	(void)state;
	sleeping_process(&scene);
	scene.why.after = (struct process_state){ 0 };
	scene.why.threads.count = 0;
	expect(&scene, "it is sleeping");
	scene.why.ended = true;
	expect(&scene, "it ended while it was watched");
}

static void a_kernel_thread_tells_its_time_and_its_place(void **state)
{
	struct scene scene;

	(void)state;
	sleeping_process(&scene);
	set_state(&scene, 'I');
	scene.why.before.is_kernel_thread = true;
	expect(&scene, "it is a kernel thread, waits in futex_wait");
	amounts_set(&scene.threads[1].amounts, AMOUNT_run_time_ns, SECOND / 8);
	scene.after[1].channel[0] = '\0';
	expect(&scene, "it is a kernel thread, 12.5 % of a CPU over 1.00 s");
	scene.why.watched_ns = 0;
	expect(&scene, "it is a kernel thread");
}

static void a_stopped_one_names_its_debugger(void **state)
{
	struct scene scene;

	(void)state;
	sleeping_process(&scene);
	set_state(&scene, 'T');
	expect(&scene, "it is stopped by a signal; SIGCONT lets it go on");
	scene.why.after.tracer_pid = 60;
	memcpy(scene.why.after.tracer_comm, "gdb", 4);
	expect(&scene, "it is stopped by a debugger, 60 (gdb)");
	set_state(&scene, 't');
	expect(&scene, "it is stopped by a debugger, 60 (gdb)");
}

static void one_whose_leader_ended_is_what_the_others_are(void **state)
{
	struct scene scene;

	(void)state;
	sleeping_process(&scene);
	set_state(&scene, 'T');
	scene.why.after.state = scene.after[1].state = scene.threads[1].state = 'Z';
	expect(&scene, "it is stopped by a signal; SIGCONT lets it go on");
}

static void a_thread_is_stuck_when_it_did_nothing_at_one_place(void **state)
{
	struct scene scene;

	(void)state;
	sleeping_process(&scene);
	scene.before[0].state = scene.after[0].state = scene.threads[0].state = 'D';
	expect(&scene,
	       "thread 51 is in uninterruptible sleep, waits in futex_wait, for at least 1.00 s");
	memcpy(scene.threads[0].call, "read", 5);
	scene.threads[0].has_since = true;
	scene.threads[0].since_ns = 3 * SECOND;
	expect(&scene,
	       "thread 51 is in uninterruptible sleep, waits in futex_wait called by read, for 3.00 s");
	/* It ran, was elsewhere, was not in that state, or was not there. */
	amounts_set(&scene.threads[0].amounts, AMOUNT_run_time_ns, SECOND / 100);
	expect(&scene, "it is sleeping, 1.00 % of a CPU over 1.00 s, waits in futex_wait");
	amounts_set(&scene.threads[0].amounts, AMOUNT_run_time_ns, SECOND / 100 - 1);
	scene.before[0].channel[0] = 'x';
	expect(&scene, "it is sleeping, 1.00 % of a CPU over 1.00 s, waits in futex_wait");
	scene.before[0].channel[0] = 'f';
	scene.before[0].state = 'S';
	expect(&scene, "it is sleeping, 1.00 % of a CPU over 1.00 s, waits in futex_wait");
	scene.before[0].state = 'D';
	scene.before[0].tid = 99;
	expect(&scene, "it is sleeping, 1.00 % of a CPU over 1.00 s, waits in futex_wait");
}

static void a_busy_one_names_its_busiest_thread(void **state)
{
	struct scene scene;

	(void)state;
	sleeping_process(&scene);
	set_cause(&scene, CAUSE_CPU);
	expect(&scene, "it is computing");
	amounts_set(&scene.threads[0].amounts, AMOUNT_run_time_ns, SECOND / 2);
	expect(&scene,
	       "it is computing; most of all thread 51 (worker), 50.0 % of a CPU over 1.00 s");
	set_cause(&scene, CAUSE_TINY_IO);
	expect(&scene,
	       "it is reading and writing a few bytes at a time; most of all thread 51 (worker), 50.0 % of a CPU over 1.00 s");
	scene.why.threads.count = 0;
	expect(&scene, "it is reading and writing a few bytes at a time");
}

static void a_waiting_one_tells_where_how_long_and_who_wakes_it(void **state)
{
	struct scene scene;

	(void)state;
	sleeping_process(&scene);
	set_cause(&scene, CAUSE_PIPE);
	memcpy(scene.threads[1].call, "read", 5);
	expect(&scene, "it is waiting for the other end of pipes");
	scene.threads[1].reason = WAIT_PIPE;
	scene.threads[1].object.kind = "pipe";
	memcpy(scene.threads[1].object.name, "pipe:[9]", 9);
	expect(&scene, "it is waiting for the other end of pipes, in read of pipe:[9]");
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++) {
		scene.threads[1].reason = reason;
		expect(&scene, "it is waiting for the other end of pipes, in read of pipe:[9]");
	}
	scene.threads[1].has_since = scene.threads[1].at_least = true;
	scene.threads[1].since_ns = 2 * SECOND;
	scene.threads[1].has_waker = true;
	scene.threads[1].waker = (struct tree_waker){ .waker_tid = 7, .waker_comm = "cat" };
	expect(&scene,
	       "it is waiting for the other end of pipes, in read of pipe:[9], for at least 2.00 s, woken by cat (7)");
	scene.threads[1].waker.waker_tid = 0; /* an interrupt */
	expect(&scene,
	       "it is waiting for the other end of pipes, in read of pipe:[9], for at least 2.00 s");
}

static struct wait_member member(int32_t pid, int32_t tid, const char *comm, int32_t holder)
{
	struct wait_member made = { .who = { .pid = pid, .tid = tid },
				    .object = { .kind = "mutex",
						.name = "0x10",
						.address = 16,
						.reason = WAIT_LOCK,
						.has_holder = true,
						.holder = { pid, holder, "x" } } };

	snprintf(made.who.comm, sizeof(made.who.comm), "%s", comm);
	return made;
}

static void a_deadlock_comes_before_what_was_measured(void **state)
{
	struct scene scene;
	struct wait_deadlock *deadlock = &scene.why.deadlock;

	(void)state;
	sleeping_process(&scene);
	set_cause(&scene, CAUSE_POLL);
	scene.why.by_children = true;
	deadlock->members[0] = member(PID, PID, "a\033", PID + 1);
	deadlock->members[1] = member(PID, PID + 1, "b", PID);
	deadlock->count = 2;
	scene.threads[1].has_since = true;
	scene.threads[1].since_ns = SECOND;
	why_judge_waits(&scene.why);
	expect(&scene, "it is deadlocked: 2 threads wait for each other, for 1.00 s");
	assert_int_equal(scene.why.diagnosis.verdict.cause, CAUSE_DEADLOCK);
	assert_int_equal(scene.why.diagnosis.verdict.evidence_count, 2);
	assert_string_equal(scene.why.diagnosis.verdict.evidence[0],
			    "thread 50 (a\\x1b) waits for mutex 0x10 held by x (51)");
	assert_false(scene.why.by_children);
	deadlock->count = 1;
	deadlock->members[0] = member(PID, PID + 1, "b", PID + 1);
	expect(&scene, "it is deadlocked: a thread waits for itself");
	deadlock->members[0] = member(99, 99, "b", 99);
	expect(&scene, "it waits for a deadlock of others: a thread waits for itself");
	/* Not more than a verdict has room for. */
	for (size_t i = 0; i < WAIT_CYCLE_MAX; i++)
		deadlock->members[i] = member(PID, PID, "a", PID);
	deadlock->count = WAIT_CYCLE_MAX;
	why_judge_waits(&scene.why);
	assert_int_equal(scene.why.diagnosis.verdict.evidence_count, DIAGNOSIS_EVIDENCE_MAX);
}

/* Two threads that wait for one condition with a limit, and wake each other. */
static void taking_turns(struct scene *scene)
{
	sleeping_process(scene);
	for (int i = 0; i < 2; i++) {
		struct why_thread *thread = &scene->threads[i];

		thread->reason = WAIT_CONDITION;
		thread->giver_tid = scene->threads[1 - i].tid;
		thread->object = (struct wait_object){ .kind = "condition",
						       .address = 4096 + 4 * (unsigned)i,
						       .reason = WAIT_CONDITION,
						       .is_timed = true };
	}
}

static void threads_that_take_turns_wait_for_a_lock(void **state)
{
	struct scene scene;

	(void)state;
	taking_turns(&scene);
	why_judge_waits(&scene.why);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(scene.threads[i].reason, WAIT_LOCK);
		assert_int_equal(scene.threads[i].object.holder.tid, scene.threads[1 - i].tid);
	}
	/* The holder runs. */
	taking_turns(&scene);
	scene.threads[0].state = 'R';
	scene.threads[0].object = (struct wait_object){ .reason = -1 };
	why_judge_waits(&scene.why);
	assert_int_equal(scene.threads[1].reason, WAIT_LOCK);
}

static void workers_with_a_time_limit_wait_for_work(void **state)
{
	struct scene scene;

	(void)state;
	/* The thread that wakes it waits for something else. */
	taking_turns(&scene);
	scene.threads[0].object.address += 200;
	why_judge_waits(&scene.why);
	assert_int_equal(scene.threads[1].reason, WAIT_CONDITION);
	/* It is never woken by another thread itself. */
	taking_turns(&scene);
	scene.threads[0].giver_tid = 0;
	why_judge_waits(&scene.why);
	assert_int_equal(scene.threads[1].reason, WAIT_CONDITION);
	/* There is no limit. */
	taking_turns(&scene);
	scene.threads[1].object.is_timed = false;
	why_judge_waits(&scene.why);
	assert_int_equal(scene.threads[1].reason, WAIT_CONDITION);
}

static void what_was_not_judged_is_told_as_it_stands(void **state)
{
	struct scene scene;

	(void)state;
	sleeping_process(&scene);
	set_cause(&scene, CAUSE_NONE);
	scene.threads[1].reason = WAIT_POLL;
	expect(&scene, "it is sleeping, waits for: poll, waits in futex_wait");
	/* The time of the whole process: the table below has that of each thread. */
	amounts_set(&scene.threads[0].amounts, AMOUNT_run_time_ns, SECOND / 4);
	amounts_set(&scene.threads[1].amounts, AMOUNT_run_time_ns, 0);
	expect(&scene,
	       "it is sleeping, 25.0 % of a CPU over 1.00 s, waits for: poll, waits in futex_wait");
	scene.threads[0].amounts = scene.threads[1].amounts = (struct amounts){ 0 };
	memcpy(scene.threads[1].call, "poll", 5);
	expect(&scene, "it is sleeping, waits for: poll, in poll");
	scene.why.judged = false;
	scene.why.diagnosis.verdict.cause = CAUSE_CPU;
	scene.threads[1].reason = WAIT_LOCK; /* the first of the reasons is one, too */
	set_state(&scene, '?');
	scene.threads[1].call[0] = scene.after[1].channel[0] = '\0';
	expect(&scene, "it is in a state that is not known, waits for: lock");
	scene.threads[1].reason = -1;
	expect(&scene, "it is in a state that is not known");
}

static void one_that_waits_for_its_children_names_the_busiest(void **state)
{
	struct tree_process own = { .key = { PID, PID, 1 }, .comm = "make" };
	struct tree_process quiet = { .key = { 61, 61, 1 }, .comm = "sleep" };
	struct tree_process busy = { .key = { 62, 62, 1 }, .comm = "cc" };
	struct tree_process *all[] = { &own, &quiet, &busy };
	struct tree tree = { .all = all, .count = 3 };
	struct run run = { .tree = &tree };
	struct scene scene;

	(void)state;
	amounts_set(&own.amounts, AMOUNT_run_time_ns, 9);
	amounts_set(&busy.amounts, AMOUNT_run_time_ns, 5);
	sleeping_process(&scene);
	set_cause(&scene, CAUSE_CPU);
	scene.why.run = &run;
	scene.why.by_children = true;
	expect(&scene, "it waits for its children, which are computing; the busiest is cc (62)");
	set_cause(&scene, CAUSE_NONE);
	expect(&scene, "it waits for its children; the busiest is cc (62)");
	tree.count = 1;
	expect(&scene, "it is sleeping, waits in futex_wait");
}

static void a_dead_child_is_answered_for_at_once(void **state)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	CLEANUP(why_free_pointer) struct why *why = NULL;
	struct error error = { 0 };
	siginfo_t info;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (child == 0)
		_exit(3);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(host_open(&host, NULL, &error), 0);
	assert_int_equal(
		why_ask(host, child, &(struct why_options){ 3600 * SECOND, false }, &why, &error),
		0);
	assert_non_null(strstr(why->answer, "it is dead, ended with exit code 3, and waits for"));
	assert_int_equal(why->after.parent_pid, getpid());
	assert_true(why->has_status);
	assert_false(why->ended);
	assert_false(why->judged);
	assert_int_equal(why->threads.count, 1);
	assert_int_equal(waitpid(child, NULL, 0), child);
	why_free(why);
	why = NULL;
	assert_int_equal(why_ask(host, child, &(struct why_options){ 0 }, &why, &error), -ESRCH);
	assert_null(why);
	assert_true(error.message[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_zombie_waits_for_its_parent),
		cmocka_unit_test(one_that_is_gone_ended_while_it_was_watched),
		cmocka_unit_test(a_kernel_thread_tells_its_time_and_its_place),
		cmocka_unit_test(a_stopped_one_names_its_debugger),
		cmocka_unit_test(one_whose_leader_ended_is_what_the_others_are),
		cmocka_unit_test(a_thread_is_stuck_when_it_did_nothing_at_one_place),
		cmocka_unit_test(a_busy_one_names_its_busiest_thread),
		cmocka_unit_test(a_waiting_one_tells_where_how_long_and_who_wakes_it),
		cmocka_unit_test(a_deadlock_comes_before_what_was_measured),
		cmocka_unit_test(threads_that_take_turns_wait_for_a_lock),
		cmocka_unit_test(workers_with_a_time_limit_wait_for_work),
		cmocka_unit_test(what_was_not_judged_is_told_as_it_stands),
		cmocka_unit_test(one_that_waits_for_its_children_names_the_busiest),
		cmocka_unit_test(a_dead_child_is_answered_for_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
