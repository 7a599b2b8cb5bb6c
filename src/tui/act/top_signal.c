/* SPDX-License-Identifier: MIT */
/*
 * Sends a signal to the process of a row, or to all of a job.  Each process is held by a pidfd from the
 * moment that it was chosen, and it must have the start time of the row: a number that was given to
 * another process meanwhile is refused.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/kernel_names.h"
#include "base/text.h"
#include "host/host.h"
#include "host/proc/task_text.h"
#include "model/snapshot/snapshot.h"
#include "tui/act/act.h"
#include "tui/moment/moment_jobs.h"
#include "tui/screen/top_state.h"

bool act_has_start(const struct host *host, int32_t pid, uint64_t start_time_ns)
{
	uint64_t tick_ns = NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
	char name[32], line[TASK_STAT_BYTES];
	struct task_stat stat;
	uint64_t ticks;

	snprintf(name, sizeof(name), "%" PRId32 "/stat", pid);
	return host_read_line(host->proc, name, line, sizeof(line)) &&
	       task_stat_parse_to(line, TASK_STAT_START, &stat) &&
	       task_stat_number(&stat, TASK_STAT_START, &ticks) && ticks * tick_ns == start_time_ns;
}

bool act_find_process(struct top *top, struct row_identity *ret)
{
	const struct snapshot *snapshot = top->view.grouping->snapshot;
	const struct process *process =
		&snapshot->processes[snapshot->tasks[top_task(top, top->selected)].process];
	int64_t row = -1;

	*ret = (struct row_identity){ process->tgid, 0, process->start_time_ns, NULL };
	if (top->mode == MODE_TEXT && top->text.is_detail) {
		row = top_find_identity(top, &top->shown);
		process = row < 0 ? NULL :
				    &snapshot->processes[snapshot->tasks[top_task(top, (size_t)row)]
								 .process];
		ret->tgid = process ? process->tgid : top->shown.tgid;
		/* One that the filter hides lives; of a thread, the start of its process is not known. */
		ret->start_time_ns = process	    ? process->start_time_ns :
				     top->shown.tid ? 0 :
						      top->shown.start_time_ns;
	}
	if (act_has_start(top->options->host, ret->tgid, ret->start_time_ns))
		return true;
	top_say(top, true, "process %" PRId32 " has ended%s", ret->tgid,
		kill(ret->tgid, 0) < 0 && errno == ESRCH ? "" :
							   "; its number is another one's now");
	return false;
}

void act_targets_clear(struct act_targets *targets)
{
	for (size_t i = 0; i < targets->list.count; i++)
		close(targets->list.data[i].pidfd);
	array_free(&targets->list);
	text_free(&targets->name);
}

/* 0; -ESRCH when it has ended or its number is another one's; or another negative errno. */
static int add_target(struct top *top, int32_t pid, uint64_t start_time_ns)
{
	struct act_target target = { pid, (int)syscall(SYS_pidfd_open, pid, 0) };
	int status = 0;

	if (target.pidfd < 0)
		return -errno;
	if (!act_has_start(top->options->host, pid, start_time_ns))
		status = -ESRCH;
	if (status == 0)
		status = array_append(&top->targets.list, target);
	if (status < 0)
		close(target.pidfd);
	return status;
}

static const char *refusal(const struct top *top)
{
	enum group_axis axis = top->choice.axis;

	if (act_refusal(top))
		return act_refusal(top);
	if (!top->options->host || !top->moment.is_live)
		return "what is shown is past: a signal needs a process of now";
	if (!top->shows_jobs && axis != AXIS_PROCESS && axis != AXIS_THREAD)
		return "a signal is sent to a process, or to those of a job: 1 shows processes, 8 jobs";
	return top_rows(top) ? NULL : top->shows_jobs ? "there is no job" : "there is no process";
}

static bool choose_process(struct top *top)
{
	struct row_identity who;
	int status;

	if (!act_find_process(top, &who))
		return false;
	status = add_target(top, who.tgid, who.start_time_ns);
	text_format(&top->targets.name, "process %" PRId32, who.tgid);
	if (status < 0)
		top_say(top, true, "%s cannot be held: %s", text_string(&top->targets.name),
			strerror(-status));
	return status == 0;
}

/* The processes of the marked job or step; the first process of the host and this one stay. */
static bool choose_job(struct top *top)
{
	CLEANUP(free_pointer) uint32_t *jobs = NULL;
	CLEANUP(free_pointer) uint32_t *steps = NULL;
	const struct snapshot *tasks = top->moment.tasks;
	const struct job_step *step;
	const struct moment_job *job = top_job_at(top, top->selected, &step);
	int status = job ? moment_job_processes(&top->moment, &jobs, &steps) : -ENOENT;

	for (uint32_t row = 0; status == 0 && row < tasks->process_count; row++) {
		const struct process *process = &tasks->processes[row];

		if (jobs[row] != (uint32_t)(job - top->moment.jobs.data) + 1 ||
		    (step && steps[row] != (uint32_t)(step - top->moment.steps.data) + 1) ||
		    process->tgid == 1 || process->tgid == getpid())
			continue;
		status = add_target(top, process->tgid, process->start_time_ns);
		if (status == -ESRCH)
			status = 0;
	}
	if (status < 0)
		top_say(top, true, "its processes cannot be held: %s", strerror(-status));
	else if (!top->targets.list.count)
		top_say(top, true, "no process of it is known to run");
	if (status < 0 || !top->targets.list.count)
		return false;
	text_format(&top->targets.name, "%zu process%s of ", top->targets.list.count,
		    top->targets.list.count == 1 ? "" : "es");
	text_append_string(&top->targets.name, step ? "step " : "job ");
	text_append_string(&top->targets.name, step ? step->name : job->job.name);
	return true;
}

void top_signal_choose(struct top *top)
{
	const char *why = refusal(top);

	if (why) {
		top_say(top, true, "%s", why);
		return;
	}
	act_targets_clear(&top->targets);
	if (top->shows_jobs ? choose_job(top) : choose_process(top))
		top_menu_open(top, MENU_SIGNALS);
	else
		act_targets_clear(&top->targets);
}

static void send_signal(struct top *top)
{
	char name[KERNEL_NAME_SIZE];
	size_t sent = 0, count = top->targets.list.count;
	int problem = 0;

	for (size_t i = 0; i < count; i++) {
		if (syscall(SYS_pidfd_send_signal, top->targets.list.data[i].pidfd,
			    top->signal_number, NULL, 0) == 0)
			sent++;
		else if (!problem || problem == ESRCH) /* that it has ended says least */
			problem = errno;
	}
	(void)signal_name(top->signal_number, name);
	if (sent == count)
		top_say(top, false, "%s was sent to %s", name, text_string(&top->targets.name));
	else
		top_say(top, true, "%s was not sent to %s%s: %s", name, sent ? "all of the " : "",
			text_string(&top->targets.name),
			problem == ESRCH ? "it has ended" : strerror(problem));
	act_targets_clear(&top->targets);
}

void top_signal_ask(struct top *top, int number)
{
	char name[KERNEL_NAME_SIZE];

	top->signal_number = number;
	top_confirm(top, send_signal, "nothing was sent");
	top_say(top, false, "send %s to %s?", signal_name(number, name),
		text_string(&top->targets.name));
}
