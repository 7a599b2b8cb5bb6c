/* SPDX-License-Identifier: MIT */
/* What a watch leaves behind: lines, counted losses, and how it ended. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "scarce_memory.h"

#include "base/collection/array.h"
#include "base/error.h"
#include "fake_watch.h"
#include "host/host.h"
#include "host/proc/task_text.h"

#define CHILD (PID + 1)
#define NOBODYS (1 << 23)
#define EXITED_3 0x300

static void attach_here(struct setting *setting)
{
	struct error error = { 0 };

	attach(setting);
	assert_int_equal(host_open(&setting->watch.host, NULL, &error), 0);
	assert_int_equal(
		phases_begin(&setting->watch.phases, setting->watch.host, NULL, setting->watch.run),
		0);
	assert_int_equal(limits_begin(&setting->watch.limits, setting->watch.host, -1), 0);
}

/* A command that is no child of ours: its end is told. */
static void command(struct setting *setting, int32_t pid)
{
	attach_here(setting);
	setting->watch.run->mode = RUN_COMMAND;
	setting->watch.run->pid = pid;
	setting->watch.run->begin_ns = monotonic_ns();
	setting->watch.command.launch.pid = pid;
}

/* Closes it, but waits for no command. */
static void done(struct setting *setting)
{
	setting->watch.command.launch.pid = -1;
	detach(setting);
}

static void end_now(struct watch *watch, int status)
{
	watch->command.ended = true;
	watch->command.status = status;
	watch->command.end_ns = monotonic_ns();
}

static void every_loss_is_counted_once(void **state)
{
	struct setting setting = { .fake = { .lost = 5, .drain_status = -EBADF } };
	const struct run_losses *losses;

	(void)state;
	attach_here(&setting);
	setting.watch.events.unapplied = 2;
	setting.watch.run->tree->unaccounted_threads = 3;
	setting.watch.run->tree->untracked = 4;
	setting.watch.run->tree->dropped_wakers = 7;
	setting.watch.output.lines.lost = 6;
	setting.watch.samples.failures.all = 20;
	assert_int_equal(watch_finish(&setting.watch), 0);
	losses = &setting.watch.run->losses;
	assert_int_equal(losses->events, 5 + 2);
	assert_int_equal(losses->threads, 3 + 1); /* the one that still lives */
	assert_int_equal(losses->untracked_tasks, 4);
	assert_int_equal(losses->wakers, 7);
	assert_int_equal(losses->lines, 6);
	assert_true(losses->tracer_failures.present);
	assert_int_equal(losses->tracer_failures.value, 20 + setting.fake.drains);
	assert_true(setting.fake.drains >= 2);
	detach(&setting);
}

