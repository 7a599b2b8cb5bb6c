/* SPDX-License-Identifier: MIT */
#include "trace/life/life_report.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/text.h"
#include "trace/life/life_source.h"

#define DETAILS_SIZE 64

/* An event on its way. */
struct passage {
	struct lifecycle *lifecycle;
	const struct life_report *report;
	struct life_entry *entry; /* NULL: the table has none */
	struct life_event event;
	char details[DETAILS_SIZE];
};

static void note(struct passage *passage, const char *words, const char *name)
{
	snprintf(passage->details, sizeof(passage->details), "%s%s", words, name);
	passage->event.details = passage->details;
}

static void note_sender(struct passage *passage, int32_t sender_pid, const char *comm)
{
	if (!sender_pid && !comm[0])
		note(passage, "sent by the kernel", "");
	else
		note(passage, "sent by ", comm);
}

/* Takes what the source says about the process. */
static void learn_process(struct life_entry *entry, const struct life_event *event)
{
	if (event->comm[0])
		memcpy(entry->comm, event->comm, sizeof(entry->comm));
	if (event->parent_pid)
		entry->parent_pid = event->parent_pid;
	if (event->present & LIFE_HAS_UID) {
		entry->has_uid = true;
		entry->uid = event->uid;
	}
	entry->is_member = true;
}

/* A child runs its parent's program until it executes another. */
static void take_spawn(struct passage *passage)
{
	struct life_table *table = &passage->lifecycle->table;
	const struct life_event *event = &passage->report->event;
	struct life_entry *parent, *entry = life_table_add(table, &event->task);

	passage->entry = entry;
	parent = event->parent_pid ? life_table_find(table, event->parent_pid, 0) : NULL;
	if (!entry)
		return;
	entry->has_baseline = !passage->report->is_found;
	if (!parent || passage->report->is_found)
		return;
	memcpy(entry->comm, parent->comm, sizeof(entry->comm));
	entry->exe = parent->exe;
	life_table_share_command(table, entry, parent);
}

static void take_exec(struct passage *passage)
{
	const struct life_report *report = passage->report;
	struct life_table *table = &passage->lifecycle->table;
	struct life_entry *entry = passage->entry;
	size_t length = report->length < TREE_ARGUMENTS_MAX ? report->length : TREE_ARGUMENTS_MAX;

	if (!entry)
		entry = passage->entry = life_table_add(table, &report->event.task);
	if (report->arguments) {
		memcpy(passage->lifecycle->command, report->arguments, length);
		length = text_join_words(passage->lifecycle->command, length, report->cut);
		passage->lifecycle->command[length] = '\0';
		passage->event.cmd = passage->lifecycle->command;
	}
	if (!entry)
		return;
	entry->has_baseline = report->has_maxrss;
	entry->baseline_bytes = report->maxrss_bytes;
	if (report->arguments)
		life_table_set_command(table, entry, passage->lifecycle->command, length);
	else
		life_table_forget_command(table, entry);
}

static void take_rename(struct passage *passage)
{
	const struct life_entry *entry = passage->entry;

	if (entry && entry->comm[0] && strcmp(entry->comm, passage->event.comm) != 0)
		note(passage, "was ", entry->comm);
}

static void take_signal(struct passage *passage)
{
	const struct life_report *report = passage->report;
	struct life_entry *entry = passage->entry;

	if (report->event.present & LIFE_HAS_SENDER)
		note_sender(passage, report->event.sender_pid, report->sender_comm);
	if (!entry)
		return;
	entry->signal = report->event.signal;
	entry->sender_pid = report->event.sender_pid;
	memcpy(entry->sender_comm, report->sender_comm, sizeof(entry->sender_comm));
}

static void take_oom(struct passage *passage)
{
	passage->event.signal = SIGKILL;
	if (passage->entry)
		passage->entry->is_oom_victim = true;
}

/*
 * The kernel's mark covers all programs that the process ever ran: it is that of the last one if
 * it grew meanwhile.
 */
static void find_peak(struct passage *passage)
{
	const struct life_report *report = passage->report;
	const struct life_entry *entry = passage->entry;

	if (report->event.present & LIFE_HAS_PEAK || !report->has_maxrss || !entry ||
	    !entry->has_baseline || report->maxrss_bytes <= entry->baseline_bytes)
		return;
	passage->event.present |= LIFE_HAS_PEAK;
	passage->event.peak_rss_bytes = report->maxrss_bytes;
}

