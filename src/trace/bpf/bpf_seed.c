/* SPDX-License-Identifier: MIT */
/* Makes members of processes that already run, and of the child of `run` before its exec. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "host/bpf.h"
#include "host/deadline_run.h"
#include "host/host.h"
#include "trace/bpf/bpf_tracer.h"
#include "trace/proc/proc_sample.h"
#include "trace/bpf/tree_program.h"

#define SEED_PASSES_MAX 64
#define SEED_TRIES_MAX 100
#define SEED_PAUSE_US 1000
#define COMMAND_LINES_NS (500 * NS_PER_MS) /* for all processes together */

void bpf_forget_found(struct bpf_state *state)
{
	for (size_t i = 0; i < state->found.count; i++)
		free(state->found.data[i].arguments);
	state->found.count = 0;
}

static int send_found(struct bpf_state *state, const struct found *found)
{
	struct tree_event event = {
		.type = TREE_EXEC,
		.task = tree_decoder_key(&state->decoder, &found->record.head),
		.time_ns = found->record.head.time_ns,
	};
	int status = bpf_take_record(state, (void *)&found->record, sizeof(found->record));

	if (status < 0 || !found->arguments)
		return status;
	event.exec.arguments = found->arguments;
	event.exec.length = found->length;
	event.exec.cut = found->cut;
	memcpy(event.exec.comm, found->record.comm, sizeof(event.exec.comm));
	return bpf_pass_on(state, &event);
}

int bpf_send_found(struct bpf_state *state)
{
	int status = 0;

	for (size_t i = 0; i < state->found.count && status == 0; i++)
		status = send_found(state, &state->found.data[i]);
	bpf_forget_found(state);
	return status;
}

static ssize_t take_found(void *context, const void *bytes, size_t length)
{
	struct bpf_state *state = context;
	size_t used = 0;

	for (;;) {
		ssize_t size = tree_record_size((const char *)bytes + used, length - used);
		struct found found = { 0 };

		if (size <= 0)
			return size < 0 ? size : (ssize_t)used;
		if (size != sizeof(found.record))
			return -EBADMSG;
		memcpy(&found.record, (const char *)bytes + used, sizeof(found.record));
		if (array_append(&state->found, found) < 0)
			return -ENOMEM;
		used += (size_t)size;
	}
}

/* Adds what it finds to `found`.  0 or a negative errno. */
static int seed(struct bpf_state *state, enum tree_seed mode, int32_t pid)
{
	int program = state->program->progs.tree_walk.prog_fd;
	int status;

	state->program->bss->is_seeding = true;
	state->program->bss->seed_mode = mode;
	state->program->bss->seed_pid = pid;
	state->program->bss->seed_pass++;
	status = host_bpf_iterate(program, pid, take_found, state);
	if (status == -ENOTSUP)
		status = host_bpf_iterate(program, 0, take_found, state);
	/* The process of this walk is gone. */
	return status == -ESRCH || status == -ENOENT ? 0 : status;
}

/*
 * The kernel takes the memory for a member from a reserve of its CPU, which on a busy host is empty now and
 * then: a process that found none there is tried again, and its loss taken back.  Only one is, since
 * forks of other members may count theirs meanwhile.
 */
static int seed_process(struct bpf_state *state, enum tree_seed mode, int32_t pid)
{
	uint64_t *lost = (uint64_t *)&state->program->bss->losses[TREE_LOSS_TASKS];
	size_t before = state->found.count;

	for (int i = 0; i < SEED_TRIES_MAX; i++) {
		uint64_t lost_before = *lost;
		int status = seed(state, mode, pid);

		if (status < 0 || state->found.count > before || *lost == lost_before)
			return status;
		__atomic_fetch_sub(lost, 1, __ATOMIC_RELAXED);
		usleep(SEED_PAUSE_US);
	}
	return -ENOMEM;
}

static int seed_family(struct bpf_state *state)
{
	int status = 0;

	for (int i = 0; i < SEED_PASSES_MAX && status == 0; i++) {
		size_t before = state->found.count;

		status = seed(state, TREE_SEED_FAMILY, 0);
		if (state->found.count == before)
			break;
	}
	return status;
}

static void read_command_line(const struct bpf_state *state, struct deadline_threads *reader,
			      struct found *found)
{
	struct task_key key = tree_decoder_key(&state->decoder, &found->record.head);
	char buffer[TREE_ARGUMENTS_MAX + 2];
	struct tree_exec exec;

	if (key.pid != key.tid ||
	    proc_sample_arguments(state->host, reader, key.pid, key.start_ns, buffer, &exec) < 0 ||
	    exec.length == 0)
		return;
	found->arguments = malloc(exec.length);
	if (!found->arguments)
		return;
	memcpy(found->arguments, exec.arguments, exec.length);
	found->length = exec.length;
	found->cut = exec.cut;
}

static void read_command_lines(struct bpf_state *state)
{
	CLEANUP(deadline_threads_clear) struct deadline_threads reader = { 0 };
	uint64_t deadline_ns = monotonic_ns() + COMMAND_LINES_NS;

	for (size_t i = 0; i < state->found.count && monotonic_ns() < deadline_ns; i++)
		read_command_line(state, &reader, &state->found.data[i]);
}

static int refuse(int32_t pid, struct error *error)
{
	return error_set(error, -ESRCH,
			 "there is no process %" PRId32
			 " that can be followed: it is gone, ended, or a kernel thread",
			 pid);
}

static int follow_one(struct bpf_state *state, int32_t pid, bool at_exec, struct error *error)
{
	size_t before = state->found.count;
	int status = seed_process(state, at_exec ? TREE_SEED_ARM : TREE_SEED_PROCESS, pid);

	if (status < 0)
		return host_bpf_explain(status, error);
	if (state->found.count == before)
		return refuse(pid, error);
	if (at_exec)
		state->found.count = before;
	if (bpf_stacks_join(state, pid) < 0)
		return error_set(error, -ENOMEM, "out of memory");
	return 0;
}

int bpf_follow(void *context, const int32_t *pids, size_t count, bool at_exec, struct error *error)
{
	struct bpf_state *state = context;
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++)
		status = follow_one(state, pids[i], at_exec, error);
	if (status < 0 || at_exec)
		return status;
	status = seed_family(state);
	if (status < 0)
		return host_bpf_explain(status, error);
	read_command_lines(state);
	return 0;
}
