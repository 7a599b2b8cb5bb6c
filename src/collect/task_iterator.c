/* SPDX-License-Identifier: MIT */
/*
 * The collector that asks the kernel for all tasks in one walk.
 */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "bpf/task.h"
#include "task.skel.h"
#include "collect/affinity_lists.h"
#include "collect/cgroup_paths.h"
#include "collect/collector.h"
#include "collect/task_decoder.h"
#include "collect/task_record.h"
#include "host/bpf.h"

/* Up to so many processes are walked one by one, more by filtering a walk over all. */
#define SINGLE_WALKS 256

struct walk {
	struct capture *capture;
	struct task_decoder decoder;
	struct affinity_lists *affinity;
	struct cgroup_paths *cgroups; /* NULL when paths are not wanted */
	size_t affinity_words;
};

static void destroy_program(struct task_program **program)
{
	task_program__destroy(*program);
}

/* The program's name for a cgroup hierarchy; one that it has no name for gives no ids. */
static uint32_t hierarchy_number(const struct cgroup_hierarchy *hierarchy)
{
	static const char *const names[TASK_CGROUP_COUNT] = {
#define CONTROLLER(name) [TASK_CGROUP_##name] = #name,
		TASK_CGROUP_CONTROLLERS(CONTROLLER)
#undef CONTROLLER
	};

	if (hierarchy->version == 2)
		return TASK_CGROUP_UNIFIED;
	for (uint32_t i = TASK_CGROUP_UNIFIED + 1; i < TASK_CGROUP_COUNT; i++)
		if (strcmp(hierarchy->controller, names[i]) == 0)
			return i;
	return TASK_CGROUP_COUNT;
}

/* CPUs that are not online are not shown, so the mask is read up to the last that is. */
static size_t affinity_words(const struct host *host)
{
	size_t words = host->online.word_count;

	if (words == 0)
		return 1;
	return words < TASK_AFFINITY_WORDS_MAX ? words : TASK_AFFINITY_WORDS_MAX;
}

static int load(const struct host *host, bool want_stats, struct task_program **ret,
		struct error *error)
{
	CLEANUP(destroy_program) struct task_program *program = NULL;
	int status = host_bpf_check(host, error);

	if (status < 0)
		return status;
	program = task_program__open();
	if (!program)
		return host_bpf_explain(-ENOMEM, error);
	program->rodata->want_stats = want_stats;
	program->rodata->cgroup_hierarchy = hierarchy_number(&host->cgroup);
	program->rodata->affinity_words = (uint32_t)affinity_words(host);
	status = task_program__load(program);
	if (status < 0)
		return host_bpf_explain(status, error);
	*ret = TAKE_PTR(program);
	return 0;
}

/* A v1 hierarchy shows every task that has ended at its root, so such a task is not asked. */
static int find_cgroup(struct walk *walk, const struct task_fields *task, uint32_t *ret)
{
	bool has_id = task->present >> TASK_BIT_cgroup_id & 1;
	bool tells = !task->exit_state || walk->capture->host->cgroup.version != 1;

	return cgroup_paths_find(walk->cgroups, has_id ? task->cgroup_id : 0, (int32_t)task->tgid,
				 tells ? (int32_t)task->pid : 0, ret);
}

static bool has_task_bit(const struct task_fields *task, unsigned bit)
{
	return task->present >> bit & 1;
}

/* Kernel threads have no thread pointer, and nothing mapped. */
static int note_memory(struct capture *capture, const struct task_record *record)
{
	const struct task_fields *task = record->task;
	const struct group_fields *group = record->group;
	struct thread_seen thread = { .tid = (int32_t)task->pid };
	struct process_seen process = { .tgid = (int32_t)task->tgid };

	if (has_task_bit(task, TASK_BIT_fsbase))
		thread.thread_pointer = task->fsbase;
	else if (has_task_bit(task, TASK_BIT_tp_value))
		thread.thread_pointer = task->tp_value;
	if (thread.thread_pointer && array_append(&capture->threads_seen, thread) < 0)
		return -ENOMEM;
	if (!group || !(group->present >> GROUP_BIT_exec_vm & 1))
		return 0;
	process.executable_pages = group->exec_vm;
	return array_append(&capture->processes_seen, process);
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
		status = note_memory(capture, record);
	return status;
}

static ssize_t consume(void *context, const void *bytes, size_t length)
{
	struct walk *walk = context;
	const char *cursor = bytes;
	struct host_clock now;
	size_t used = 0;

	if (host_clock(walk->capture->host, &now))
		walk->decoder.boottime_ns = now.boottime_ns;
	for (;;) {
		struct task_record record;
		int size = task_record_parse(cursor + used, length - used, walk->affinity_words,
					     &record);
		int status;

		if (size <= 0)
			return size < 0 ? size : (ssize_t)used;
		if (!walk->capture->gates[GATE_TASK_DELAY_ACCT].open)
			record.delay = NULL;
		status = add(walk, &record);
		if (status < 0)
			return status;
		used += (size_t)size;
	}
}

static bool was_named_before(const int32_t *pids, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (pids[i] == pids[index])
			return true;
	return false;
}

static int walk_named(struct walk *walk, int program)
{
	const struct capture_options *options = walk->capture->options;
	int status = 0;

	for (size_t i = 0; i < options->pid_count && status == 0; i++)
		if (!was_named_before(options->pids, i))
			status = host_bpf_iterate(program, options->pids[i], consume, walk);
	return status;
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

static int collect(struct capture *capture, struct error *error)
{
	CLEANUP(destroy_program) struct task_program *program = NULL;
	CLEANUP(walk_clear) struct walk walk = { 0 };
	int status = load(capture->host, capture->gates[GATE_SCHEDSTATS].open, &program, error);

	if (status < 0)
		return status;
	status = walk_init(&walk, capture);
	if (status == 0)
		status = walk_wanted(&walk, program->progs.dump_task.prog_fd);
	if (status == 0)
		status = task_decoder_finish(&walk.decoder);
	return status < 0 ? host_bpf_explain(status, error) : 0;
}

const struct collector task_iterator_collector = {
	.name = "bpf",
	.collect = collect,
};
