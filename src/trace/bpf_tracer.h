/* SPDX-License-Identifier: MIT */
/*
 * The parts of the tracer by BPF: private to src/trace/bpf_*.c.
 *
 *	bpf_tracer.c	events from the ring, and the tracer itself
 *	bpf_seed.c	makes members of processes that run
 *	bpf_look.c	accounts of what lives
 */
#ifndef TRACE_BPF_TRACER_H
#define TRACE_BPF_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "bpf/tree.h"
#include "trace/command_lines.h"
#include "trace/live_processes.h"
#include "trace/tracer.h"
#include "trace/tree_decoder.h"

struct ring_buffer;
struct tree_program;

/* A process or thread that lived before, to be told with the next events. */
struct found {
	struct tree_fork_record record;
	struct command_line line; /* of a process; arguments may be NULL */
};

struct ended {
	int32_t tid;
	uint64_t start_ns;
};

struct bpf_state {
	const struct host *host;
	struct tracer_options options;
	struct tree_program *program;
	struct ring_buffer *ring;
	int wake_fd; /* readable after a wake-up, until the next drain() */
	struct tree_decoder decoder;
	struct live_processes live;
	ARRAY_OF(struct found) found;
	ARRAY_OF(struct ended) ended; /* since the last look */
	ARRAY_OF(char) looked;	      /* records of the last look */
	bool notes_ended;
	size_t live_threads;  /* whose last account did not come yet */
	size_t seen_threads;  /* in the last look */
	uint64_t lost_before; /* when the last look began */
	bool recovers;	      /* this look finds processes whose beginning was lost */
	uint64_t left_out;    /* last looks that could not be taken */
	uint64_t bad_records;
	/* While events are handed over. */
	tree_event_sink *sink;
	void *context;
};

/* Hands a record on to the sink; one that makes no sense is counted. */
int bpf_take_record(void *state, void *bytes, size_t length);
/* The same for an event. */
int bpf_pass_on(void *state, const struct tree_event *event);
int bpf_drain(void *state, tree_event_sink *sink, void *context);

/* bpf_seed.c: struct tracer_kind's follow(). */
int bpf_follow(void *state, const int32_t *pids, size_t count, bool at_exec, struct error *error);
/* Tells what seeding found, and forgets it. */
int bpf_tell_found(struct bpf_state *state);
void bpf_forget_found(struct bpf_state *state);

/* bpf_look.c: struct tracer_kind's sample(). */
int bpf_sample(void *state, enum tracer_depth depth, tree_event_sink *sink, void *context);

#endif
