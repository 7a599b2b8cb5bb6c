/*
 * Follows a tree by BPF programs: what happens comes through a ring buffer, looks at what lives
 * through an iterator.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "host/bpf.h"
#include "host/host.h"
#include "model/run.h"
#include "trace/command_lines.h"
#include "trace/live_processes.h"
#include "trace/tracer.h"
#include "trace/tree_decoder.h"
#include "trace/tree_loader.h"
#include "tree.skel.h"

#define SEED_PASSES_MAX 64
#define COMMAND_LINES_MS 500 /* for all of them */
#define SINGLE_WALKS 16	     /* up to so many processes are looked at one by one */
#define SETTLE_TRIES 20
#define SETTLE_NS 500000

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
	size_t live_threads; /* whose last account did not come yet */
	size_t seen_threads; /* in the last look */
	uint64_t bad_records;
	/* While events are handed over. */
	tree_event_sink *sink;
	void *context;
};

static int note_event(struct bpf_state *state, const struct tree_event *event)
{
	bool is_process = event->task.pid == event->task.tid;
	struct ended ended = { event->task.tid, event->task.start_ns };

	if (event->type == TREE_FORK)
		state->live_threads++;
	if (event->type == TREE_THREAD && event->account.ended && state->live_threads)
		state->live_threads--;
	if (event->type == TREE_FORK && is_process)
		return live_processes_add(&state->live, &event->task);
	if (event->type == TREE_PROCESS && event->process.ended)
		live_processes_remove(&state->live, event->task.pid);
	if (event->type == TREE_THREAD && event->account.ended && state->notes_ended)
		return array_append(&state->ended, ended);
	return 0;
}

/* Everything goes through here, so that we know who lives. */
static int pass_on(void *context, const struct tree_event *event)
{
	struct bpf_state *state = context;
	int status = note_event(state, event);

	return status < 0 ? status : state->sink(state->context, event);
}

static int take_record(void *context, void *bytes, size_t length)
{
	struct bpf_state *state = context;
	int status = tree_decoder_send(&state->decoder, bytes, length, pass_on, state);

	if (status != -EBADMSG)
		return status;
	state->bad_records++;
	return 0;
}

static void found_clear(struct bpf_state *state)
{
	for (size_t i = 0; i < state->found.count; i++)
		free(state->found.data[i].line.arguments);
	state->found.count = 0;
}

static int tell_found(struct bpf_state *state, const struct found *found)
{
	const struct tree_record_head *head = &found->record.head;
	struct tree_event event = {
		.type = TREE_EXEC,
		.task = { head->pid, head->tid,
			  head->start_ns + (uint64_t)state->decoder.boottime_offset_ns },
		.time_ns = head->time_ns,
	};
	int status = take_record(state, (void *)&found->record, sizeof(found->record));

	if (status < 0 || !found->line.arguments)
		return status;
	event.exec.arguments = found->line.arguments;
	event.exec.length = found->line.length;
	event.exec.cut = found->line.cut;
	memcpy(event.exec.comm, found->record.comm, sizeof(event.exec.comm));
	return pass_on(state, &event);
}

/* Before reading, so that what comes meanwhile wakes again. */
static void hear_wake_up(const struct bpf_state *state)
{
	struct epoll_event event;

	(void)epoll_wait(state->wake_fd, &event, 1, 0);
}

static int drain(void *context, tree_event_sink *sink, void *sink_context)
{
	struct bpf_state *state = context;
	int status = 0;

	state->sink = sink;
	state->context = sink_context;
	for (size_t i = 0; i < state->found.count && status == 0; i++)
		status = tell_found(state, &state->found.data[i]);
	found_clear(state);
	if (status < 0)
		return status;
	hear_wake_up(state);
	status = ring_buffer__consume(state->ring);
	return status < 0 ? status : 0;
}

/* Seeding */

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

