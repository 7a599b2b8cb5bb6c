/* SPDX-License-Identifier: MIT */
#include "collect/task/task_iterator.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/scope_layout.h"
#include "bpf/task.h"
#include "task.skel.h"
#include "collect/proc/affinity.h"
#include "collect/cgroup/cgroup_paths.h"
#include "collect/collector.h"
#include "collect/task/task_decoder.h"
#include "collect/task/task_record.h"
#include "host/bpf.h"

/* Up to this many processes are walked one by one; for more, a walk over all tasks is filtered. */
#define SINGLE_WALKS 256
#define FEW 16 /* the same for a walk that writes little */

_Static_assert(TASK_SCOPE_FD == SCOPE_FD && TASK_SCOPE_FD_COUNT == SCOPE_FD_TRIES,
	       "the program looks at the descriptors that the library takes");

struct task_iterator {
	struct task_program *program;
};

/* One run of the program. */
struct walk {
	struct capture *capture;
	struct task_decoder decoder;
	struct affinity_lists *affinity;
	struct cgroup_paths *cgroups; /* NULL when paths are not wanted */
	size_t affinity_words;
};

/* Only online CPUs are shown, so the mask is read up to the last online CPU. */
static size_t affinity_words(const struct host *host)
{
	size_t words = host->online.word_count ? host->online.word_count : 1;

	return words < TASK_AFFINITY_WORDS_MAX ? words : TASK_AFFINITY_WORDS_MAX;
}

static int load(const struct host *host, const struct gate gates[GATE_COUNT],
		struct task_program **program)
{
	int cpus = libbpf_num_possible_cpus();

	*program = task_program__open();
	if (!*program)
		return -ENOMEM;
	(*program)->rodata->want_stats = gates[GATE_SCHEDSTATS].open;
	(*program)->rodata->want_delays = gates[GATE_TASK_DELAY_ACCT].open;
	(*program)->rodata->cpu_count = (uint32_t)(cpus > 0 ? cpus : 0);
	(*program)->rodata->cgroup_hierarchy =
		task_cgroup_number(host->cgroup.version, host->cgroup.controller);
	(*program)->rodata->affinity_words = (uint32_t)affinity_words(host);
	return task_program__load(*program);
}

void task_iterator_close(struct task_iterator *iterator)
{
	if (!iterator)
		return;
	task_program__destroy(iterator->program);
	free(iterator);
}

int task_iterator_open(const struct host *host, const struct gate gates[GATE_COUNT],
		       struct task_iterator **ret, struct error *error)
{
	struct task_iterator *iterator;
	int status = host_bpf_check(host, error);

	if (status < 0)
		return status;
	iterator = calloc(1, sizeof(*iterator));
	status = iterator ? load(host, gates, &iterator->program) : -ENOMEM;
	if (status < 0) {
		task_iterator_close(iterator);
		return host_bpf_explain(status, error);
	}
	*ret = iterator;
	return 0;
}

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
	if (status == 0 && source_wanted(capture, SOURCE_JEMALLOC))
		status = note_thread(capture, task);
	if (status == 0 && record->group)
		status = note_process(capture, record);
	return status;
}

/* Takes all complete records.  Returns how many bytes they have, or a negative errno. */
static ssize_t each_record(const char *bytes, size_t length, size_t words,
			   int (*take)(void *context, struct task_record *record), void *context)
{
	size_t used = 0;

	for (;;) {
		struct task_record record;
		int size = task_record_parse(bytes + used, length - used, words, &record);
		int status;

		if (size <= 0)
			return size < 0 ? size : (ssize_t)used;
		status = take(context, &record);
		if (status < 0)
			return status;
		used += (size_t)size;
	}
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
	return each_record(bytes, length, walk->affinity_words, take_record, walk);
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
	walk->affinity_words = affinity_words(host);
	walk->decoder.snapshot = capture->snapshot;
	walk->decoder.scale = capture->scale;
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
	CLEANUP(walk_clear) struct walk walk = { 0 };
	int status = walk_init(&walk, capture);

	if (status == 0)
		status = walk_wanted(&walk, iterator->program->progs.dump_task.prog_fd);
	if (status == 0)
		status = task_decoder_finish(&walk.decoder);
	return status < 0 ? host_bpf_explain(status, error) : 0;
}

/* The processes whose identity is checked again. */
struct confirmation {
	const struct capture *capture;
	struct task_decoder decoder;
	size_t affinity_words;
	const uint32_t *rows;
	enum process_change *changes;
	size_t count;
};

static enum process_change find_change(const struct confirmation *confirmation,
				       const struct process *process,
				       const struct task_record *record)
{
	const struct walked_process *walked = walked_process_find(confirmation->capture, process);

	if (process->tgid != (int32_t)record->task->tgid ||
	    process->start_time_ns != task_decoder_start_ns(&confirmation->decoder, record))
		return PROCESS_GONE;
	return walked && walked->exec_id == record->task->exec_id ? PROCESS_SAME : PROCESS_EXECUTED;
}

static int confirm_process(void *context, struct task_record *record)
{
	struct confirmation *confirmation = context;
	const struct snapshot *snapshot = confirmation->capture->snapshot;
	size_t low = 0, high = confirmation->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct process *process = &snapshot->processes[confirmation->rows[middle]];

		if (process->tgid < (int32_t)record->task->tgid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < confirmation->count && confirmation->changes[low] == PROCESS_GONE)
		confirmation->changes[low] = find_change(
			confirmation, &snapshot->processes[confirmation->rows[low]], record);
	return 0;
}

static ssize_t consume_identities(void *context, const void *bytes, size_t length)
{
	struct confirmation *confirmation = context;

	return each_record(bytes, length, confirmation->affinity_words, confirm_process,
			   confirmation);
}

int task_iterator_confirm(struct task_iterator *iterator, const struct capture *capture,
			  const uint32_t *rows, enum process_change *ret, size_t count,
			  struct error *error)
{
	int program = iterator->program->progs.dump_task.prog_fd;
	struct confirmation confirmation = {
		.capture = capture,
		.decoder = { .scale = capture->scale,
			     .boottime_offset_ns = host_boottime_offset_ns(capture->host) },
		.affinity_words = affinity_words(capture->host),
		.rows = rows,
		.changes = ret,
		.count = count,
	};
	int status = 0;

	memset(ret, 0, count * sizeof(*ret)); /* PROCESS_GONE */
	iterator->program->bss->only_identity = 1;
	for (size_t i = 0; i < count && count <= FEW && (status == 0 || status == -ESRCH); i++)
		status = host_bpf_iterate(program, capture->snapshot->processes[rows[i]].tgid,
					  consume_identities, &confirmation);
	if (count > FEW || status == -ENOTSUP)
		status = host_bpf_iterate(program, 0, consume_identities, &confirmation);
	iterator->program->bss->only_identity = 0;
	return status < 0 && status != -ESRCH ? host_bpf_explain(status, error) : 0;
}
