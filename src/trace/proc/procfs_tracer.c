/* SPDX-License-Identifier: MIT */
/*
 * The tracer for users without any privilege: follows a tree by reading /proc, and learns of ends
 * from pidfds.
 *
 * A sample finds new children and threads of members, and what each used.  A process that ended is
 * read once more; if its parent has not reaped it yet, its final values are there.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "host/host.h"
#include "model/tree/run.h"
#include "trace/proc/members.h"
#include "trace/connector/own_child.h"
#include "trace/proc/proc_sample.h"
#include "trace/proc/scan.h"
#include "trace/tracer.h"

#define ENDS 64 /* ends that are taken in one call */

struct procfs_state {
	struct members members;
	int epoll;
	struct own_child child;
	int child_pidfd; /* of the command while it is held */
};

static void state_close(void *context)
{
	struct procfs_state *state = context;

	if (!state)
		return;
	members_clear(&state->members);
	close_fd(&state->child_pidfd);
	close_fd(&state->epoll);
	free(state);
}

CLEANUP_POINTER(state_close, struct procfs_state)

static int state_open(const struct host *host, const struct tracer_options *options, void **ret,
		      struct error *error)
{
	CLEANUP(state_close_pointer) struct procfs_state *state = calloc(1, sizeof(*state));
	int status;

	(void)options;
	if (!state)
		return error_set(error, -ENOMEM, "out of memory");
	state->child_pidfd = state->epoll = -1;
	state->members.since_start = options->since_start;
	status = members_open(&state->members, host, error);
	if (status < 0)
		return status;
	state->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (state->epoll < 0)
		return error_set(error, -errno, "no epoll instance: %s", strerror(errno));
	*ret = TAKE_PTR(state);
	return 0;
}

/*
 * `number` identifies the process in the epoll event: its pid, or 0 for the command while it is
 * held.  Returns -1 when there are no fds left.
 */
static int watch(struct procfs_state *state, int32_t pid, int32_t number)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = (uint32_t)number };
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (pidfd < 0)
		return -1;
	if (epoll_ctl(state->epoll, EPOLL_CTL_ADD, pidfd, &event) == 0)
		return pidfd;
	close(pidfd);
	return -1;
}

/* The pidfd may be of another process that has the number now, so check which process it is. */
static void watch_member(struct procfs_state *state, struct member *member)
{
	struct proc_sample sample;
	int pidfd = watch(state, member->key.pid, member->key.pid);

	if (pidfd >= 0 && (proc_sample_process(state->members.host, member->key.pid, &sample) < 0 ||
			   !scan_is_member(&state->members, member, &sample))) {
		close(pidfd);
		pidfd = -1;
	}
	member->pidfd = pidfd;
}

static void watch_new(struct procfs_state *state)
{
	struct members *members = &state->members;

	for (size_t i = 0; i < members->list.count; i++)
		if (members->list.data[i]->pidfd < 0)
			watch_member(state, members->list.data[i]);
}

static int state_follow(void *context, const int32_t *pids, size_t count, bool at_exec,
			struct error *error)
{
	struct procfs_state *state = context;
	int status;

	if (at_exec) {
		state->child_pidfd = watch(state, pids[0], 0);
		return own_child_hold(&state->child, &state->members, pids[0], error);
	}
	status = scan_follow(&state->members, pids, count, error);
	watch_new(state);
	return status;
}

static int state_fd(void *context)
{
	const struct procfs_state *state = context;

	return state->epoll;
}

/* The status of an ended process that /proc still lists, if we may see it. */
static bool listed_status(const struct members *members, const struct member *member,
			  const struct proc_sample *sample, int *ret)
{
	if (!proc_sample_may_see_status(members->host, member->key.pid))
		return false;
	*ret = sample->status;
	return true;
}

/*
 * Learns the exit status.  Before the process is reaped /proc has it, afterwards the pidfd; it can
 * be reaped at any moment, so try the pidfd before and after /proc.
 */
static void learn_end(struct procfs_state *state, struct member *member)
{
	struct members *members = &state->members;
	struct member_thread *leader = members_find_thread(members, member->key.pid);
	struct proc_sample sample;
	bool listed = proc_sample_thread(members->host, &members->reader, member->key.pid,
					 member->key.pid, &sample) == 0 &&
		      scan_is_member(members, member, &sample) && sample.is_dead;

	if (listed && leader) {
		member_thread_learn(leader, &sample);
		leader->complete = true;
	}
	member->has_status = proc_sample_pidfd_status(member->pidfd, &member->status) ||
			     (listed && listed_status(members, member, &sample, &member->status)) ||
			     proc_sample_pidfd_status(member->pidfd, &member->status);
	if (listed)
		number_map_set(&members->done, member->key.pid, members);
}

static void end_member(struct procfs_state *state, struct member *member)
{
	learn_end(state, member);
	own_child_measure(&state->child, &state->members, member);
	member_update_unseen(member);
	members_end(&state->members, member, monotonic_ns());
}

