/* SPDX-License-Identifier: MIT */
/* What the BPF tracer keeps to take stacks.  Private to src/trace/bpf. */
#ifndef TRACE_BPF_STACKS_H
#define TRACE_BPF_STACKS_H

#include "model/snapshot/source_report.h"
#include "trace/stack/cpu_clock.h"
#include "trace/stack/image_events.h"
#include "trace/stack/stack_decoder.h"
#include "trace/tracer.h"

struct bpf_state;
struct bpf_ring;

/* Does nothing when all zeros. */
struct bpf_stacks {
	bool is_wanted;
	struct bpf_ring *ring;
	struct cpu_clocks clocks;
	struct image_events images;
	struct source_report trouble; /* its reason is NULL when there is none */
	struct stack_decoder decoder;
	struct blocked_reader reader;
	uint64_t images_read_ns; /* when the rings of mappings were last read */
	uint64_t bad_records, unread;
	const struct tracer_stack_sink *sink; /* set while stacks are sent */
};

/*
 * Prepares what was asked for, after the programs were loaded.  What does not work is kept as a
 * sentence, and all else goes on.
 */
void bpf_stacks_open(struct bpf_state *state, const struct tracer_stack_options *options);
void bpf_stacks_close(struct bpf_state *state);

/* A process joined the tree, or it ended.  0 or -ENOMEM. */
int bpf_stacks_join(struct bpf_state *state, int32_t pid);
int bpf_stacks_end(struct bpf_state *state, int32_t pid, uint64_t time_ns);

/* Members of struct tracer_kind. */
int bpf_drain_stacks(void *state, const struct tracer_stack_sink *sink);
void bpf_stack_losses(void *state, struct tracer_stack_losses *ret);
const struct source_report *bpf_stack_trouble(void *state);

#endif
