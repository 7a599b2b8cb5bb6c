/* SPDX-License-Identifier: MIT */
/*
 * The tracer that follows a tree with BPF programs: what its source files share.  Private to
 * src/trace/bpf.
 *
 *	bpf_tracer.c	events from the ring, and the tracer itself
 *	bpf_seed.c	makes members of processes that run
 *	bpf_sample.c	accounts of what lives
 *	bpf_scopes.c	waits in scopes of libtaskscope
 *	bpf_stacks.c	stacks, from a ring of their own
 *	tree_loader.c	loads and attaches the programs
 */
#ifndef TRACE_BPF_TRACER_H
#define TRACE_BPF_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "bpf/tree/tree.h"
#include "trace/bpf/bpf_stacks.h"
#include "trace/bpf/tree_decoder.h"
#include "trace/proc/live_processes.h"
#include "trace/tracer.h"

struct bpf_ring;
struct tree_program;

/* A process or thread that began before we watched; it is reported with the next events. */
struct found {
	struct tree_fork_record record;
	char *arguments; /* of a process, separated by NULs; NULL: not known */
	size_t length;
	bool cut; /* the rest was cut off */
};

struct ended {
	int32_t tid;
	uint64_t start_ns;
};

struct bpf_state {
	const struct host *host;
	struct tree_program *program;
	struct bpf_ring *ring;
	int wake_fd; /* readable after a wake-up, until the next drain() */
	struct tree_decoder decoder;
	struct live_processes live;
	struct bpf_stacks stacks;
	ARRAY_OF(struct found) found;
	ARRAY_OF(struct ended) ended; /* threads that ended during this sample */
	ARRAY_OF(char) sampled;	      /* records of the last sample */
	bool notes_ended;
	size_t live_threads;	/* whose last account has not arrived */
	size_t sampled_threads; /* in the last sample */
	uint64_t lost_before;	/* when the last sample began */
	bool recovers;		/* this sample searches for processes whose fork was lost */
	uint64_t left_out;	/* accounts missing from the final sample */
	uint64_t bad_records;
	/* Set while events are sent. */
	tree_event_sink *sink;
	void *context;
};

/* Sends a record's events to the sink; counts a record that is not valid. */
int bpf_take_record(void *state, void *bytes, size_t length);
/* The same for an event. */
int bpf_pass_on(void *state, const struct tree_event *event);
/* Also wakes the reader when this descriptor becomes readable.  0 or a negative errno. */
int bpf_listen(struct bpf_state *state, int fd);
int bpf_drain(void *state, tree_event_sink *sink, void *context);

/* bpf_seed.c: struct tracer_kind's follow(). */
int bpf_follow(void *state, const int32_t *pids, size_t count, bool at_exec, struct error *error);
/* Reports what seeding found, and forgets it. */
int bpf_send_found(struct bpf_state *state);
void bpf_forget_found(struct bpf_state *state);

/* tree_loader.c: loads what the options want; on failure the error says why it does not work. */
int tree_loader_open(const struct host *host, const struct tracer_options *options,
		     struct tree_program **ret, struct error *error);
void tree_loader_close(struct tree_program *program); /* NULL is allowed */

/* bpf_scopes.c: struct tracer_kind's follow_scopes(), scope_waits() and forget_scopes(). */
enum phase_following bpf_follow_scopes(void *state, const struct tracer_scopes *scopes);
int bpf_scope_waits(void *state, const struct tracer_scopes *scopes, scope_wait_sink *sink,
		    void *context);
void bpf_forget_scopes(void *state, int32_t pid);

/* bpf_sample.c: struct tracer_kind's sample(). */
int bpf_sample(void *state, enum tracer_depth depth, tree_event_sink *sink, void *context);

#endif
