/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_watch.h"

/* The command is a child of ours, and signals come from a pipe. */
static void start_command(struct setting *setting, int ends[2])
{
	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	setting->watch.run->mode = RUN_COMMAND;
	setting->watch.signals.fd = ends[0];
	setting->watch.command.launch.pid = fork();
	if (setting->watch.command.launch.pid == 0)
		for (;;)
			pause();
}

/* What the command ended by: SIGKILL is ours. */
static int end_command(struct setting *setting, int ends[2])
{
	int status;

	kill(setting->watch.command.launch.pid, SIGKILL);
	assert_int_equal(waitpid(setting->watch.command.launch.pid, &status, 0),
			 setting->watch.command.launch.pid);
	close(ends[0]);
	close(ends[1]);
	return WTERMSIG(status);
}

static int ended_by(struct setting *setting, int32_t sender)
{
	int ends[2];

	start_command(setting, ends);
	send_signal(ends[1], sender);
	watch_drain(&setting->watch);
	return end_command(setting, ends);
}

static void a_signal_of_the_tree_is_not_sent_back_but_one_of_a_later_number_is(void **state)
{
	struct setting setting = { 0 };
	struct tree_event end = { .type = TREE_PROCESS,
				  .task = { PID, PID, 1 },
				  .process = { .ended = true } };

	(void)state;
	attach(&setting);
	assert_int_equal(ended_by(&setting, PID + 1), SIGTERM);
	assert_int_equal(ended_by(&setting, PID), SIGKILL);
	end.time_ns = end.process.end_ns = monotonic_ns();
	assert_int_equal(tree_apply(setting.watch.run->tree, &end), 0);
	assert_int_equal(ended_by(&setting, PID), SIGKILL); /* it may have been its last deed */
	assert_int_equal(ended_by(&setting, PID), SIGTERM);
	detach(&setting);
}

