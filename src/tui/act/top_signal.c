/* SPDX-License-Identifier: MIT */
/*
 * Sends a signal to the process of a row.  The process is held by a pidfd from the moment that it
 * was chosen, and it must have the start time of the row: a number that was given to another
 * process meanwhile is refused.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kernel_names.h"
#include "base/text.h"
#include "host/host.h"
#include "host/proc/task_text.h"
#include "model/snapshot/snapshot.h"
#include "tui/act/act.h"
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
		ret->start_time_ns = process ? process->start_time_ns : 0;
	}
	if (act_has_start(top->options->host, ret->tgid, ret->start_time_ns))
		return true;
	top_say(top, true, "process %" PRId32 " has ended", ret->tgid);
	return false;
}

static void forget_target(struct top *top)
{
	if (top->signal_pidfd >= 0)
		close(top->signal_pidfd);
	top->signal_pidfd = -1;
	row_identity_clear(&top->target);
}

static const char *refusal(const struct top *top)
{
	enum group_axis axis = top->choice.axis;

	if (act_refusal(top))
		return act_refusal(top);
	if (!top->options->host || !top->moment.is_live)
		return "what is shown is past: a signal needs a process of now";
	if (top->shows_jobs || (axis != AXIS_PROCESS && axis != AXIS_THREAD))
		return "a signal is sent to a process: 1 shows processes";
	return top_rows(top) ? NULL : "there is no process";
}

void top_signal_choose(struct top *top)
{
	const char *why = refusal(top);
	const struct snapshot *snapshot;
	const struct process *process;

	if (why) {
		top_say(top, true, "%s", why);
		return;
	}
	forget_target(top);
	snapshot = top->view.grouping->snapshot;
	process = &snapshot->processes[snapshot->tasks[top_task(top, top->selected)].process];
	top->target = (struct row_identity){ .tgid = process->tgid,
					     .start_time_ns = process->start_time_ns };
	top->signal_pidfd = (int)syscall(SYS_pidfd_open, process->tgid, 0);
	if (top->signal_pidfd < 0 ||
	    !act_has_start(top->options->host, process->tgid, process->start_time_ns)) {
		top_say(top, true, "process %" PRId32 " has ended%s", process->tgid,
			top->signal_pidfd < 0 ? "" : "; its number is another one's now");
		forget_target(top);
		return;
	}
	top_menu_open(top, MENU_SIGNALS);
}

void top_signal_ask(struct top *top, int number)
{
	char name[KERNEL_NAME_SIZE];

	top->signal_number = number;
	top_prompt_open(top, PROMPT_CONFIRM);
	top_say(top, false, "send %s to process %" PRId32 "?", signal_name(number, name),
		top->target.tgid);
}

void top_signal_send(struct top *top)
{
	long status =
		syscall(SYS_pidfd_send_signal, top->signal_pidfd, top->signal_number, NULL, 0);
	char name[KERNEL_NAME_SIZE];

	if (status == 0)
		top_say(top, false, "%s was sent to process %" PRId32,
			signal_name(top->signal_number, name), top->target.tgid);
	else
		top_say(top, true, "%s was not sent to process %" PRId32 ": %s",
			signal_name(top->signal_number, name), top->target.tgid,
			errno == ESRCH ? "it has ended" : strerror(errno));
	forget_target(top);
}
