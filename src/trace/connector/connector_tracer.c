/* SPDX-License-Identifier: MIT */
/*
 * The tracer that uses the kernel's process connector and the exit records of taskstats.  Both
 * report all tasks of the host; following forks shows which ones belong to the tree.
 *
 * The record of an exit arrives before the exit event.  So a batch of events is received first,
 * then the records are read, then the events are handled.  When the kernel dropped events, /proc
 * shows who still lives and who is new.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "host/host.h"
#include "model/tree/run.h"
#include "trace/connector/connector_socket.h"
#include "trace/connector/exit_listener.h"
#include "trace/proc/members.h"
#include "trace/connector/own_child.h"
#include "trace/proc/proc_sample.h"
#include "trace/proc/scan.h"
#include "trace/tracer.h"

#define BATCHES_MAX 64 /* in one drain, so that it ends even in a storm of forks */

struct connector_state {
	struct members members;
	struct connector_socket *socket;
	struct exit_listener *listener;
	struct own_child child; /* the command */
	struct connector_event events[CONNECTOR_BATCH];
};

static void state_close(void *context)
{
	struct connector_state *state = context;

	if (!state)
		return;
	members_clear(&state->members);
	connector_socket_close(state->socket);
	exit_listener_close(state->listener);
	free(state);
}

CLEANUP_POINTER(state_close, struct connector_state)

static int state_open(const struct host *host, const struct tracer_options *options, void **ret,
		      struct error *error)
{
	CLEANUP(state_close_pointer) struct connector_state *state = calloc(1, sizeof(*state));
	int status;

	(void)options;
	if (!state)
		return error_set(error, -ENOMEM, "out of memory");
	state->members.since_start = options->since_start;
	status = members_open(&state->members, host, error);
	if (status == 0)
		status = connector_socket_open(&state->socket, error);
	if (status == 0)
		status = exit_listener_open(host, &state->listener, error);
	if (status < 0)
		return status;
	*ret = TAKE_PTR(state);
	return 0;
}

static int state_follow(void *context, const int32_t *pids, size_t count, bool at_exec,
			struct error *error)
{
	struct connector_state *state = context;

	if (at_exec)
		return own_child_hold(&state->child, &state->members, pids[0], error);
	return scan_follow(&state->members, pids, count, error);
}

static int state_fd(void *context)
{
	const struct connector_state *state = context;

	return connector_socket_fd(state->socket);
}

/* The start time comes from the event; the one in /proc is earlier by up to a tick. */
static struct task_key forked_key(const struct proc_event *event)
{
	const struct fork_proc_event *forked = &event->event_data.fork;

	return (struct task_key){ forked->child_tgid, forked->child_pid,
				  event->timestamp_ns + suspended_ns() };
}

static int handle_new_process(struct connector_state *state, const struct proc_event *event)
{
	struct members *members = &state->members;
	struct task_key key = forked_key(event);
	int32_t parent_pid = event->event_data.fork.parent_tgid;
	struct member *member = members_find(members, key.pid);
	struct proc_sample sample = { .start_ns = key.start_ns };

	if (!members_find(members, parent_pid))
		return 0;
	if (member && scan_is_member(members, member, &sample))
		return 0;
	if (member)
		members_end(members, member, event->timestamp_ns);
	member = members_add(members, &key, parent_pid, event->timestamp_ns);
	if (!member)
		return -ENOMEM;
	members_announce_one(members, member, event->timestamp_ns);
	return 0;
}

static int handle_new_thread(struct connector_state *state, const struct proc_event *event)
{
	struct members *members = &state->members;
	struct task_key key = forked_key(event);
	struct member *member = members_find(members, key.pid);
	struct member_thread *known = members_find_thread(members, key.tid);

	if (!member || (known && known->process == member))
		return 0;
	if (known)
		members_end_thread(members, known, event->timestamp_ns);
	if (!members_add_thread(members, member, &key, event->timestamp_ns))
		return -ENOMEM;
	members_announce_one(members, member, event->timestamp_ns);
	return 0;
}