static void take_exit(struct passage *passage)
{
	const struct life_entry *entry = passage->entry;
	struct life_event *event = &passage->event;

	find_peak(passage);
	if (!entry || !(event->present & LIFE_HAS_STATUS) || !WIFSIGNALED(event->status))
		return;
	event->signal = WTERMSIG(event->status);
	if (entry->signal != event->signal)
		return;
	event->present |= LIFE_HAS_SENDER;
	event->sender_pid = entry->sender_pid;
	note_sender(passage, entry->sender_pid, entry->sender_comm);
}

static void (*const takers[LIFE_KIND_COUNT])(struct passage *passage) = {
	[LIFE_SPAWN] = take_spawn,   [LIFE_EXEC] = take_exec,	[LIFE_EXIT] = take_exit,
	[LIFE_SIGNAL] = take_signal, [LIFE_KILL] = take_signal, [LIFE_OOM] = take_oom,
	[LIFE_RENAME] = take_rename,
};

static void complete(struct passage *passage)
{
	const struct life_entry *entry = passage->entry;
	struct life_event *event = &passage->event;

	if (!entry)
		return;
	event->task = entry->key;
	if (!event->comm[0])
		memcpy(event->comm, entry->comm, sizeof(event->comm));
	if (!event->parent_pid)
		event->parent_pid = entry->parent_pid;
	if (!event->cmd)
		event->cmd = life_entry_command(entry);
	if (!(event->present & LIFE_HAS_UID) && entry->has_uid) {
		event->present |= LIFE_HAS_UID;
		event->uid = entry->uid;
	}
}

static int show_witness(struct lifecycle *lifecycle, const struct life_event *event)
{
	const struct lifecycle_options *options = &lifecycle->options;

	return options->witness ? options->witness(options->witness_context, event) : 0;
}

static int send(struct lifecycle *lifecycle, struct life_event *event, uint64_t time_ns)
{
	int status;

	if (time_ns > lifecycle->last_ns)
		lifecycle->last_ns = time_ns;
	lifecycle->sent++;
	event->unix_ns = lifecycle->last_ns + lifecycle->unix_offset_ns;
	status = show_witness(lifecycle, event);
	if (status < 0)
		return status;
	if (!life_budget_keeps(&lifecycle->budget, event, lifecycle->last_ns))
		return 0;
	return lifecycle->sink(lifecycle->context, event);
}

/* Where the kernel did not say that it chose a victim, its end does. */
static int send_oom(struct passage *passage)
{
	const struct life_report *report = passage->report;
	struct life_report oom = { .time_ns = report->time_ns };

	if (report->event.kind != LIFE_EXIT || !report->oom_killed || !passage->entry ||
	    passage->entry->is_oom_victim)
		return 0;
	oom.event = report->event;
	oom.event.kind = LIFE_OOM;
	oom.event.present &= LIFE_HAS_UID;
	oom.event.amounts = (struct amounts){ 0 };
	return life_report_send(passage->lifecycle, &oom);
}

/* Where only a process's number is known, the table must know whether it belongs here. */
static bool is_outside(const struct passage *passage)
{
	const struct task_key *task = &passage->report->event.task;

	return task->pid <= 0 || (!task->start_ns && lifecycle_has_scope(passage->lifecycle) &&
				  (!passage->entry || !passage->entry->is_member));
}

int life_report_send(struct lifecycle *lifecycle, const struct life_report *report)
{
	const struct life_event *event = &report->event;
	struct passage passage = { .lifecycle = lifecycle, .report = report, .event = *event };
	int status;

	passage.entry = life_table_find(&lifecycle->table, event->task.pid, event->task.start_ns);
	if (is_outside(&passage))
		return 0;
	if (report->is_found && passage.entry) {
		passage.entry->is_member = true;
		return 0;
	}
	takers[event->kind](&passage);
	if (passage.entry)
		learn_process(passage.entry, event);
	if (report->is_found)
		return 0;
	status = send_oom(&passage);
	if (status < 0)
		return status;
	complete(&passage);
	status = send(lifecycle, &passage.event, report->time_ns);
	if (event->kind == LIFE_EXIT && passage.entry)
		life_table_remove(&lifecycle->table, passage.entry);
	return status;
}

int life_report_lost(struct lifecycle *lifecycle, uint64_t lost, const char *details)
{
	struct life_event event = {
		.kind = LIFE_LOST,
		.unix_ns = monotonic_ns() + lifecycle->unix_offset_ns,
		.lost = lost,
		.details = details,
	};
	int status = show_witness(lifecycle, &event);

	return status < 0 ? status : lifecycle->sink(lifecycle->context, &event);
}
