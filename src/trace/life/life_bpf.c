/* SPDX-License-Identifier: MIT */
/* Lifecycle events from BPF programs, through a ring buffer. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "bpf/task.h"
#include "host/bpf.h"
#include "host/bpf_ring.h"
#include "host/host.h"
#include "life.skel.h"
#include "trace/life/life_decoder.h"
#include "trace/life/life_source.h"

#define WALKS_MAX 64
#define DRAINED_MAX 65536 /* records in one call, so that it ends in a storm */

struct bpf_source {
	struct lifecycle *lifecycle;
	struct life_program *program;
	struct bpf_ring *ring;
	struct life_decoder decoder;
	uint64_t reported[LIFE_RECORD_COUNT]; /* losses that were reported */
	uint64_t bad_records;
	size_t drained;
	size_t found; /* by the last walk */
};

static int take_record(void *context, void *bytes, size_t length)
{
	struct bpf_source *source = context;
	struct life_report report;
	int status;

	if (life_decode(&source->decoder, bytes, length, &report) < 0) {
		source->bad_records++;
		return 0;
	}
	status = life_report_send(source->lifecycle, &report);
	if (status == 0 && ++source->drained == DRAINED_MAX)
		return -EAGAIN;
	return status;
}

/* The kernel counts what finds the ring full. */
static int report_losses(struct bpf_source *source)
{
	int status = 0;

	for (uint32_t type = 0; type < LIFE_RECORD_COUNT && status == 0; type++) {
		uint64_t count = ((volatile __u64 *)source->program->bss->losses)[type];
		uint64_t lost = count - source->reported[type];
		char details[128];

		if (!lost)
			continue;
		snprintf(details, sizeof(details),
			 "%" PRIu64 " %s: the kernel's buffer for events was full", lost,
			 life_kind_names[life_record_kind(type)]);
		source->reported[type] = count;
		status = life_report_lost(source->lifecycle, lost, details);
	}
	return status;
}

static int drain(void *context)
{
	struct bpf_source *source = context;
	int drained, status;

	source->drained = 0;
	drained = bpf_ring_drain(source->ring);
	if (drained < 0 && drained != -EAGAIN)
		return drained;
	status = report_losses(source);
	return status < 0 ? status : drained;
}

static int ring_fd(void *context)
{
	const struct bpf_source *source = context;

	return source->program->maps.ring.map_fd;
}

static ssize_t take_found(void *context, const void *bytes, size_t length)
{
	struct bpf_source *source = context;
	size_t used = 0;

	for (;;) {
		ssize_t size = life_record_size((const char *)bytes + used, length - used);
		struct life_report report;

		if (size <= 0)
			return size < 0 ? size : (ssize_t)used;
		if (life_decode(&source->decoder, (const char *)bytes + used, (size_t)size,
				&report) < 0)
			return -EBADMSG;
		(void)life_report_send(source->lifecycle, &report);
		source->found++;
		used += (size_t)size;
	}
}

static int walk(struct bpf_source *source, enum life_walk mode)
{
	source->program->bss->walk_mode = mode;
	source->program->bss->walk_pid = source->lifecycle->options.tree_pid;
	source->program->bss->walk_pass++;
	source->found = 0;
	return host_bpf_iterate(source->program->progs.life_walk.prog_fd, 0, take_found, source);
}

/* Programs are attached already: a child of a member that is born meanwhile becomes one. */
static int mark_tree(struct bpf_source *source, struct error *error)
{
	int32_t pid = source->lifecycle->options.tree_pid;
	int status = walk(source, LIFE_WALK_ROOT);

	if (status == 0 && !source->found)
		return error_set(error, -ESRCH,
				 "there is no process %" PRId32 " that can be followed", pid);
	for (int i = 0; i < WALKS_MAX && status == 0 && source->found; i++)
		status = walk(source, LIFE_WALK_FAMILY);
	return status;
}

static int seed(struct bpf_source *source, struct error *error)
{
	if (source->lifecycle->options.tree_pid)
		return mark_tree(source, error);
	return walk(source,
		    source->lifecycle->options.cgroup ? LIFE_WALK_MEMBERS : LIFE_WALK_NOTHING);
}

