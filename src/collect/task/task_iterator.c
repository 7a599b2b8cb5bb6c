/* SPDX-License-Identifier: MIT */
#include "collect/task/task_iterator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/scope_layout.h"
#include "bpf/task.h"
#include "collect/proc/affinity.h"
#include "collect/cgroup/cgroup_paths.h"
#include "collect/collector.h"
#include "collect/activity/activity_reader.h"
#include "collect/task/task_decoder.h"
#include "collect/task/task_iterator_parts.h"
#include "collect/task/task_record.h"
#include "host/bpf.h"

/* Up to this many processes are walked one by one; for more, a walk over all tasks is filtered. */
#define SINGLE_WALKS 256

/* One run of the program. */
struct walk {
	struct capture *capture;
	struct task_decoder decoder;
	struct affinity_lists *affinity;
	struct cgroup_paths *cgroups; /* NULL when paths are not wanted */
	size_t affinity_words;
	struct activity_reader *activity; /* NULL: this walk does not look at it */
	struct task_iterator *iterator;
};

static bool has_task_bit(const struct task_fields *task, unsigned bit)
{
	return task->present >> bit & 1;
}

/* A v1 hierarchy shows every ended task at its root, so the file of an ended task is not read. */
static int find_cgroup(struct walk *walk, const struct task_fields *task, uint32_t *ret)
{
	uint64_t id = has_task_bit(task, TASK_BIT_cgroup_id) ? task->cgroup_id : 0;
	bool has_path = !task->exit_state || walk->capture->host->cgroup.version != 1;

	return cgroup_paths_find(walk->cgroups, id, (int32_t)task->tgid,
				 has_path ? (int32_t)task->pid : 0, ret);
}

static bool has_group_bits(const struct group_fields *group, uint64_t bits)
{
	return (group->present & bits) == bits;
}

#define GROUP_BIT(member) (UINT64_C(1) << GROUP_BIT_##member)

static int note_process(struct capture *capture, const struct task_record *record)
{
	const struct group_fields *group = record->group;
	struct walked_process process = {
		.tgid = (int32_t)record->task->tgid,
		.is_counted = has_group_bits(group, GROUP_BIT(open_fds) | GROUP_BIT(scope_fds)),
		.scope_fds = (uint8_t)group->scope_fds,
		.has_memory =
			has_task_bit(record->task, TASK_BIT_exec_id) &&
			has_group_bits(group, GROUP_BIT(total_vm) | GROUP_BIT(exec_vm) |
						      GROUP_BIT(arg_start) | GROUP_BIT(arg_end) |
						      GROUP_BIT(exe_inode)),
		.is_sized = has_group_bits(group, GROUP_BIT(rss)) ||
			    !has_group_bits(group, GROUP_BIT(total_vm)),
	};

	if (process.has_memory) {
		process.executable_pages = group->exec_vm;
		process.exec_id = record->task->exec_id;
		process.arg_start = group->arg_start;
		process.arg_end = group->arg_end;
		process.exe_device = group->exe_device;
		process.exe_inode = group->exe_inode;
		process.exe_path[0] = group->exe_mount;
		process.exe_path[1] = group->exe_dentry;
	}
	return array_append(&capture->walked_processes, process);
}

/* Kernel threads have no thread pointer. */
static int note_thread(struct capture *capture, const struct task_fields *task)
{
	struct walked_thread thread = { .tid = (int32_t)task->pid };

	if (has_task_bit(task, TASK_BIT_fsbase))
		thread.thread_pointer = task->fsbase;
	else if (has_task_bit(task, TASK_BIT_tp_value))
		thread.thread_pointer = task->tp_value;
	return thread.thread_pointer ? array_append(&capture->walked_threads, thread) : 0;
}

