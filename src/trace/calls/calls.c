/* SPDX-License-Identifier: MIT */
#include "trace/calls/calls.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "bpf/calls/calls.h"
#include "bpf/task.h"
#include "calls.skel.h"
#include "host/bpf.h"
#include "host/host.h"
#include "trace/calls/call_rules.h"

#define WALKS_MAX 64
#define BATCH 256

static_assert((int)SYSCALL_NATIVE == TREE_ABI_NATIVE && (int)SYSCALL_COMPAT == TREE_ABI_COMPAT &&
		      (int)SYSCALL_UNKNOWN == TREE_ABI_UNKNOWN,
	      "tables of calls have the same numbers");

struct calls {
	struct calls_program *program;
	const struct calls_options *options; /* while it is opened */
	uint64_t tick_ns;
	int64_t boottime_offset_ns;
	bool is_second; /* programs add to the second map */
	size_t found;	/* by the last walk */
	call_under_way_sink *sink;
	void *context;
};

void calls_close(struct calls *calls)
{
	if (!calls)
		return;
	if (calls->program)
		calls_program__destroy(calls->program);
	free(calls);
}

CLEANUP_POINTER(calls_close, struct calls)

static uint64_t whole_ticks(const struct calls *calls, uint64_t start_ns)
{
	start_ns += (uint64_t)calls->boottime_offset_ns;
	return start_ns - start_ns % calls->tick_ns;
}

static int send_under_way(struct calls *calls, const struct calls_record *record)
{
	const struct call_under_way call = {
		.pid = record->pid,
		.tid = record->tid,
		.start_ns = whole_ticks(calls, record->start_ns),
		.abi = (enum syscall_abi)record->abi,
		.number = (uint32_t)record->number,
		.time_ns =
			record->now_ns > record->enter_ns ? record->now_ns - record->enter_ns : 0,
		.is_earlier = record->is_earlier,
	};

	return calls->sink ? calls->sink(calls->context, &call) : 0;
}

static ssize_t take_records(void *context, const void *bytes, size_t length)
{
	struct calls *calls = context;
	size_t used = 0;
	int status = 0;

	for (; length - used >= sizeof(struct calls_record) && status == 0;
	     used += sizeof(struct calls_record)) {
		struct calls_record record;

		memcpy(&record, (const char *)bytes + used, sizeof(record));
		calls->found++;
		if (record.number >= 0)
			status = send_under_way(calls, &record);
	}
	return status < 0 ? status : (ssize_t)used;
}

static int walk(struct calls *calls, enum calls_walk mode, int32_t pid)
{
	calls->program->bss->walk_mode = mode;
	calls->program->bss->walk_pid = pid;
	calls->program->bss->walk_pass++;
	/* A walk tries again what the one before could not mark. */
	if (mode == CALLS_WALK_ROOT || mode == CALLS_WALK_FAMILY)
		calls->program->bss->unmarked_threads = 0;
	calls->found = 0;
	return host_bpf_iterate(calls->program->progs.calls_walk.prog_fd, 0, take_records, calls);
}

static int mark_process(struct calls *calls, int32_t pid, struct error *error)
{
	int status = walk(calls, CALLS_WALK_ROOT, pid);

	if (status == 0 && !calls->found)
		return error_set(error, -ESRCH,
				 "there is no process %" PRId32
				 " that can be followed: it is gone, ended, or a kernel thread",
				 pid);
	return status;
}

/* Programs are attached already: a child of a member that is born meanwhile becomes one. */
static int mark_members(struct calls *calls, struct error *error)
{
	const struct calls_options *options = calls->options;
	int status = 0;

	if (!options->tree_pid && !options->pid_count)
		return walk(calls, CALLS_WALK_SCOPE, 0);
	if (options->tree_pid)
		status = mark_process(calls, options->tree_pid, error);
	for (size_t i = 0; i < options->pid_count && status == 0; i++)
		status = mark_process(calls, options->pids[i], error);
	for (int i = 0; i < WALKS_MAX && status == 0 && calls->found; i++)
		status = walk(calls, CALLS_WALK_FAMILY, 0);
	return status;
}

static enum calls_scope scope_of(const struct calls_options *options)
{
	if (options->tree_pid)
		return CALLS_SCOPE_TREE;
	if (options->pid_count)
		return CALLS_SCOPE_PROCESSES;
	return options->cgroup ? CALLS_SCOPE_CGROUP : CALLS_SCOPE_HOST;
}

