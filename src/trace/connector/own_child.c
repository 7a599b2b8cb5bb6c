/* SPDX-License-Identifier: MIT */
#include "trace/connector/own_child.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/host.h"
#include "trace/proc/proc_sample.h"

static uint64_t cpu_ns(const struct rusage *usage)
{
	return timeval_ns(&usage->ru_utime) + timeval_ns(&usage->ru_stime);
}

static uint64_t reaped_ns(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_CHILDREN, &usage);
	return cpu_ns(&usage);
}

int own_child_hold(struct own_child *child, struct members *members, int32_t pid,
		   struct error *error)
{
	struct proc_sample sample;
	int status = proc_sample_thread(members->host, &members->reader, pid, pid, &sample);

	if (status < 0)
		return error_set(error, -ESRCH, "the process %d that was to be followed is gone",
				 pid);
	*child = (struct own_child){
		.pid = pid,
		.is_held = true,
		.start_ns = sample.start_ns,
		.held_ns = monotonic_ns(),
		.before = sample.counters,
		.reaped_before_ns = reaped_ns(),
	};
	return 0;
}

bool own_child_is_held(const struct own_child *child, int32_t pid)
{
	return child->is_held && child->pid == pid;
}

void own_child_forget_held(struct own_child *child, int32_t pid)
{
	if (own_child_is_held(child, pid))
		child->is_held = false;
}

int own_child_begin(struct own_child *child, struct members *members, uint64_t time_ns)
{
	struct task_key key = { child->pid, child->pid, child->start_ns };
	struct member *member = members_add(members, &key, getpid(), time_ns);

	if (!member)
		return -ENOMEM;
	child->is_held = false;
	member->is_child = true;
	member->executed = true;
	member->before_ns = amounts_get(&child->before, AMOUNT_run_time_ns);
	member->threads.data[0]->before = child->before;
	member->threads.data[0]->started = true;
	members_exec(members, member, NULL, time_ns);
	return 0;
}

int own_child_check(struct own_child *child, struct members *members)
{
	struct proc_sample sample;

	if (!child->is_held || proc_sample_process(members->host, child->pid, &sample) < 0 ||
	    !sample.has_executed)
		return 0;
	return own_child_begin(child, members, child->held_ns);
}

/* Reads the rusage of a zombie without reaping it.  The C library's waitid() cannot return it. */
static bool zombie_ns(int32_t pid, uint64_t *ret)
{
	struct rusage usage = { 0 };
	siginfo_t info = { 0 };

	if (syscall(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT, &usage) < 0 ||
	    info.si_pid != pid)
		return false;
	*ret = cpu_ns(&usage);
	return true;
}

void own_child_measure(const struct own_child *child, struct members *members,
		       struct member *member)
{
	struct member_thread *leader = members_find_thread(members, member->key.pid);
	struct proc_sample sample;
	uint64_t total;

	if (!member->is_child)
		return;
	if (leader && proc_sample_thread(members->host, &members->reader, member->key.pid,
					 member->key.pid, &sample) == 0)
		member_thread_learn(leader, &sample);
	/* If it was already reaped, it is the only child that was reaped since it was held. */
	if (!zombie_ns(member->key.pid, &total))
		total = reaped_ns() - child->reaped_before_ns;
	member_set_total(member, total);
}
