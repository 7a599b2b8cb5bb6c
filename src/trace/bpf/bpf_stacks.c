/* SPDX-License-Identifier: MIT */
#include "trace/bpf/bpf_stacks.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "host/bpf_ring.h"
#include "trace/bpf/bpf_tracer.h"
#include "trace/bpf/tree_program.h"
#include "trace/stack/stack_decoder.h"

#define COPYING_NS NS_PER_MS

static ssize_t copy_blocked(void *context, const struct blocked_thread *thread, void *ret)
{
	struct bpf_state *state = context;
	ssize_t size;

	state->stacks.reader.host = state->host;
	size = blocked_stack_copy(&state->stacks.reader, thread, ret);
	state->stacks.unread += size <= 0;
	return size;
}

static int read_images(struct bpf_stacks *stacks)
{
	stacks->images_read_ns = monotonic_ns();
	return image_events_read(&stacks->images);
}

/* The mappings that were made before the stack come first, also when it came while stacks were taken. */
static int send_images(struct bpf_stacks *stacks, uint64_t time_ns)
{
	int status = time_ns > stacks->images_read_ns ? read_images(stacks) : 0;

	return status < 0 ? status : image_events_send(&stacks->images, time_ns, stacks->sink);
}

static int take_stack(void *context, void *bytes, size_t length)
{
	struct bpf_state *state = context;
	struct bpf_stacks *stacks = &state->stacks;
	const struct tree_record_head *head = bytes;
	int status = 0;

	if (length >= sizeof(*head))
		status = send_images(stacks, head->time_ns);
	if (status == 0)
		status = stack_record_send(bytes, length, &stacks->decoder, stacks->sink);
	if (status != -EBADMSG)
		return status;
	state->stacks.bad_records++;
	return 0;
}

/* The first trouble is the one to tell. */
static void note_trouble(struct bpf_stacks *stacks, enum source_state how_bad, const char *reason)
{
	if (!stacks->trouble.reason)
		stacks->trouble = (struct source_report){ .state = how_bad, .reason = reason };
}

static void open_images(struct bpf_state *state)
{
	struct image_events *images = &state->stacks.images;

	if (image_events_open(images) < 0)
		note_trouble(
			&state->stacks, SOURCE_PARTIAL,
			"the kernel refused to record mappings: only code of processes that still "
			"run has names");
	for (size_t i = 0; i < images->rings.count; i++)
		(void)bpf_listen(state, images->rings.data[i].fd);
}

static const char *clock_reason(int status)
{
	if (status == -EACCES || status == -EPERM)
		return "the kernel refused its CPU clock: sampling needs CAP_PERFMON; only blocked time "
		       "has stacks";
	return "the kernel has no CPU clock that can sample; only blocked time has stacks";
}

void bpf_stacks_open(struct bpf_state *state, const struct tracer_stack_options *options)
{
	struct bpf_stacks *stacks = &state->stacks;
	int status = 0;

	stacks->decoder.boottime_offset_ns = state->decoder.boottime_offset_ns;
	stacks->decoder.copy = copy_blocked;
	stacks->decoder.context = state;
	stacks->is_wanted = options->frequency_hz || options->off_cpu_min_ns;
	if (!stacks->is_wanted)
		return;
	if (bpf_ring_open(state->program->maps.stack_ring.map_fd, take_stack, state,
			  &stacks->ring) < 0) {
		note_trouble(stacks, SOURCE_UNAVAILABLE, "no memory for the ring of stacks");
		return;
	}
	(void)bpf_listen(state, state->program->maps.stack_ring.map_fd);
	open_images(state);
	if (options->frequency_hz)
		status = cpu_clocks_start(&stacks->clocks,
					  state->program->progs.tree_cpu_clock.prog_fd,
					  options->frequency_hz);
	if (status < 0)
		note_trouble(stacks, SOURCE_PARTIAL, clock_reason(status));
}

void bpf_stacks_close(struct bpf_state *state)
{
	cpu_clocks_stop(&state->stacks.clocks);
	image_events_close(&state->stacks.images);
	bpf_ring_close(state->stacks.ring);
}

int bpf_stacks_join(struct bpf_state *state, int32_t pid)
{
	return state->stacks.ring ? image_events_join(&state->stacks.images, pid) : 0;
}

int bpf_stacks_end(struct bpf_state *state, int32_t pid, uint64_t time_ns)
{
	return state->stacks.ring ? image_events_end(&state->stacks.images, pid, time_ns) : 0;
}

/*
 * A stack that was copied before now is in its ring, or will be within a moment: mappings that are
 * younger wait for the next call.
 */
int bpf_drain_stacks(void *context, const struct tracer_stack_sink *sink)
{
	struct bpf_state *state = context;
	struct bpf_stacks *stacks = &state->stacks;
	uint64_t begin_ns = monotonic_ns();
	int status;

	if (!stacks->ring)
		return 0;
	stacks->sink = sink;
	status = read_images(stacks);
	if (status == 0)
		status = bpf_ring_drain(stacks->ring);
	if (status < 0)
		return status;
	return image_events_send(&stacks->images, begin_ns - COPYING_NS, sink);
}

void bpf_stack_losses(void *context, struct tracer_stack_losses *ret)
{
	struct bpf_state *state = context;
	const uint64_t *counts = (const uint64_t *)state->program->bss->stack_losses;

	*ret = (struct tracer_stack_losses){
		.dropped = counts[TREE_STACK_DROPPED] + state->stacks.bad_records,
		.dropped_ns = counts[TREE_STACK_DROPPED_NS],
		.dropped_cpu_ns = counts[TREE_STACK_DROPPED_CPU_NS],
		.images = state->stacks.images.lost,
		.unread = counts[TREE_STACK_NOT_READ] + state->stacks.unread,
		.unseen = counts[TREE_STACK_UNSEEN],
		.wakers = counts[TREE_STACK_WAKERS],
		.short_ns = counts[TREE_STACK_SHORT_NS],
		.fault_ns = counts[TREE_STACK_FAULT_NS],
	};
}

const struct source_report *bpf_stack_trouble(void *context)
{
	struct bpf_state *state = context;

	return state->stacks.trouble.reason ? &state->stacks.trouble : NULL;
}
