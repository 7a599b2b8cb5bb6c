/* SPDX-License-Identifier: MIT */
/* Takes samples: an account of each live thread, and the facts of each live process. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/bpf.h"
#include "host/host.h"
#include "trace/bpf/bpf_tracer.h"
#include "trace/bpf/tree_program.h"

#define SINGLE_WALKS 16 /* up to this many processes are walked one by one */
#define FINAL_TRIES 4	/* to read accounts that switches interrupted */
#define LAST_ACCOUNT_TRIES 20
#define LAST_ACCOUNT_NS 500000

static ssize_t keep_records(void *context, const void *bytes, size_t length)
{
	struct bpf_state *state = context;

	if (array_reserve(&state->sampled, state->sampled.count + length) < 0)
		return -ENOMEM;
	memcpy(state->sampled.data + state->sampled.count, bytes, length);
	state->sampled.count += length;
	return (ssize_t)length;
}

static int walk_live(struct bpf_state *state, int program)
{
	int status = 0;

	for (size_t i = 0; i < state->live.items.count && status == 0; i++) {
		status = host_bpf_iterate(program, state->live.items.data[i].key.pid, keep_records,
					  state);
		if (status == -ESRCH || status == -ENOENT)
			status = 0;
	}
	return status;
}

/*
 * Whether events were lost since the last sample: then forks may be missing, and only a walk over
 * all tasks finds those processes.
 */
static bool has_lost(struct bpf_state *state)
{
	const uint64_t *counts = (const uint64_t *)state->program->bss->losses;
	uint64_t lost = counts[TREE_LOSS_EVENTS] + counts[TREE_LOSS_TASKS];
	bool is_more = lost != state->lost_before;

	state->lost_before = lost;
	return is_more;
}

static int walk(struct bpf_state *state)
{
	int program = state->program->progs.tree_walk.prog_fd;
	int status = -ENOTSUP;

	state->program->bss->is_seeding = false;
	state->sampled.count = 0;
	if (!state->recovers && state->live.items.count <= SINGLE_WALKS)
		status = walk_live(state, program);
	if (status == -ENOTSUP) {
		state->sampled.count = 0;
		status = host_bpf_iterate(program, 0, keep_records, state);
	}
	return status;
}

/*
 * An account that could not be read, because its thread kept switching, will be in the next
 * sample.  The final sample has no next one, so it tries again.
 */
static int read_accounts(struct bpf_state *state, enum tracer_depth depth)
{
	const volatile __u64 *torn = &state->program->bss->torn_samples;
	uint64_t before;
	int tries = depth == TRACER_FINAL ? FINAL_TRIES : 1;
	int status;

	state->program->bss->sample_calls = depth == TRACER_FINAL;
	state->recovers = has_lost(state);
	do {
		before = *torn;
		status = walk(state);
	} while (status == 0 && *torn != before && --tries > 0);
	if (depth == TRACER_FINAL)
		state->left_out += *torn - before;
	return status;
}

static int compare_ended(const void *left, const void *right)
{
	const struct ended *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

static bool has_ended(const struct bpf_state *state, const struct tree_record_head *head)
{
	struct ended key = { head->tid, tree_decoder_key(&state->decoder, head).start_ns };

	return array_find(&state->ended, &key, compare_ended);
}

/*
 * Reports the accounts.  Threads that ended meanwhile are left out: their last account was already
 * sent.
 */
static int send_accounts(struct bpf_state *state)
{
	size_t used = 0;

	state->sampled_threads = 0;
	array_sort(&state->ended, compare_ended);
	while (used < state->sampled.count) {
		const void *bytes = state->sampled.data + used;
		const struct tree_record_head *head = bytes;
		ssize_t size = tree_record_size(bytes, state->sampled.count - used);
		int status = 0;

		if (size <= 0)
			return -EBADMSG;
		if (!has_ended(state, head)) {
			status = bpf_take_record(state, (void *)bytes, (size_t)size);
			state->sampled_threads += head->type != TREE_RECORD_WAIT;
		}
		if (status < 0)
			return status;
		live_processes_mark(&state->live, head->pid);
		used += (size_t)size;
	}
	return 0;
}

static int send_processes(struct bpf_state *state)
{
	struct tree_event event = { .type = TREE_PROCESS };
	struct host_clock now = { 0 };

	host_clock(state->host, &now);
	event.time_ns = now.monotonic_ns;
	for (size_t i = 0; i < state->live.items.count; i++) {
		struct live_process *process = &state->live.items.data[i];
		int status = 0;

		if (!process->is_sampled)
			continue;
		process->is_sampled = false;
		event.task = process->key;
		event.process = (struct tree_process_facts){ 0 };
		if (process_facts_read(state->host, process->key.pid, process->key.start_ns,
				       &event.process) == 0)
			status = state->sink(state->context, &event);
		if (status < 0)
			return status;
	}
	return 0;
}

/*
 * A thread can be reaped and gone from all lists a moment before its last switch.  So wait for its
 * last account, but not for long: it may be lost because the ring was full.
 */
static int await_last_accounts(struct bpf_state *state)
{
	const struct timespec pause = { .tv_nsec = LAST_ACCOUNT_NS };
	int status = 0;

	for (int i = 0; i < LAST_ACCOUNT_TRIES && status == 0; i++) {
		if (state->live_threads <= state->sampled_threads)
			break;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		status = bpf_drain(state, state->sink, state->context);
	}
	return status;
}

/*
 * A thread may begin or end during the sample.  So events are drained after the walk and before
 * accounts are sent: a fork comes before its account, and no account follows an end.
 */
int bpf_sample(void *context, enum tracer_depth depth, tree_event_sink *sink, void *sink_context)
{
	struct bpf_state *state = context;
	int status = bpf_drain(state, sink, sink_context);

	if (status == 0)
		status = read_accounts(state, depth);
	if (status < 0)
		return status;
	state->ended.count = 0;
	state->notes_ended = true;
	status = bpf_drain(state, sink, sink_context);
	state->notes_ended = false;
	if (status == 0)
		status = send_accounts(state);
	if (status == 0 && depth == TRACER_FINAL)
		status = await_last_accounts(state);
	return status < 0 ? status : send_processes(state);
}