static int add(struct walk *walk, const struct task_record *record)
{
	struct capture *capture = walk->capture;
	const struct task_fields *task = record->task;
	struct capture_tally *tally = &capture->snapshot->tally;
	bool is_gone = task->pid == 0 || task->tgid == 0;
	uint32_t cgroup = 0;
	int status = 0;

	if (!is_gone && !capture_wants_process(capture, (int32_t)task->tgid))
		return 0;
	tally->tids_walked++;
	tally->vanished += is_gone;
	if (is_gone)
		return 0;
	if (walk->cgroups)
		status = find_cgroup(walk, task, &cgroup);
	if (status == -ENOMEM)
		return status;
	if (!capture_wants_cgroup(capture, snapshot_text(capture->snapshot, cgroup))) {
		tally->vanished += is_vanished(status);
		return 0;
	}
	source_count(&capture->tallies[SOURCE_TASK_ITERATOR], 0);
	status = task_decoder_add(&walk->decoder, record, cgroup);
	if (status == 0 && walk->activity && record->activity)
		status = task_activity_take(walk->iterator, walk->activity, &walk->decoder, record);
	if (status == 0 && source_wanted(capture, SOURCE_JEMALLOC))
		status = note_thread(capture, task);
	if (status == 0 && record->group)
		status = note_process(capture, record);
	return status;
}

static int take_record(void *context, struct task_record *record)
{
	return add(context, record);
}

static ssize_t consume(void *context, const void *bytes, size_t length)
{
	struct walk *walk = context;
	struct host_clock now;

	if (host_clock(walk->capture->host, &now))
		walk->decoder.boottime_ns = now.boottime_ns;
	return task_records_each(bytes, length, walk->affinity_words, take_record, walk);
}

static bool was_named_before(const int32_t *pids, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (pids[i] == pids[index])
			return true;
	return false;
}

/*
 * Walks the processes that were asked for.  One that has ended is left out, which is not a
 * failure.
 */
static int walk_named(struct walk *walk, int program)
{
	const struct capture_options *options = walk->capture->options;
	int status = 0;

	for (size_t i = 0; i < options->pid_count && (status == 0 || status == -ESRCH); i++)
		if (!was_named_before(options->pids, i))
			status = host_bpf_iterate(program, options->pids[i], consume, walk);
	return status == -ESRCH ? 0 : status;
}

static int walk_wanted(struct walk *walk, int program)
{
	size_t count = walk->capture->options->pid_count;
	int status = -ENOTSUP;

	if (count > 0 && count <= SINGLE_WALKS)
		status = walk_named(walk, program);
	return status == -ENOTSUP ? host_bpf_iterate(program, 0, consume, walk) : status;
}

static int walk_init(struct walk *walk, struct capture *capture)
{
	const struct host *host = capture->host;

	walk->capture = capture;
	walk->affinity_words = task_affinity_words(host);
	walk->decoder.snapshot = capture->snapshot;
	walk->decoder.scale = capture->scale;
	walk->decoder.wanted = capture->sampling ? capture->sampling->wanted : NULL;
	if (!capture->gates[GATE_IRQ_DELAY].open)
		walk->decoder.withheld = 1u << GATE_IRQ_DELAY;
	walk->decoder.boottime_offset_ns = host_boottime_offset_ns(host);
	if (host->online.word_count) {
		walk->affinity =
			affinity_lists_new(capture->snapshot, &host->online, walk->affinity_words);
		if (!walk->affinity)
			return -ENOMEM;
		walk->decoder.affinity = walk->affinity;
	}
	if (capture_reads_cgroups(capture)) {
		walk->cgroups =
			cgroup_paths_new(host, capture->snapshot, &capture->tallies[SOURCE_CGROUP]);
		if (!walk->cgroups)
			return -ENOMEM;
	}
	return 0;
}

static void walk_clear(struct walk *walk)
{
	affinity_lists_free(walk->affinity);
	cgroup_paths_free(walk->cgroups);
}

int task_iterator_list(struct task_iterator *iterator, struct capture *capture, struct error *error)
{
	CLEANUP(walk_clear) struct walk walk = { .iterator = iterator };
	int status = walk_init(&walk, capture);

	if (status == 0 && capture->sampling && capture->sampling->activity.is_due)
		walk.activity = &capture->sampling->activity;
	if (status == 0 && walk.activity)
		task_activity_begin(iterator, walk.activity, false);
	*iterator->left_out = ~task_decoder_sections(&walk.decoder);
	if (status == 0)
		status = walk_wanted(&walk, iterator->fd);
	if (walk.activity)
		task_activity_end(iterator, walk.activity);
	if (status == 0)
		status = task_decoder_finish(&walk.decoder);
	return status < 0 ? host_bpf_explain(status, error) : 0;
}