static int handle_exec(struct connector_state *state, const struct proc_event *event)
{
	struct members *members = &state->members;
	int32_t pid = event->event_data.exec.process_tgid;
	struct member *member = members_find(members, pid);

	if (own_child_is_held(&state->child, pid))
		return own_child_begin(&state->child, members, event->timestamp_ns);
	/* For a process that was found, its program was already read when it was found. */
	if (!member || event->timestamp_ns < member->begin_ns)
		return 0;
	if (!members_find_thread(members, pid) && member->threads.count)
		members_replace_leader(members, member->threads.data[0], event->timestamp_ns);
	members_exec(members, member, exit_listener_comm(state->listener, pid),
		     event->timestamp_ns);
	return 0;
}

static void learn_record(struct member_thread *thread, const struct exit_record *record)
{
	struct member *member = thread->process;

	counters_raise(&thread->since, &thread->before, &record->counters);
	if (record->comm[0])
		memcpy(thread->comm, record->comm, sizeof(thread->comm));
	if (record->has_peak &&
	    (!member->has_peak || record->peak_rss_bytes > member->peak_rss_bytes)) {
		member->has_peak = true;
		member->peak_rss_bytes = record->peak_rss_bytes;
	}
}

/* The last thread ended: its status is that of the process. */
static void end_process(struct connector_state *state, struct member *member,
			const struct proc_event *event)
{
	member->has_status = true;
	member->status = event->event_data.exit.exit_code & 0xffff;
	if (event->event_data.exit.parent_tgid)
		member->parent_pid = event->event_data.exit.parent_tgid;
	members_end(&state->members, member, event->timestamp_ns);
}

static int handle_exit(struct connector_state *state, const struct proc_event *event)
{
	struct members *members = &state->members;
	int32_t tid = event->event_data.exit.process_pid;
	struct member_thread *thread = members_find_thread(members, tid);
	struct exit_record record;
	bool has_record = exit_listener_take(state->listener, tid, &record);
	struct member *member = thread ? thread->process : NULL;

	own_child_forget_held(&state->child, tid);
	if (!member || member->key.pid != event->event_data.exit.process_tgid)
		return 0;
	thread->complete = has_record;
	if (has_record)
		learn_record(thread, &record);
	else
		members->lost_threads++;
	if (member->threads.count == 1)
		own_child_measure(&state->child, members, member);
	members_end_thread(members, thread, event->timestamp_ns);
	if (!member->threads.count)
		end_process(state, member, event);
	return 0;
}

static int handle_comm(struct connector_state *state, const struct proc_event *event)
{
	const struct comm_proc_event *named = &event->event_data.comm;
	struct member_thread *thread = members_find_thread(&state->members, named->process_pid);

	if (!thread)
		return 0;
	memcpy(thread->comm, named->comm, sizeof(thread->comm));
	if (named->process_pid == named->process_tgid)
		memcpy(thread->process->comm, thread->comm, sizeof(thread->comm));
	return 0;
}

static int handle(struct connector_state *state, const struct proc_event *event)
{
	const struct fork_proc_event *forked = &event->event_data.fork;

	switch ((uint32_t)event->what) {
	case PROC_EVENT_FORK:
		return forked->child_pid == forked->child_tgid ? handle_new_process(state, event) :
								 handle_new_thread(state, event);
	case PROC_EVENT_EXEC:
		return handle_exec(state, event);
	case PROC_EVENT_EXIT:
		return handle_exit(state, event);
	case PROC_EVENT_COMM:
		return handle_comm(state, event);
	default:
		return 0;
	}
}

/* After a loss of events: finds in /proc who ended and who is new. */
static int resync(struct connector_state *state)
{
	struct members *members = &state->members;
	int status = 0;

	members->round++;
	status = own_child_check(&state->child, members);
	for (size_t i = members->list.count; i-- > 0 && status >= 0;) {
		struct member *member = members->list.data[i];

		status = scan_threads(members, member, false);
		if (status == -ESRCH || scan_is_dead(members, member))
			members_end(members, member, monotonic_ns());
		status = status == -ENOMEM ? status : 0;
	}
	if (status == 0)
		status = scan_descendants(members);
	members_announce(members, monotonic_ns());
	return status;
}

/*
 * Handles the events that have arrived.  Returns how many, -ENOBUFS after a loss, or another
 * errno.
 */
static int take_batch(struct connector_state *state)
{
	int count = connector_socket_receive(state->socket, state->events);
	int status;

	if (count <= 0)
		return count;
	status = exit_listener_read(state->listener);
	for (int i = 0; i < count && status == 0; i++) {
		status = handle(state, &state->events[i].kernel);
		status = status < 0 ? status : state->members.status;
	}
	return status < 0 ? status : count;
}