static int configure(struct calls *calls, const struct host *host, struct error *error)
{
	const struct calls_options *options = calls->options;
	struct calls_program *program = calls->program;
	uint32_t sums = options->sums_max ? options->sums_max : CALLS_SUMS;
	uint64_t cgroup = 0;
	int status = 0;

	call_rules_fill((uint8_t *)program->rodata->rules);
	program->rodata->scope = scope_of(options);
	program->rodata->cgroup_hierarchy =
		task_cgroup_number(host->cgroup.version, host->cgroup.controller);
	program->maps.sums_first.max_entries = sums;
	program->maps.sums_second.max_entries = sums;
	if (options->cgroup)
		status = host_cgroup_number(host, options->cgroup, &cgroup, error);
	program->rodata->scope_cgroup = cgroup;
	return status;
}

static int load(struct calls *calls, const struct host *host, struct error *error)
{
	int status;

	calls->program = calls_program__open();
	if (!calls->program)
		return -ENOMEM;
	status = configure(calls, host, error);
	if (status == 0)
		status = calls_program__load(calls->program);
	/* Programs must know who their reader is before they count. */
	if (status == 0)
		status = walk(calls, CALLS_WALK_NOTHING, 0);
	if (status == 0 && calls_program__calls_new_task__attach(calls->program) < 0)
		status = -errno;
	return status < 0 ? status : calls_resume(calls);
}

int calls_open(const struct host *host, const struct calls_options *options, struct calls **ret,
	       struct error *error)
{
	CLEANUP(calls_close_pointer) struct calls *calls = NULL;
	int status = host_bpf_check(host, error);

	if (status < 0)
		return status;
	calls = calloc(1, sizeof(*calls));
	if (!calls)
		return error_set(error, -ENOMEM, "out of memory");
	calls->options = options;
	calls->tick_ns = host->tick_ns;
	calls->boottime_offset_ns = host_boottime_offset_ns(host);
	status = load(calls, host, error);
	if (status == 0)
		status = mark_members(calls, error);
	if (status < 0)
		return host_bpf_explain(status, error);
	calls->options = NULL;
	*ret = TAKE_PTR(calls);
	return 0;
}

int calls_pause(struct calls *calls)
{
	close_fd(&calls->program->links.calls_enter_fd);
	close_fd(&calls->program->links.calls_exit_fd);
	return 0;
}

int calls_resume(struct calls *calls)
{
	calls->program->bss->epoch++;
	if (calls_program__calls_enter__attach(calls->program) < 0 ||
	    calls_program__calls_exit__attach(calls->program) < 0)
		return -errno;
	return 0;
}

/* Returns when no program adds to the map that was in use before; that one's descriptor, or an errno. */
static int exchange_maps(struct calls *calls)
{
	const struct calls_program *program = calls->program;
	const int maps[] = { program->maps.sums_first.map_fd, program->maps.sums_second.map_fd };
	const uint32_t place = 0;
	int full = maps[calls->is_second], empty = maps[!calls->is_second];

	if (bpf_map_update_elem(program->maps.sums.map_fd, &place, &empty, BPF_ANY) < 0)
		return -errno;
	calls->is_second = !calls->is_second;
	return full;
}

static int send_sum(const struct calls *calls, const struct calls_key *key,
		    const struct calls_sum *from, call_sum_sink *sink, void *context)
{
	const struct call_sum sum = {
		.pid = key->pid,
		.start_ns = whole_ticks(calls, key->start_ns),
		.abi = (enum syscall_abi)key->abi,
		.number = key->number,
		.calls = from->count,
		.errors = from->errors,
		.time_ns = from->total_ns,
		.max_ns = from->max_ns,
	};

	return sink(context, &sum);
}

int calls_read(struct calls *calls, call_sum_sink *sink, void *context)
{
	struct calls_key keys[BATCH];
	struct calls_sum sums[BATCH];
	uint32_t position = 0;
	int status = 0, found = 0, map = exchange_maps(calls);

	if (map < 0)
		return map;
	for (bool is_first = true; found == 0; is_first = false) {
		uint32_t count = BATCH;

		found = bpf_map_lookup_and_delete_batch(map, is_first ? NULL : &position, &position,
							keys, sums, &count, NULL);
		if (found < 0 && found != -ENOENT)
			return found;
		/* Also after the sink failed: what is left in the map would be sent with the next ones. */
		for (uint32_t i = 0; i < count && status == 0; i++)
			status = send_sum(calls, &keys[i], &sums[i], sink, context);
	}
	return status;
}

int calls_under_way(struct calls *calls, call_under_way_sink *sink, void *context)
{
	int status;

	calls->sink = sink;
	calls->context = context;
	status = walk(calls, CALLS_WALK_UNDER_WAY, 0);
	calls->sink = NULL;
	return status;
}

void calls_losses(const struct calls *calls, struct calls_losses *ret)
{
	*ret = (struct calls_losses){
		.calls = calls->program->bss->lost_calls,
		.time_ns = calls->program->bss->lost_ns,
		.threads =
			calls->program->bss->lost_threads + calls->program->bss->unmarked_threads,
		.own_calls = calls->program->bss->own_calls,
	};
}
