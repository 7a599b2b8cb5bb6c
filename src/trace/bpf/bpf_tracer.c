/* SPDX-License-Identifier: MIT */
/*
 * The tracer that follows a tree with BPF programs.  Events come through a ring buffer, samples of
 * what lives through an iterator.
 */
#include "trace/bpf/bpf_tracer.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "host/bpf.h"
#include "host/bpf_ring.h"
#include "host/host.h"
#include "model/tree/run.h"
#include "trace/bpf/tree_program.h"

#define WAKERS_MAX 16

static int note_event(struct bpf_state *state, const struct tree_event *event)
{
	bool is_process = event->task.pid == event->task.tid;
	struct ended ended = { event->task.tid, event->task.start_ns };

	if (event->type == TREE_FORK)
		state->live_threads++;
	if (event->type == TREE_THREAD && event->account.ended && state->live_threads)
		state->live_threads--;
	if (event->type == TREE_FORK && bpf_stacks_join(state, event->task.pid) < 0)
		return -ENOMEM;
	if (event->type == TREE_FORK)
		return is_process ? live_processes_add(&state->live, &event->task) :
				    live_processes_know(&state->live, event->task.pid);
	if (event->type == TREE_THREAD && !event->account.ended && state->recovers)
		return live_processes_know(&state->live, event->task.pid);
	if (event->type == TREE_PROCESS && event->process.ended) {
		live_processes_remove(&state->live, event->task.pid);
		return bpf_stacks_end(state, event->task.pid, event->time_ns);
	}
	if (event->type == TREE_THREAD && event->account.ended && state->notes_ended)
		return array_append(&state->ended, ended);
	return 0;
}

/* All events go through here, so that `live` is up to date. */
int bpf_pass_on(void *context, const struct tree_event *event)
{
	struct bpf_state *state = context;
	int status = note_event(state, event);

	return status < 0 ? status : state->sink(state->context, event);
}

int bpf_take_record(void *context, void *bytes, size_t length)
{
	struct bpf_state *state = context;
	int status = tree_decoder_send(&state->decoder, bytes, length, bpf_pass_on, state);

	if (status != -EBADMSG)
		return status;
	state->bad_records++;
	return 0;
}

/*
 * Clears the wake-up before the ring is read, so that records that arrive meanwhile wake us again.
 */
static void clear_wake_up(const struct bpf_state *state)
{
	struct epoll_event events[WAKERS_MAX];

	while (epoll_wait(state->wake_fd, events, WAKERS_MAX, 0) == WAKERS_MAX)
		continue;
}

int bpf_drain(void *context, tree_event_sink *sink, void *sink_context)
{
	struct bpf_state *state = context;
	int status;

	state->sink = sink;
	state->context = sink_context;
	status = bpf_send_found(state);
	if (status < 0)
		return status;
	clear_wake_up(state);
	return bpf_ring_drain(state->ring);
}

static int wake_fd(void *context)
{
	struct bpf_state *state = context;

	return state->wake_fd;
}

static void losses(void *context, struct run_losses *ret)
{
	struct bpf_state *state = context;
	const uint64_t *counts = (const uint64_t *)state->program->bss->losses;

	ret->events = counts[TREE_LOSS_EVENTS] + state->bad_records;
	ret->threads = counts[TREE_LOSS_THREADS] + state->left_out;
	ret->unnamed_syscalls = counts[TREE_LOSS_CALLS];
	ret->waits = counts[TREE_LOSS_WAITS];
	ret->untracked_tasks = counts[TREE_LOSS_TASKS];
	ret->scope_waits = counts[TREE_LOSS_SCOPES];
}

static const struct source_report sources[] = {
	{
		.name = "tree",
		.state = SOURCE_OK,
	},
	{
		.name = "ledger",
		.state = SOURCE_OK,
	},
	{
		.name = "syscalls",
		.state = SOURCE_OK,
	},
	{
		.name = "critical_path",
		.state = SOURCE_OK,
	},
	{
		.name = "stacks",
		.state = SOURCE_OK,
	},
};

static void close_state(void *context)
{
	struct bpf_state *state = context;

	if (!state)
		return;
	close_fd(&state->wake_fd);
	bpf_stacks_close(state);
	bpf_ring_close(state->ring);
	tree_loader_close(state->program);
	bpf_forget_found(state);
	array_free(&state->found);
	array_free(&state->ended);
	array_free(&state->sampled);
	live_processes_clear(&state->live);
	free(state);
}

CLEANUP_POINTER(close_state, struct bpf_state)

/*
 * The ring is readable whenever it is not empty.  With EPOLLET we hear only the wake-ups that the
 * BPF programs ask for, not every record.
 */
int bpf_listen(struct bpf_state *state, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(state->wake_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int listen_to_ring(struct bpf_state *state)
{
	state->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	return state->wake_fd < 0 ? -errno : bpf_listen(state, state->program->maps.ring.map_fd);
}

static int open_state(const struct host *host, const struct tracer_options *options, void **ret,
		      struct error *error)
{
	CLEANUP(close_state_pointer) struct bpf_state *state = calloc(1, sizeof(*state));
	int status;

	if (!state)
		return error_set(error, -ENOMEM, "out of memory");
	state->host = host;
	state->wake_fd = -1;
	state->decoder.page_bytes = host->page_bytes;
	state->decoder.boottime_offset_ns = host_boottime_offset_ns(host);
	state->decoder.own_pid = getpid();
	status = tree_loader_open(host, options, &state->program, error);
	if (status < 0)
		return status;
	status = bpf_ring_open(state->program->maps.ring.map_fd, bpf_take_record, state,
			       &state->ring);
	if (status == 0)
		status = listen_to_ring(state);
	if (status < 0)
		return host_bpf_explain(status, error);
	bpf_stacks_open(state, &options->stacks);
	host_bpf_keep_from_forks(host);
	*ret = TAKE_PTR(state);
	return 0;
}

const struct tracer_kind bpf_tracer = {
	.name = "bpf",
	.needs = "CAP_BPF and CAP_PERFMON, or root",
	.misses = NULL,
	.sources = sources,
	.source_count = ARRAY_SIZE(sources),
	.open = open_state,
	.follow = bpf_follow,
	.fd = wake_fd,
	.drain = bpf_drain,
	.sample = bpf_sample,
	.follow_scopes = bpf_follow_scopes,
	.scope_waits = bpf_scope_waits,
	.forget_scopes = bpf_forget_scopes,
	.drain_stacks = bpf_drain_stacks,
	.stack_losses = bpf_stack_losses,
	.stack_trouble = bpf_stack_trouble,
	.losses = losses,
	.close = close_state,
};