static int take_all(struct connector_state *state)
{
	bool lost = false;

	for (int batch = 0; batch < BATCHES_MAX; batch++) {
		int count = take_batch(state);

		lost = lost || count == -ENOBUFS;
		if (count == 0)
			break;
		if (count < 0 && count != -ENOBUFS)
			return count;
	}
	if (!lost)
		return 0;
	exit_listener_forget(state->listener);
	return resync(state);
}

static int state_drain(void *context, tree_event_sink *sink, void *sink_context)
{
	struct connector_state *state = context;
	int status;

	members_set_sink(&state->members, sink, sink_context);
	members_announce(&state->members, monotonic_ns());
	status = take_all(state);
	return status < 0 ? status : state->members.status;
}

static int sample_member(struct members *members, struct member *member)
{
	for (size_t i = 0; i < member->threads.count; i++) {
		struct member_thread *thread = member->threads.data[i];
		struct proc_sample sample;
		int status = proc_sample_thread(members->host, &members->reader, member->key.pid,
						thread->key.tid, &sample);

		if (proc_sample_is_shortage(status))
			return status;
		/* A thread that is gone is reported with its exit record. */
		if (status < 0)
			continue;
		if (sample.is_dead)
			continue;
		member_thread_learn(thread, &sample);
		members_account(members, thread, monotonic_ns(), false);
	}
	return 0;
}

/*
 * The charges of parents are read before the ends of children are taken; so each child in a charge
 * is known to have ended.
 */
static int state_sample(void *context, enum tracer_depth depth, tree_event_sink *sink,
			void *sink_context)
{
	struct connector_state *state = context;
	struct members *members = &state->members;
	int status = state_drain(state, sink, sink_context);

	(void)depth;
	for (size_t i = 0; i < members->list.count && status == 0; i++)
		status = sample_member(members, members->list.data[i]);
	if (status == 0)
		status = take_all(state);
	if (status == 0)
		members_facts(members);
	return status < 0 ? status : members->status;
}

static uint64_t state_sample_waits(void *context, uint64_t now_ns)
{
	struct connector_state *state = context;

	return state_sampler_take(&state->members, now_ns);
}

static struct wait_sampling state_wait_sampling(void *context)
{
	const struct connector_state *state = context;

	return state_sampler_taken(&state->members);
}

static void state_losses(void *context, struct run_losses *ret)
{
	const struct connector_state *state = context;

	ret->events = connector_socket_lost(state->socket);
	ret->threads = state->members.lost_threads;
}

static const struct source_report sources[] = {
	{ .name = "tree",
	  .state = SOURCE_PARTIAL,
	  .reason =
		  "the kernel's exit records end before the last moments of a thread: CPU time of short "
		  "processes is known in the sum of those that their parents waited for, not for each" },
	{ .name = "ledger",
	  .state = SOURCE_PARTIAL,
	  .reason = "why threads are blocked is sampled; counts and longest waits need BPF" },
	{ .name = "syscalls",
	  .state = SOURCE_UNAVAILABLE,
	  .reason = "process events do not report system calls: that needs BPF" },
	{ .name = "critical_path",
	  .state = SOURCE_UNAVAILABLE,
	  .reason = "process events do not report who ended a wait: that needs BPF" },
	{ .name = "stacks",
	  .state = SOURCE_UNAVAILABLE,
	  .reason = "process events do not show where in its code a thread is: that needs BPF" },
};

const struct tracer_kind connector_tracer = {
	.name = "connector",
	.needs = "CAP_NET_ADMIN in the host's namespaces, CONFIG_PROC_EVENTS and CONFIG_TASKSTATS",
	.misses =
		"the command line of processes that end at once, children that are made for their "
		"grandparent (CLONE_PARENT), and the CPU time of the last moments of processes that "
		"nobody waits for",
	.sources = sources,
	.source_count = ARRAY_SIZE(sources),
	.open = state_open,
	.follow = state_follow,
	.fd = state_fd,
	.drain = state_drain,
	.sample = state_sample,
	.sample_waits = state_sample_waits,
	.wait_sampling = state_wait_sampling,
	.losses = state_losses,
	.close = state_close,
};