/*
 * The held command ended.  If /proc shows that it did no exec it is forgotten; otherwise it counts
 * as begun: the session knows whether it ran.
 */
static int begin_late(struct procfs_state *state)
{
	struct own_child *child = &state->child;
	struct proc_sample sample;

	if (!child->is_held)
		return 0;
	if (proc_sample_process(state->members.host, child->pid, &sample) == 0 &&
	    !sample.has_executed) {
		child->is_held = false;
		return 0;
	}
	return own_child_begin(child, &state->members, child->held_ns);
}

/* Once it did its exec, the command is a member like others. */
static int check_child(struct procfs_state *state)
{
	int status = own_child_check(&state->child, &state->members);

	if (status == 0 && !state->child.is_held && state->child_pidfd >= 0) {
		close_fd(&state->child_pidfd);
		state->child_pidfd = -1;
		watch_new(state);
	}
	return status;
}

static int take_end(struct procfs_state *state, int32_t pid)
{
	struct member *member = members_find(&state->members, pid);
	int status = 0;

	if (pid == 0) {
		status = begin_late(state);
		member = members_find(&state->members, state->child.pid);
		if (member)
			member->pidfd = state->child_pidfd;
		else
			close_fd(&state->child_pidfd);
		state->child_pidfd = -1;
	}
	if (member)
		end_member(state, member);
	return status;
}

static int take_ends(struct procfs_state *state)
{
	struct epoll_event events[ENDS];
	int count, status = 0;

	do {
		count = epoll_wait(state->epoll, events, ENDS, 0);
		for (int i = 0; i < count && status == 0; i++)
			status = take_end(state, (int32_t)events[i].data.u32);
	} while (count == ENDS && status == 0);
	return status;
}

static int state_drain(void *context, tree_event_sink *sink, void *sink_context)
{
	struct procfs_state *state = context;
	int status;

	members_set_sink(&state->members, sink, sink_context);
	status = check_child(state);
	members_announce(&state->members, monotonic_ns());
	if (status == 0)
		status = take_ends(state);
	return status < 0 ? status : state->members.status;
}

/* A process without a pidfd has ended when /proc no longer lists it. */
static int sample_members(struct procfs_state *state)
{
	struct members *members = &state->members;

	members->round++;
	for (size_t i = members->list.count; i-- > 0;) {
		struct member *member = members->list.data[i];
		int status = scan_threads(members, member, true);

		if (proc_sample_is_shortage(status))
			return status;
		if (member->pidfd < 0 && (status == -ESRCH || scan_is_dead(members, member)))
			end_member(state, member);
	}
	return 0;
}

/*
 * Children are found first, so that what a member used is not older than they are.  The charges of
 * parents are read before the ends of children are taken; so each child in a charge is known to
 * have ended.
 */
static int state_sample(void *context, enum tracer_depth depth, tree_event_sink *sink,
			void *sink_context)
{
	struct procfs_state *state = context;
	struct members *members = &state->members;
	int status = state_drain(state, sink, sink_context);

	(void)depth;
	if (status == 0)
		status = scan_descendants(members);
	watch_new(state);
	if (status == 0)
		status = sample_members(state);
	if (status == 0)
		status = take_ends(state);
	if (status == 0)
		members_facts(members);
	scan_forget_done(members);
	return status < 0 ? status : members->status;
}

static uint64_t state_sample_waits(void *context, uint64_t now_ns)
{
	struct procfs_state *state = context;

	return state_sampler_take(&state->members, now_ns);
}

static struct wait_sampling state_wait_sampling(void *context)
{
	const struct procfs_state *state = context;

	return state_sampler_taken(&state->members);
}

static void state_losses(void *context, struct run_losses *ret)
{
	const struct procfs_state *state = context;

	ret->threads = state->members.lost_threads;
}

static const struct source_report sources[] = {
	{ .name = "tree",
	  .state = SOURCE_PARTIAL,
	  .reason =
		  "samples of proc miss what begins and ends between two of them; kernel events need CAP_BPF and "
		  "CAP_PERFMON, or CAP_NET_ADMIN" },
	{ .name = "ledger",
	  .state = SOURCE_PARTIAL,
	  .reason = "why threads are blocked is sampled; counts and longest waits need BPF" },
	{ .name = "syscalls",
	  .state = SOURCE_UNAVAILABLE,
	  .reason = "proc does not count system calls: that needs BPF" },
	{ .name = "critical_path",
	  .state = SOURCE_UNAVAILABLE,
	  .reason = "proc does not report who ended a wait: that needs BPF" },
	{ .name = "stacks",
	  .state = SOURCE_UNAVAILABLE,
	  .reason = "proc does not show where in its code a thread is: that needs BPF" },
};

const struct tracer_kind procfs_tracer = {
	.name = "procfs",
	.needs = "nothing but proc",
	.misses =
		"processes and threads that live between two samples (up to the sampling interval), "
		"and their CPU time unless a parent that waited for them shows it",
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