static uint64_t own_start_ns(const struct host *host)
{
	char path[32], buffer[TASK_STAT_BYTES];
	struct task_stat stat;
	uint64_t ticks;

	snprintf(path, sizeof(path), "%d/stat", getpid());
	assert_int_equal(task_stat_read(host->proc, path, buffer, &stat), 0);
	assert_true(task_stat_number(&stat, TASK_STAT_START, &ticks));
	return ticks * (NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Of this very process, which made a thread before, its living thread is said to have had one fault. */
static void what_ended_threads_used_counts_since_the_start(void **state)
{
	const bool wanted[] = { false, true, true };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		struct setting setting = { 0 };
		struct tree_event begin = { .type = TREE_FORK };
		struct tree_event used = { .type = TREE_THREAD };
		const struct tree_process *process;

		attach_here(&setting);
		setting.options.since_start = wanted[i];
		begin.task = (struct task_key){ getpid(), getpid(),
						own_start_ns(setting.watch.host) +
							(i == 2) * NS_PER_SECOND };
		used.task = begin.task;
		amounts_set(&used.account.amounts, AMOUNT_minflt, 1);
		assert_int_equal(tree_apply(setting.watch.run->tree, &begin), 0);
		assert_int_equal(tree_apply(setting.watch.run->tree, &used), 0);
		assert_int_equal(watch_begin_samples(&setting.watch), 0);
		assert_true(setting.fake.samples > 0);
		process = tree_find(setting.watch.run->tree, getpid());
		if (i == 1)
			assert_true(amounts_get(&process->amounts, AMOUNT_minflt) > 1);
		else /* unasked, or another process has the number */
			assert_int_equal(amounts_get(&process->amounts, AMOUNT_minflt), 1);
		assert_false(amounts_has(&process->amounts, AMOUNT_majflt)); /* no part is known */
		detach(&setting);
	}
}

static void an_event_without_memory_is_a_loss(void **state)
{
	struct setting setting = { 0 };
	struct tree_event begin = { .type = TREE_FORK, .time_ns = 1 };

	(void)state;
	attach_here(&setting);
	/*
	 * The tree has room for some: after a hundred it needs more.  No process has these numbers, so
	 * that none is our own, whose events do not count.
	 */
	for (int32_t pid = NOBODYS; pid < NOBODYS + 100; pid++) {
		begin.task = (struct task_key){ pid, pid, 1 };
		begin.fork.parent_pid = PID;
		refuse_from(1);
		assert_int_equal(watch_take_event(&setting.watch, &begin), 0);
		allow_all();
	}
	assert_int_equal(setting.watch.events.count, 100);
	assert_true(setting.watch.events.unapplied > 0);
	assert_int_equal(setting.watch.events.unapplied + setting.watch.run->tree->live_processes,
			 100 + 1);
	detach(&setting);
}

/* The run's own end, by what happened to the watch. */
static void how_it_ended_is_kept(void **state)
{
	static const struct {
		bool timed_out, interrupted, ended;
		enum run_end end;
	} cases[] = {
		{ true, false, false, RUN_TIMED_OUT }, { true, true, true, RUN_TIMED_OUT },
		{ false, true, false, RUN_DETACHED },  { false, true, true, RUN_EXITED },
		{ false, false, true, RUN_EXITED },    { false, false, false, RUN_EXITED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct setting setting = { 0 };

		command(&setting, PID);
		setting.watch.command.timed_out = cases[i].timed_out;
		setting.watch.signals.interrupted = cases[i].interrupted;
		if (cases[i].ended)
			end_now(&setting.watch, EXITED_3);
		assert_int_equal(watch_finish(&setting.watch), 0);
		assert_int_equal(setting.watch.run->end, cases[i].end);
		assert_int_equal(setting.watch.run->has_status, cases[i].ended);
		assert_int_equal(setting.watch.run->status, cases[i].ended ? EXITED_3 : 0);
		done(&setting);
	}
}

static void a_run_ends_with_its_command_or_with_the_last_that_it_left(void **state)
{
	(void)state;
	for (int is_outlived = 0; is_outlived < 2; is_outlived++) {
		struct setting setting = { .fake = { .is_empty = true } };
		struct run *run;
		uint64_t end_ns;

		command(&setting, PID);
		run = setting.watch.run;
		run->begin_ns -= 5 * NS_PER_SECOND;
		end_now(&setting.watch, 0);
		setting.watch.command.end_ns -= NS_PER_SECOND;
		setting.watch.command.is_outlived = is_outlived;
		end_ns = setting.watch.command.end_ns;
		assert_int_equal(watch_finish(&setting.watch), 0);
		assert_int_equal(run->command_ns.present, is_outlived);
		if (is_outlived) {
			assert_int_equal(run->command_ns.value, end_ns - run->begin_ns);
			assert_true(run->end_ns >= end_ns + NS_PER_SECOND);
		} else {
			assert_int_equal(run->end_ns, end_ns);
		}
		assert_true(run->self.cpu_ns > 0);
		done(&setting);
	}
}

/* ---- lines ---- */

static char written[1 << 16];

static void read_lines(struct watch *watch)
{
	long end;

	assert_int_equal(lines_flush(&watch->output.lines), 0);
	end = lseek(watch->output.lines.fd, 0, SEEK_END);
	assert_true(end >= 0 && (size_t)end < sizeof(written));
	assert_int_equal(pread(watch->output.lines.fd, written, (size_t)end, 0), end);
	written[end] = 0;
}

static size_t count_lines(const char *kind)
{
	char part[64];
	size_t count = 0;

	snprintf(part, sizeof(part), ":\"%s\"", kind);
	for (const char *at = written; (at = strstr(at, part)); at++)
		count++;
	return count;
}

static void open_lines(struct watch *watch, FILE **ret)
{
	*ret = tmpfile();
	assert_non_null(*ret);
	assert_int_equal(lines_open(&watch->output.lines, *ret), 0);
}

static void each_event_that_people_ask_for_has_a_line(void **state)
{
	static const struct {
		const char *kind;
		struct tree_event event;
	} events[] = {
		{ "fork", { .type = TREE_FORK, .task = { CHILD, CHILD, 2 } } },
		{ NULL, { .type = TREE_FORK, .task = { CHILD, CHILD + 1, 3 } } },
		{ "exec", { .type = TREE_EXEC, .task = { CHILD, CHILD, 2 } } },
		{ "signal", { .type = TREE_SIGNAL, .task = { CHILD, CHILD, 2 } } },
		{ "oom_kill", { .type = TREE_OOM, .task = { CHILD, CHILD, 2 } } },
		{ NULL, { .type = TREE_THREAD, .task = { CHILD, CHILD, 2 } } },
	};
	struct setting setting = { 0 };
	size_t lines = 0;
	FILE *file;

	(void)state;
	attach_here(&setting);
	open_lines(&setting.watch, &file);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		struct tree_event event = events[i].event;

		event.time_ns = monotonic_ns();
		assert_int_equal(watch_take_event(&setting.watch, &event), 0);
		read_lines(&setting.watch);
		lines += events[i].kind != NULL;
		assert_int_equal(count_lines("event"), lines);
		assert_true(!events[i].kind || count_lines(events[i].kind) == 1);
	}
	/* What this program itself does is none of the run. */
	assert_int_equal(
		watch_take_event(&setting.watch,
				 &(struct tree_event){ .type = TREE_EXEC,
						       .task = { getpid(), getpid(), 9 } }),
		0);
	read_lines(&setting.watch);
	assert_int_equal(count_lines("exec"), 1);
	detach(&setting);
	fclose(file);
}

static void an_end_a_sample_and_the_summary_have_a_line(void **state)
{
	struct setting setting = { 0 };
	struct tree_event begin = { .type = TREE_FORK,
				    .task = { CHILD, CHILD, 2 },
				    .fork = { .parent_pid = PID } };
	struct tree_event last = { .type = TREE_THREAD,
				   .task = { CHILD, CHILD, 2 },
				   .account = { .ended = true } };
	struct tree_event end = { .type = TREE_PROCESS,
				  .task = { CHILD, CHILD, 2 },
				  .process = { .ended = true } };
	FILE *file;

	(void)state;
	attach_here(&setting);
	open_lines(&setting.watch, &file);
	begin.time_ns = monotonic_ns();
	watch_take_event(&setting.watch, &begin);
	watch_sample(&setting.watch, TRACER_SAMPLE);
	read_lines(&setting.watch);
	assert_int_equal(count_lines("sample"), 1);
	assert_int_equal(count_lines("tree"), 1);
	assert_int_equal(count_lines("exit"), 0);
	last.time_ns = end.time_ns = end.process.end_ns = monotonic_ns();
	watch_take_event(&setting.watch, &last);
	watch_take_event(&setting.watch, &end);
	watch_sample(&setting.watch, TRACER_SAMPLE);
	watch_sample(&setting.watch, TRACER_SAMPLE);
	read_lines(&setting.watch);
	assert_int_equal(count_lines("exit"), 1);
	assert_int_equal(count_lines("sample"), 3);
	assert_int_equal(count_lines("tree"), 1); /* at most one in a second */
	setting.watch.samples.tree_line_ns -= NS_PER_SECOND;
	watch_sample(&setting.watch, TRACER_SAMPLE);
	watch_sample(&setting.watch, TRACER_SAMPLE);
	read_lines(&setting.watch);
	assert_int_equal(count_lines("tree"), 2);
	setting.watch.samples.tree_line_ns -= NS_PER_SECOND;
	watch_sample(&setting.watch, TRACER_SAMPLE);
	read_lines(&setting.watch);
	assert_int_equal(count_lines("tree"), 2); /* nobody came or went */
	assert_int_equal(count_lines("summary"), 0);
	assert_int_equal(watch_finish(&setting.watch), 0);
	read_lines(&setting.watch);
	assert_int_equal(count_lines("summary"), 1);
	assert_int_equal(setting.watch.run->losses.lines, 0);
	detach(&setting);
	fclose(file);
}

/* ---- the root ---- */

static void the_first_event_of_the_command_is_the_begin(void **state)
{
	struct setting setting = { 0 };
	struct tree_event exec = { .type = TREE_EXEC, .task = { PID, PID, 1 } };
	struct run *run;
	uint64_t begin_ns;

	(void)state;
	command(&setting, PID);
	run = setting.watch.run;
	begin_ns = run->begin_ns;
	run->begin_unix_ns = 1000 * NS_PER_SECOND;
	exec.time_ns = begin_ns + NS_PER_MS;
	watch_take_event(&setting.watch, &exec);
	assert_int_equal(run->begin_ns, begin_ns + NS_PER_MS);
	assert_int_equal(run->begin_unix_ns, 1000 * NS_PER_SECOND + NS_PER_MS);
	assert_true(setting.watch.events.root_moved);
	setting.watch.events.root_moved = false;
	exec.type = TREE_SIGNAL;
	exec.time_ns += NS_PER_MS;
	watch_take_event(&setting.watch, &exec);
	assert_int_equal(run->begin_ns, begin_ns + NS_PER_MS);
	assert_false(setting.watch.events.root_moved);
	done(&setting);
}

static void an_end_without_a_status_gets_that_of_wait(void **state)
{
	static const struct {
		int32_t pid;
		bool has_ended, is_told;
		int32_t status; /* in the tree */
	} cases[] = {
		{ PID, true, false, EXITED_3 },
		{ PID, true, true, 0x700 },
		{ CHILD, true, false, -1 },
		{ PID, false, false, -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct setting setting = { 0 };
		struct tree_event begin = { .type = TREE_FORK,
					    .task = { CHILD, CHILD, 2 },
					    .fork = { .parent_pid = PID } };
		struct tree_event end = { .type = TREE_PROCESS,
					  .task = { cases[i].pid, cases[i].pid,
						    cases[i].pid == PID ? 1 : 2 },
					  .process = { .ended = cases[i].has_ended } };
		const struct tree_process *process;

		command(&setting, PID);
		watch_take_event(&setting.watch, &begin);
		end_now(&setting.watch, EXITED_3);
		end.time_ns = end.process.end_ns = monotonic_ns();
		if (cases[i].is_told) {
			end.process.present = TREE_PROCESS_STATUS;
			end.process.status = 0x700;
		}
		watch_take_event(&setting.watch, &end);
		process = tree_find(setting.watch.run->tree, cases[i].pid);
		assert_non_null(process);
		assert_int_equal(process->exited, cases[i].has_ended);
		assert_int_equal(
			process->facts.present & TREE_PROCESS_STATUS ? process->facts.status : -1,
			cases[i].status);
		done(&setting);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_loss_is_counted_once),
		cmocka_unit_test(what_ended_threads_used_counts_since_the_start),
		cmocka_unit_test(an_event_without_memory_is_a_loss),
		cmocka_unit_test(how_it_ended_is_kept),
		cmocka_unit_test(a_run_ends_with_its_command_or_with_the_last_that_it_left),
		cmocka_unit_test(each_event_that_people_ask_for_has_a_line),
		cmocka_unit_test(an_end_a_sample_and_the_summary_have_a_line),
		cmocka_unit_test(the_first_event_of_the_command_is_the_begin),
		cmocka_unit_test(an_end_without_a_status_gets_that_of_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