/* It ends the watching then, and is for nobody else. */
static void a_signal_ends_what_is_attached_or_outlived_its_command(void **state)
{
	static const struct {
		bool is_attached, has_ended, is_ignored;
		bool interrupts;
	} cases[] = {
		{ true, false, false, true },
		{ false, true, false, true },
		{ true, false, true, false },
		{ false, false, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct setting setting = { 0 };
		struct signalfd_siginfo info = { .ssi_signo = SIGHUP, .ssi_pid = LATE_PID };
		int ends[2];

		attach(&setting);
		start_command(&setting, ends);
		if (cases[i].is_attached)
			setting.watch.run->mode = RUN_ATTACH;
		setting.watch.command.ended = cases[i].has_ended;
		signal(SIGHUP, cases[i].is_ignored ? SIG_IGN : SIG_DFL);
		assert_int_equal(write(ends[1], &info, sizeof(info)), sizeof(info));
		watch_drain(&setting.watch);
		signal(SIGHUP, SIG_DFL);
		assert_int_equal(setting.watch.signals.interrupted, cases[i].interrupts);
		assert_int_equal(setting.watch.loop.is_stopped, cases[i].interrupts);
		assert_int_equal(end_command(&setting, ends),
				 cases[i].is_attached || cases[i].has_ended ? SIGKILL : SIGHUP);
		detach(&setting);
	}
}

/* Only a command that still runs is asked to end, too. */
static void a_time_limit_ends_what_is_attached_or_outlived_its_command(void **state)
{
	static const struct {
		bool is_attached, has_ended, is_late, stops;
	} cases[] = {
		{ true, false, true, true },
		{ false, true, false, true },
		{ false, false, true, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct setting setting = { 0 };
		struct watch_command *command = &setting.watch.command;
		int ends[2];

		attach(&setting);
		start_command(&setting, ends);
		if (cases[i].is_attached)
			setting.watch.run->mode = RUN_ATTACH;
		command->ended = cases[i].has_ended;
		command->limit.due(command->limit.context);
		assert_int_equal(command->timed_out, cases[i].is_late);
		assert_int_equal(setting.watch.loop.is_stopped, cases[i].stops);
		assert_int_equal(command->kill.deadline_ns == LOOP_NEVER, cases[i].stops);
		assert_int_equal(end_command(&setting, ends), cases[i].stops ? SIGKILL : SIGTERM);
		command->launch.pid = -1;
		detach(&setting);
	}
}

static void a_command_that_has_ended_ends_the_watching(void **state)
{
	struct setting setting = { 0 }; /* one that it left lives on */

	(void)state;
	attach(&setting);
	setting.watch.run->mode = RUN_COMMAND;
	setting.watch.command.ended = true;
	watch_loop(&setting.watch);
	assert_false(setting.watch.command.timed_out);
	assert_true(setting.watch.run->end_ns >= setting.watch.begin_ns);
	detach(&setting);
}

/* The events that were read before it arrived may lack its sender's begin. */
static void a_signal_is_judged_by_what_was_read_after_it_arrived(void **state)
{
	struct setting setting = { 0 };
	int ends[2];

	(void)state;
	attach(&setting);
	start_command(&setting, ends);
	setting.fake.signal_fd = ends[1];
	watch_drain(&setting.watch);
	assert_int_equal(end_command(&setting, ends), SIGKILL);
	detach(&setting);
}

static void a_sender_that_has_ended_is_known_until_its_signal_is_judged(void **state)
{
	struct setting setting = { 0 };
	struct tree_event events[] = {
		{ .type = TREE_FORK, .fork = { .parent_pid = PID } },
		{ .type = TREE_THREAD, .account = { .ended = true } },
		{ .type = TREE_PROCESS, .process = { .ended = true } },
	};
	int ends[2];

	(void)state;
	attach(&setting);
	start_command(&setting, ends);
	send_signal(ends[1], LATE_PID);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		events[i].task = (struct task_key){ LATE_PID, LATE_PID, 2 };
		events[i].time_ns = monotonic_ns();
		assert_int_equal(tree_apply(setting.watch.run->tree, &events[i]), 0);
	}
	watch_sample(&setting.watch, TRACER_SAMPLE);
	assert_null(tree_find(setting.watch.run->tree, LATE_PID));
	watch_drain(&setting.watch);
	assert_int_equal(end_command(&setting, ends), SIGKILL);
	detach(&setting);
}

static void a_look_that_failed_does_not_say_that_nobody_is_left(void **state)
{
	struct setting setting = { .fake = { .sample_status = -EMFILE } };

	(void)state;
	attach(&setting);
	watch_sample(&setting.watch, TRACER_SAMPLE);
	assert_false(setting.watch.loop.is_stopped);
	assert_int_equal(setting.watch.samples.failures.all, 1);
	assert_int_equal(setting.watch.run->sampling.samples, 0);
	detach(&setting);
}

static void a_look_that_finds_nobody_ends_the_watching(void **state)
{
	struct setting setting = { .fake = { .is_empty = true } };

	(void)state;
	attach(&setting);
	watch_loop(&setting.watch);
	assert_false(setting.watch.command.timed_out);
	assert_int_equal(setting.fake.samples, 1);
	assert_int_equal(setting.watch.failure, 0);
	detach(&setting);
}

static void many_failed_looks_in_a_row_detach(void **state)
{
	struct setting setting = { .fake = { .sample_status = -EMFILE } };

	(void)state;
	attach(&setting);
	watch_loop(&setting.watch);
	assert_false(setting.watch.command.timed_out);
	assert_int_equal(setting.watch.failure, -EMFILE);
	assert_int_equal(setting.watch.samples.failures.all, WATCH_FAILURES_MOST);
	detach(&setting);
}

static void looks_that_work_again_are_no_failure(void **state)
{
	struct setting setting = {
		.fake = { .sample_status = -ENOMEM, .fails = WATCH_FAILURES_MOST - 1 },
	};

	(void)state;
	attach(&setting);
	for (int i = 0; i < WATCH_FAILURES_MOST; i++)
		watch_sample(&setting.watch, TRACER_SAMPLE);
	assert_false(setting.watch.loop.is_stopped);
	assert_int_equal(setting.watch.failure, 0);
	assert_int_equal(setting.watch.samples.failures.all, WATCH_FAILURES_MOST - 1);
	assert_int_equal(setting.watch.samples.failures.in_a_row, 0);
	assert_int_equal(setting.watch.run->sampling.samples, 1);
	detach(&setting);
}

static void events_that_cannot_be_taken_detach_too(void **state)
{
	struct setting setting = { .fake = { .drain_status = -EBADF } };

	(void)state;
	attach(&setting);
	watch_loop(&setting.watch);
	assert_false(setting.watch.command.timed_out);
	assert_int_equal(setting.watch.failure, -EBADF);
	assert_int_equal(setting.watch.events.failures.all, WATCH_FAILURES_MOST);
	detach(&setting);
}

static void a_command_is_waited_for_however_many_looks_fail(void **state)
{
	struct setting setting = { .fake = { .sample_status = -EMFILE } };

	(void)state;
	attach(&setting);
	setting.watch.run->mode = RUN_COMMAND;
	for (int i = 0; i < 3 * WATCH_FAILURES_MOST; i++)
		watch_sample(&setting.watch, TRACER_SAMPLE);
	assert_false(setting.watch.loop.is_stopped);
	assert_int_equal(setting.watch.failure, -EMFILE);
	/* What works again in time was a loss, but no failure. */
	setting.fake.sample_status = 0;
	watch_sample(&setting.watch, TRACER_SAMPLE);
	assert_int_equal(setting.watch.failure, 0);
	assert_int_equal(setting.watch.samples.failures.all, 3 * WATCH_FAILURES_MOST);
	detach(&setting);
}

static void members_stay_when_a_look_after_lost_events_failed(void **state)
{
	struct setting setting = { .fake = { .sample_status = -EMFILE, .fails = 1, .lost = 5 } };

	(void)state;
	attach(&setting);
	watch_sample(&setting.watch, TRACER_SAMPLE);
	assert_int_equal(setting.watch.run->tree->live_processes, 1);
	/* The next one that works closes those that it does not see. */
	setting.fake.is_empty = true;
	watch_sample(&setting.watch, TRACER_SAMPLE);
	assert_int_equal(setting.watch.run->tree->live_processes, 0);
	detach(&setting);
}

static void a_loss_closes_only_those_that_the_next_look_does_not_see(void **state)
{
	struct setting setting = { .fake = { .lost = 5 } };

	(void)state;
	attach(&setting);
	watch_sample(&setting.watch, TRACER_SAMPLE);
	assert_int_equal(setting.watch.run->tree->live_processes, 1);
	/* Nothing more was lost: an event would have said that it ended. */
	setting.fake.is_empty = true;
	watch_sample(&setting.watch, TRACER_SAMPLE);
	assert_int_equal(setting.watch.run->tree->live_processes, 1);
	setting.fake.lost++;
	watch_sample(&setting.watch, TRACER_SAMPLE);
	assert_int_equal(setting.watch.run->tree->live_processes, 0);
	detach(&setting);
}

static void the_descriptor_of_a_tracer_that_misses_nothing_is_heard(void **state)
{
	struct setting setting = { 0 };
	int ends[2];

	(void)state;
	attach(&setting);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	setting.fake.drain_status = -EBADF;
	assert_int_equal(
		loop_add_fd(&setting.watch.loop, &setting.watch.events.ready, ends[0], EPOLLIN), 0);
	/* By time alone it would be asked when all is over. */
	setting.watch.events.due.deadline_ns = LOOP_NEVER;
	setting.watch.events.pause_ns = 3600 * NS_PER_SECOND;
	setting.watch.samples.due.deadline_ns = LOOP_NEVER;
	watch_loop(&setting.watch);
	assert_false(setting.watch.command.timed_out);
	assert_int_equal(setting.watch.failure, -EBADF);
	close(ends[0]);
	close(ends[1]);
	detach(&setting);
}

/* poll() would refuse to wait then. */
static void a_limit_on_descriptors_does_not_keep_it_from_waiting(void **state)
{
	struct setting setting = { .fake = { .is_empty = true } };
	struct rlimit before, few;

	(void)state;
	attach(&setting);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	watch_loop(&setting.watch);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(setting.watch.failure, 0);
	assert_int_equal(setting.fake.samples, 1);
	detach(&setting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_signal_of_the_tree_is_not_sent_back_but_one_of_a_later_number_is),
		cmocka_unit_test(a_signal_ends_what_is_attached_or_outlived_its_command),
		cmocka_unit_test(a_time_limit_ends_what_is_attached_or_outlived_its_command),
		cmocka_unit_test(a_command_that_has_ended_ends_the_watching),
		cmocka_unit_test(a_signal_is_judged_by_what_was_read_after_it_arrived),
		cmocka_unit_test(a_sender_that_has_ended_is_known_until_its_signal_is_judged),
		cmocka_unit_test(a_look_that_failed_does_not_say_that_nobody_is_left),
		cmocka_unit_test(a_look_that_finds_nobody_ends_the_watching),
		cmocka_unit_test(many_failed_looks_in_a_row_detach),
		cmocka_unit_test(looks_that_work_again_are_no_failure),
		cmocka_unit_test(events_that_cannot_be_taken_detach_too),
		cmocka_unit_test(a_command_is_waited_for_however_many_looks_fail),
		cmocka_unit_test(members_stay_when_a_look_after_lost_events_failed),
		cmocka_unit_test(a_loss_closes_only_those_that_the_next_look_does_not_see),
		cmocka_unit_test(the_descriptor_of_a_tracer_that_misses_nothing_is_heard),
		cmocka_unit_test(a_limit_on_descriptors_does_not_keep_it_from_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