/* Returns 0 and adds to `found`. */
static int seed(struct bpf_state *state, enum tree_seed mode, int32_t pid)
{
	int program = bpf_program__fd(state->program->progs.tree_seed);
	int status;

	state->program->bss->seed_mode = mode;
	state->program->bss->seed_pid = pid;
	state->program->bss->seed_pass++;
	status = host_bpf_iterate(program, pid, take_found, state);
	if (status == -ENOTSUP)
		status = host_bpf_iterate(program, 0, take_found, state);
	/* A walk of a process that is gone. */
	return status == -ESRCH || status == -ENOENT ? 0 : status;
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

static uint64_t monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void read_command_lines(struct bpf_state *state)
{
	uint64_t deadline = monotonic_ms() + COMMAND_LINES_MS;

	for (size_t i = 0; i < state->found.count; i++) {
		struct found *found = &state->found.data[i];
		uint64_t now = monotonic_ms();

		if (now >= deadline)
			return;
		if (found->record.head.pid == found->record.head.tid)
			command_line_read(state->host, found->record.head.pid,
					  (unsigned)(deadline - now), &found->line);
	}
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
	int status = seed(state, at_exec ? TREE_SEED_ARM : TREE_SEED_PROCESS, pid);

	if (status < 0)
		return host_bpf_explain(status, error);
	if (state->found.count == before)
		return refuse(pid, error);
	if (at_exec)
		state->found.count = before;
	return 0;
}

static int follow(void *context, const int32_t *pids, size_t count, bool at_exec,
		  struct error *error)
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

/* Looking */

static ssize_t take_looked(void *context, const void *bytes, size_t length)
{
	struct bpf_state *state = context;

	if (array_reserve(&state->looked, state->looked.count + length) < 0)
		return -ENOMEM;
	memcpy(state->looked.data + state->looked.count, bytes, length);
	state->looked.count += length;
	return (ssize_t)length;
}

static int walk_live(struct bpf_state *state, int program)
{
	int status = 0;

	for (size_t i = 0; i < state->live.items.count && status == 0; i++) {
		status = host_bpf_iterate(program, state->live.items.data[i].key.pid, take_looked,
					  state);
		if (status == -ESRCH || status == -ENOENT)
			status = 0;
	}
	return status;
}

static int look(struct bpf_state *state, enum tracer_depth depth)
{
	int program = bpf_program__fd(state->program->progs.tree_look);
	int status = -ENOTSUP;

	state->looked.count = 0;
	state->program->bss->look_calls = depth == TRACER_FINAL;
	if (state->live.items.count <= SINGLE_WALKS)
		status = walk_live(state, program);
	if (status == -ENOTSUP) {
		state->looked.count = 0;
		status = host_bpf_iterate(program, 0, take_looked, state);
	}
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
	struct ended key = { head->tid,
			     head->start_ns + (uint64_t)state->decoder.boottime_offset_ns };

	return state->ended.count &&
	       bsearch(&key, state->ended.data, state->ended.count, sizeof(key), compare_ended);
}

/* A thread that ended meanwhile was already told with its last account. */
static int tell_looked(struct bpf_state *state)
{
	size_t used = 0;

	state->seen_threads = 0;
	if (state->ended.count)
		qsort(state->ended.data, state->ended.count, sizeof(struct ended), compare_ended);
	while (used < state->looked.count) {
		const void *bytes = state->looked.data + used;
		const struct tree_record_head *head = bytes;
		ssize_t size = tree_record_size(bytes, state->looked.count - used);
		int status = 0;

		if (size <= 0)
			return -EBADMSG;
		if (!has_ended(state, head)) {
			status = take_record(state, (void *)bytes, (size_t)size);
			state->seen_threads++;
		}
		if (status < 0)
			return status;
		live_processes_see(&state->live, head->pid);
		used += (size_t)size;
	}
	return 0;
}

static int tell_processes(struct bpf_state *state)
{
	struct tree_event event = { .type = TREE_PROCESS };
	struct host_clock now = { 0 };

	host_clock(state->host, &now);
	event.time_ns = now.monotonic_ns;
	for (size_t i = 0; i < state->live.items.count; i++) {
		struct live_process *process = &state->live.items.data[i];
		int status = 0;

		if (!process->seen)
			continue;
		process->seen = false;
		event.task = process->key;
		event.process = (struct tree_process_facts){ 0 };
		if (process_facts_read(state->host, process->key.pid, &event.process) == 0)
			status = state->sink(state->context, &event);
		if (status < 0)
			return status;
	}
	return 0;
}

/*
 * A thread can be waited for and gone from all lists a moment before its last switch: its account
 * is awaited, but not for long, since it may have found the ring full.
 */
static int settle(struct bpf_state *state)
{
	const struct timespec pause = { .tv_nsec = SETTLE_NS };
	int status = 0;

	for (int i = 0; i < SETTLE_TRIES && status == 0; i++) {
		if (state->live_threads <= state->seen_threads)
			break;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		status = drain(state, state->sink, state->context);
	}
	return status;
}

/*
 * Who is looked at may be born, or end, meanwhile: its birth is told before its account, and
 * its account is left out after its end.
 */
static int sample(void *context, enum tracer_depth depth, tree_event_sink *sink, void *sink_context)
{
	struct bpf_state *state = context;
	int status = drain(state, sink, sink_context);

	if (status == 0)
		status = look(state, depth);
	if (status < 0)
		return status;
	state->ended.count = 0;
	state->notes_ended = true;
	status = drain(state, sink, sink_context);
	state->notes_ended = false;
	if (status == 0)
		status = tell_looked(state);
	if (status == 0 && depth == TRACER_FINAL)
		status = settle(state);
	return status < 0 ? status : tell_processes(state);
}

static int wake_fd(void *context)
{
	struct bpf_state *state = context;

	return state->wake_fd;
}

static void losses(void *context, struct tracer_losses *ret)
{
	struct bpf_state *state = context;
	const uint64_t *counts = (const uint64_t *)state->program->bss->losses;

	*ret = (struct tracer_losses){
		.events = counts[TREE_LOSS_EVENTS] + state->bad_records,
		.threads = counts[TREE_LOSS_THREADS],
		.unnamed_syscalls = counts[TREE_LOSS_CALLS],
		.wakers = counts[TREE_LOSS_WAKERS],
		.untracked_tasks = counts[TREE_LOSS_TASKS],
	};
}

static int report(void *context, struct run *run)
{
	struct bpf_state *state = context;
	int status = run_add_source(run, "tree", "ok", NULL);

	if (status == 0)
		status = run_add_source(run, "ledger", "ok", NULL);
	if (status == 0)
		status = run_add_source(run, "syscalls", state->options.syscalls ? "ok" : "off",
					state->options.syscalls ? NULL : "not asked for");
	if (status == 0)
		status = run_add_source(run, "wakers", state->options.wakers ? "ok" : "off",
					state->options.wakers ? NULL : "not asked for");
	return status;
}

static void close_state(void *context)
{
	struct bpf_state *state = context;

	if (!state)
		return;
	close_fd(&state->wake_fd);
	ring_buffer__free(state->ring);
	tree_loader_close(state->program);
	found_clear(state);
	array_free(&state->found);
	array_free(&state->ended);
	array_free(&state->looked);
	live_processes_clear(&state->live);
	free(state);
}

static void close_state_pointer(struct bpf_state **state)
{
	close_state(*state);
}

/*
 * The ring is readable whenever there is anything in it.  Edges are the wake-ups that the programs
 * ask for: nobody is woken by each record.
 */
static int listen_to_ring(struct bpf_state *state)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	state->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (state->wake_fd < 0 || epoll_ctl(state->wake_fd, EPOLL_CTL_ADD,
					    bpf_map__fd(state->program->maps.ring), &event) < 0)
		return -errno;
	return 0;
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
	state->options = *options;
	state->decoder.page_bytes = host->page_bytes;
	state->decoder.boottime_offset_ns = host_boottime_offset_ns(host);
	status = tree_loader_open(host, options, &state->program, error);
	if (status < 0)
		return status;
	state->ring =
		ring_buffer__new(bpf_map__fd(state->program->maps.ring), take_record, state, NULL);
	if (!state->ring)
		return host_bpf_explain(-errno, error);
	status = listen_to_ring(state);
	if (status < 0)
		return host_bpf_explain(status, error);
	*ret = TAKE_PTR(state);
	return 0;
}

const struct tracer_kind bpf_tracer = {
	.name = "bpf",
	.needs = "CAP_BPF and CAP_PERFMON, or root",
	.misses = NULL,
	.open = open_state,
	.follow = follow,
	.fd = wake_fd,
	.drain = drain,
	.sample = sample,
	.losses = losses,
	.report = report,
	.close = close_state,
};
