/* SPDX-License-Identifier: MIT */
/* Names of processes from snapshots, and which processes belong to what is followed. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "trace/life/life_source.h"
#include "trace/proc/proc_sample.h"

#define KERNEL_PARENT 2
#define GENERATIONS_MAX 64
#define ABSENCES_MAX 2 /* the exit of a process may arrive after a snapshot that lacks it */

bool life_is_kernel_thread(const struct snapshot *snapshot, size_t row)
{
	const struct process *process = &snapshot->processes[row];

	return !process->cmdline && !process->exe &&
	       (snapshot_parent(snapshot, (uint32_t)row) == KERNEL_PARENT ||
		process->tgid == KERNEL_PARENT) &&
	       snapshot_find_process(snapshot, KERNEL_PARENT) >= 0;
}

/* 64-bit FNV-1a. */
uint64_t life_program(const struct snapshot *snapshot, size_t row)
{
	uint32_t exe = snapshot->processes[row].exe;
	const char *path = exe ? snapshot_text(snapshot, exe) : "";
	uint64_t sum = 0xcbf29ce484222325;

	for (; *path; path++)
		sum = (sum ^ (unsigned char)*path) * 0x100000001b3;
	return exe ? sum : 0;
}

static void learn(struct lifecycle *lifecycle, const struct snapshot *snapshot, size_t row)
{
	const struct process *process = &snapshot->processes[row];
	struct task_key key = { process->tgid, process->tgid, process->start_time_ns };
	struct life_entry *entry = life_table_find(&lifecycle->table, key.pid, key.start_ns);
	const char *command = snapshot_text(snapshot, process->cmdline);
	uint64_t uid;

	if (!entry) {
		entry = life_table_add(&lifecycle->table, &key);
		if (!entry)
			return;
		snprintf(entry->comm, sizeof(entry->comm), "%s",
			 snapshot_text(snapshot, process->pcomm));
		entry->parent_pid = snapshot_parent(snapshot, (uint32_t)row);
	}
	entry->absences = 0;
	if (!entry->has_uid && snapshot_get(snapshot, METRIC_uid, (uint32_t)row, &uid)) {
		entry->has_uid = true;
		entry->uid = (uint32_t)uid;
	}
	if (!entry->exe)
		entry->exe = life_program(snapshot, row);
	if (!entry->command && process->cmdline)
		life_table_set_command(&lifecycle->table, entry, command, strlen(command));
}

static void count_absence(struct life_table *table, struct life_entry *entry, void *context)
{
	(void)context;
	if (entry->absences++ >= ABSENCES_MAX)
		life_table_remove(table, entry);
}

void life_names_learn(struct lifecycle *lifecycle, const struct snapshot *snapshot)
{
	life_table_visit(&lifecycle->table, count_absence, NULL);
	for (size_t i = 0; i < snapshot->process_count; i++)
		if (!life_is_kernel_thread(snapshot, i))
			learn(lifecycle, snapshot, i);
}

static const char *without_slashes(const char *path)
{
	return path + strspn(path, "/");
}

/* Whether a path is that of the cgroup or of one below it. */
static bool is_below(const char *path, const char *cgroup)
{
	size_t length;

	path = without_slashes(path);
	cgroup = without_slashes(cgroup);
	length = strlen(cgroup);
	while (length && cgroup[length - 1] == '/')
		length--;
	return strncmp(path, cgroup, length) == 0 &&
	       (!length || path[length] == '/' || path[length] == '\0');
}

static bool is_in_cgroup(const struct lifecycle *lifecycle, const struct snapshot *snapshot,
			 const struct process *process)
{
	const struct task *task = &snapshot->tasks[process->first_task];

	return task->cgroup &&
	       is_below(snapshot_text(snapshot, task->cgroup), lifecycle->options.cgroup);
}

static bool is_member(const struct lifecycle *lifecycle, int32_t pid, uint64_t start_ns)
{
	const struct life_entry *entry = life_table_find(&lifecycle->table, pid, start_ns);

	return entry && entry->is_member;
}

bool life_is_in_scope(const struct lifecycle *lifecycle, const struct snapshot *snapshot,
		      size_t row)
{
	const struct process *process = &snapshot->processes[row];
	int32_t parent;

	if (lifecycle->options.cgroup)
		return is_in_cgroup(lifecycle, snapshot, process);
	if (!lifecycle->options.tree_pid)
		return true;
	if (is_member(lifecycle, process->tgid, process->start_time_ns))
		return true;
	parent = snapshot_parent(snapshot, (uint32_t)row);
	return parent && is_member(lifecycle, parent, 0);
}

static int mark(struct lifecycle *lifecycle, const struct snapshot *snapshot, size_t row,
		size_t *marked)
{
	const struct process *process = &snapshot->processes[row];
	struct life_report found = {
		.is_found = true,
		.event.kind = LIFE_SPAWN,
		.event.task = { process->tgid, process->tgid, process->start_time_ns },
		.event.parent_pid = snapshot_parent(snapshot, (uint32_t)row),
	};
	struct life_entry *entry =
		life_table_find(&lifecycle->table, process->tgid, process->start_time_ns);

	if (!life_is_in_scope(lifecycle, snapshot, row)) {
		if (entry)
			entry->is_member = false;
		return 0;
	}
	if (entry && entry->is_member)
		return 0;
	snprintf(found.event.comm, sizeof(found.event.comm), "%s",
		 snapshot_text(snapshot, process->pcomm));
	(*marked)++;
	return life_report_send(lifecycle, &found);
}

static void forget_member(struct life_table *table, struct life_entry *entry, void *context)
{
	(void)table;
	(void)context;
	entry->is_member = false;
}

void life_forget_members(struct lifecycle *lifecycle)
{
	life_table_visit(&lifecycle->table, forget_member, NULL);
}

/*
 * Members of a tree stay members when their parent ends; a cgroup can be left.  A process that the
 * snapshot does not have stays what it was, since its end may not have been reported yet.
 */
int life_names_mark(struct lifecycle *lifecycle, const struct snapshot *snapshot)
{
	int status = 0;

	for (int generation = 0; generation < GENERATIONS_MAX; generation++) {
		size_t marked = 0;

		for (size_t i = 0; i < snapshot->process_count && status == 0; i++)
			if (!life_is_kernel_thread(snapshot, i))
				status = mark(lifecycle, snapshot, i, &marked);
		if (!marked || status < 0)
			break;
	}
	return status;
}

int life_find_cgroup(const struct lifecycle *lifecycle, uint64_t *ret, struct error *error)
{
	return host_cgroup_number(lifecycle->host, lifecycle->options.cgroup, ret, error);
}

static int find_root(struct lifecycle *lifecycle, struct error *error)
{
	int32_t pid = lifecycle->options.tree_pid;
	struct life_report found = { .is_found = true, .event.kind = LIFE_SPAWN };
	struct proc_sample sample;

	if (proc_sample_process(lifecycle->host, pid, &sample) < 0 || sample.is_dead)
		return error_set(error, -ESRCH,
				 "there is no process %" PRId32 " that can be followed", pid);
	found.event.task = (struct task_key){ pid, pid, sample.start_ns };
	found.event.parent_pid = sample.parent_pid;
	memcpy(found.event.comm, sample.comm, sizeof(found.event.comm));
	return life_report_send(lifecycle, &found);
}

int life_find_scope(struct lifecycle *lifecycle, struct error *error)
{
	uint64_t cgroup;

	if (lifecycle->options.tree_pid)
		return find_root(lifecycle, error);
	return lifecycle->options.cgroup ? life_find_cgroup(lifecycle, &cgroup, error) : 0;
}