/* Processes may have moved between cgroups, and events of new ones may have been lost. */
static int poll_members(void *context, const struct snapshot *snapshot)
{
	struct bpf_source *source = context;

	(void)snapshot;
	if (!lifecycle_has_scope(source->lifecycle))
		return 0;
	life_forget_members(source->lifecycle);
	return walk(source, LIFE_WALK_MEMBERS);
}

static void losses(void *context, struct lifecycle_losses *ret)
{
	const struct bpf_source *source = context;

	for (uint32_t type = 0; type < LIFE_RECORD_COUNT; type++) {
		int kind = life_record_kind(type);
		uint64_t count = source->program->bss->losses[type];

		if (kind < 0)
			continue;
		ret->ring[kind] += count;
		ret->ring[LIFE_LOST] += count;
	}
	ret->members = source->program->bss->lost_members;
	ret->bad_records = source->bad_records;
}

static void close_state(void *context)
{
	struct bpf_source *source = context;

	if (!source)
		return;
	bpf_ring_close(source->ring);
	if (source->program)
		life_program__destroy(source->program);
	free(source);
}

CLEANUP_POINTER(close_state, struct bpf_source)

static int configure(struct bpf_source *source, struct error *error)
{
	const struct lifecycle *lifecycle = source->lifecycle;
	struct life_program *program = source->program;
	int cpus = libbpf_num_possible_cpus();
	uint32_t ring_bytes =
		lifecycle->options.ring_bytes ? lifecycle->options.ring_bytes : LIFE_RING_BYTES;
	uint64_t cgroup = 0;
	int status = 0;

	program->rodata->cpu_count = cpus > 0 ? (uint32_t)cpus : 0;
	program->rodata->wake_bytes = ring_bytes / 4;
	program->rodata->cgroup_hierarchy = task_cgroup_number(lifecycle->host->cgroup.version,
							       lifecycle->host->cgroup.controller);
	program->maps.ring.max_entries = ring_bytes;
	if (lifecycle->options.tree_pid)
		program->rodata->scope = LIFE_SCOPE_TREE;
	if (lifecycle->options.cgroup) {
		program->rodata->scope = LIFE_SCOPE_CGROUP;
		status = life_find_cgroup(lifecycle, &cgroup, error);
		program->rodata->scope_cgroup = cgroup;
	}
	return status;
}

static int load(struct bpf_source *source, struct error *error)
{
	int status;

	source->program = life_program__open();
	if (!source->program)
		return host_bpf_explain(-ENOMEM, error);
	status = configure(source, error);
	if (status < 0)
		return status;
	status = life_program__load(source->program);
	if (status < 0)
		return host_bpf_explain(status, error);
	status = bpf_ring_open(ring_fd(source), take_record, source, &source->ring);
	if (status < 0)
		return host_bpf_explain(status, error);
	/* Programs must know who their reader is before they send something. */
	status = walk(source, LIFE_WALK_NOTHING);
	if (status == 0)
		status = life_program__attach(source->program);
	return status < 0 ? host_bpf_explain(status, error) : 0;
}

static int open_state(struct lifecycle *lifecycle, void **ret, struct error *error)
{
	CLEANUP(close_state_pointer) struct bpf_source *source = NULL;
	int status = host_bpf_check(lifecycle->host, error);

	if (status < 0)
		return status;
	source = calloc(1, sizeof(*source));
	if (!source)
		return error_set(error, -ENOMEM, "out of memory");
	source->lifecycle = lifecycle;
	source->decoder = (struct life_decoder){
		.page_bytes = lifecycle->host->page_bytes,
		.tick_ns = lifecycle->host->tick_ns,
		.boottime_offset_ns = host_boottime_offset_ns(lifecycle->host),
	};
	status = load(source, error);
	if (status == 0)
		status = seed(source, error);
	if (status < 0)
		return host_bpf_explain(status, error);
	*ret = TAKE_PTR(source);
	return 0;
}

const struct life_source life_bpf = {
	.name = "bpf",
	.needs = "CAP_BPF and CAP_PERFMON, or root",
	.misses = NULL,
	.open = open_state,
	.fd = ring_fd,
	.is_edge_triggered = true,
	.drain = drain,
	.poll = poll_members,
	.losses = losses,
	.close = close_state,
};
