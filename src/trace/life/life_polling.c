/* SPDX-License-Identifier: MIT */
/* Lifecycle events from comparing snapshots. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "trace/life/life_source.h"

struct polling {
	struct lifecycle *lifecycle;
	bool has_begun; /* a first snapshot has told what lived before */
	int status;
};

static void begin_report(const struct snapshot *snapshot, size_t row, enum life_kind kind,
			 struct life_report *ret)
{
	const struct process *process = &snapshot->processes[row];
	const char *command = snapshot_text(snapshot, process->cmdline);

	*ret = (struct life_report){
		.event.kind = kind,
		.event.task = { process->tgid, process->tgid, process->start_time_ns },
		.event.parent_pid = snapshot_parent(snapshot, (uint32_t)row),
		.time_ns = monotonic_ns(),
	};
	snprintf(ret->event.comm, sizeof(ret->event.comm), "%s",
		 snapshot_text(snapshot, process->pcomm));
	if (kind == LIFE_EXEC && process->cmdline) {
		ret->arguments = command;
		ret->length = strlen(command);
	}
}

static bool has_executed(const struct snapshot *snapshot, size_t row,
			 const struct life_entry *entry)
{
	uint64_t program = life_program(snapshot, row);
	uint32_t cmdline = snapshot->processes[row].cmdline;

	if (program && entry->exe)
		return program != entry->exe;
	return cmdline && entry->command &&
	       strcmp(entry->command->text, snapshot_text(snapshot, cmdline)) != 0;
}

static int report_changes(struct polling *polling, const struct snapshot *snapshot, size_t row,
			  struct life_entry *entry)
{
	const struct process *process = &snapshot->processes[row];
	struct life_report report;
	bool executed = has_executed(snapshot, row, entry);

	if (!executed && strcmp(entry->comm, snapshot_text(snapshot, process->pcomm)) == 0)
		return 0;
	if (process->exe)
		entry->exe = life_program(snapshot, row);
	begin_report(snapshot, row, executed ? LIFE_EXEC : LIFE_RENAME, &report);
	return life_report_send(polling->lifecycle, &report);
}

/* It ran its parent's program at first, under its name; what differs now happened since. */
static int report_new(struct polling *polling, const struct snapshot *snapshot, size_t row)
{
	struct life_table *table = &polling->lifecycle->table;
	const struct process *process = &snapshot->processes[row];
	struct life_entry *entry;
	struct life_report report;
	int status;

	begin_report(snapshot, row, LIFE_SPAWN, &report);
	report.time_ns = process->start_time_ns - suspended_ns();
	report.is_found = !polling->has_begun;
	if (!report.is_found && life_table_find(table, report.event.parent_pid, 0))
		report.event.comm[0] = '\0';
	status = life_report_send(polling->lifecycle, &report);
	entry = life_table_find(table, process->tgid, process->start_time_ns);
	if (!entry || status < 0 || report.is_found)
		return status;
	return report_changes(polling, snapshot, row, entry);
}

static int look_at(struct polling *polling, const struct snapshot *snapshot, size_t row)
{
	const struct process *process = &snapshot->processes[row];
	struct life_entry *entry =
		life_table_find(&polling->lifecycle->table, process->tgid, process->start_time_ns);
	bool was_member = entry && entry->is_member;
	bool is_member = life_is_in_scope(polling->lifecycle, snapshot, row);

	if (life_is_kernel_thread(snapshot, row))
		return 0;
	if (entry)
		entry->is_member = is_member;
	/* One that came into the cgroup has not changed. */
	if (!is_member || (entry && !was_member))
		return 0;
	return entry ? report_changes(polling, snapshot, row, entry) :
		       report_new(polling, snapshot, row);
}

struct search {
	struct polling *polling;
	const struct snapshot *snapshot;
};

static void report_gone(struct life_table *table, struct life_entry *entry, void *context)
{
	struct search *search = context;
	int64_t row = snapshot_find_process(search->snapshot, entry->key.pid);
	struct life_report report = { .event.kind = LIFE_EXIT, .time_ns = monotonic_ns() };

	(void)table;
	if (search->polling->status < 0 || !entry->is_member ||
	    (row >= 0 && search->snapshot->processes[row].start_time_ns == entry->key.start_ns))
		return;
	report.event.task = entry->key;
	search->polling->status = life_report_send(search->polling->lifecycle, &report);
}

static int poll_snapshot(void *context, const struct snapshot *snapshot)
{
	struct polling *polling = context;
	struct search search = { polling, snapshot };

	polling->status = 0;
	life_table_visit(&polling->lifecycle->table, report_gone, &search);
	for (size_t i = 0; i < snapshot->process_count && polling->status == 0; i++)
		polling->status = look_at(polling, snapshot, i);
	polling->has_begun = true;
	return polling->status;
}

static int open_state(struct lifecycle *lifecycle, void **ret, struct error *error)
{
	struct polling *polling;
	int status = life_find_scope(lifecycle, error);

	if (status < 0)
		return status;
	polling = calloc(1, sizeof(*polling));
	if (!polling)
		return error_set(error, -ENOMEM, "out of memory");
	polling->lifecycle = lifecycle;
	*ret = polling;
	return 0;
}

const struct life_source life_polling = {
	.name = "polling",
	.needs = "nothing",
	.misses = "processes that live between two samples, execs of the same program, all but the "
		  "last of several execs, exit statuses, signals, and what ended processes used",
	.open = open_state,
	.poll = poll_snapshot,
	.close = free,
};
