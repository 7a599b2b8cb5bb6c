/* SPDX-License-Identifier: MIT */
/* Sends events about members: part of members.h. */
#include <string.h>

#include "base/clock.h"
#include "trace/proc/members.h"

#include "trace/proc/proc_sample.h"
#include "trace/tracer.h"

static void send_event(struct members *members, const struct tree_event *event)
{
	if (members->status == 0 && members->sink)
		members->status = members->sink(members->context, event);
}

static void send_arguments(struct members *members, struct member *member, uint64_t time_ns)
{
	struct tree_event event = { .type = TREE_EXEC, .task = member->key, .time_ns = time_ns };
	char buffer[TREE_ARGUMENTS_MAX + 2];

	(void)proc_sample_arguments(members->host, &members->reader, member->key.pid, 0, buffer,
				    &event.exec);
	memcpy(event.exec.comm, member->comm, sizeof(event.exec.comm));
	send_event(members, &event);
	member->arguments_due = false;
}

static void send_fork(struct members *members, const struct task_key *key, uint64_t time_ns,
		      struct tree_fork forked, const char comm[TREE_COMM_SIZE])
{
	struct tree_event event = {
		.type = TREE_FORK, .task = *key, .time_ns = time_ns, .fork = forked
	};

	memcpy(event.fork.comm, comm, sizeof(event.fork.comm));
	send_event(members, &event);
}

static void announce_process(struct members *members, struct member *member)
{
	struct tree_fork forked = { .parent_pid = member->parent_pid, .found = member->found };

	send_fork(members, &member->key, member->begin_ns, forked, member->comm);
	member->announced = true;
}

static void announce_thread(struct members *members, struct member_thread *thread)
{
	struct tree_fork forked = { .parent_pid = thread->key.pid, .found = thread->found };

	send_fork(members, &thread->key, thread->begin_ns, forked, thread->comm);
	thread->announced = true;
}

void members_announce_one(struct members *members, struct member *member, uint64_t time_ns)
{
	if (!member->has_news)
		return;
	if (!member->announced)
		announce_process(members, member);
	for (size_t i = 0; i < member->threads.count; i++)
		if (!member->threads.data[i]->announced)
			announce_thread(members, member->threads.data[i]);
	if (member->arguments_due)
		send_arguments(members, member, time_ns);
	member->has_news = false;
}

void members_announce(struct members *members, uint64_t time_ns)
{
	for (size_t i = 0; i < members->list.count; i++)
		members_announce_one(members, members->list.data[i], time_ns);
}

static void rename_all(struct member *member, const char comm[TREE_COMM_SIZE])
{
	memcpy(member->comm, comm, sizeof(member->comm));
	for (size_t i = 0; i < member->threads.count; i++)
		memcpy(member->threads.data[i]->comm, comm, sizeof(member->comm));
}

/* Without a new name it has none: the name of the old program would be wrong. */
void members_exec(struct members *members, struct member *member, const char *comm,
		  uint64_t time_ns)
{
	struct proc_sample sample = { 0 };

	if (proc_sample_process(members->host, member->key.pid, &sample) == 0)
		member->image = sample.image;
	else if (comm)
		memcpy(sample.comm, comm, sizeof(sample.comm));
	rename_all(member, sample.comm);
	member->has_peak = false;
	member->peak_rss_bytes = 0;
	member->arguments_due = member->has_news = true;
	members_announce_one(members, member, time_ns);
}

static uint64_t smaller(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

/* The time on a CPU is up to date when the thread is not on one, or was read when it had ended. */
static void fill_waits(struct amounts *amounts, struct member_thread *thread, uint64_t blocked_ns,
		       bool ended)
{
	if (ended && !thread->complete)
		sampled_waits_credit_unseen(&thread->waits, blocked_ns);
	else if (ended || thread->state != 'R')
		sampled_waits_credit(&thread->waits, blocked_ns, ended);
	sampled_waits_fill(&thread->waits, amounts);
}

/*
 * Counters and clock are not read at the same instant; cap the parts so that they never exceed the
 * whole.
 */
static void fill_amounts(const struct members *members, struct amounts *amounts,
			 struct member_thread *thread, uint64_t time_ns, bool ended)
{
	uint64_t rest = time_ns > thread->begin_ns ? time_ns - thread->begin_ns : 0;

	*amounts = thread->since;
	if (members->since_start)
		return;
	amounts_set(amounts, AMOUNT_wall_time_ns, rest);
	if (amounts_has(amounts, AMOUNT_run_time_ns)) {
		uint64_t run = smaller(amounts_get(amounts, AMOUNT_run_time_ns), rest);

		amounts_set(amounts, AMOUNT_run_time_ns, run);
		rest -= run;
	}
	if (amounts_has(amounts, AMOUNT_wait_time_ns)) {
		uint64_t queue = smaller(amounts_get(amounts, AMOUNT_wait_time_ns), rest);

		amounts_set(amounts, AMOUNT_wait_time_ns, queue);
		fill_waits(amounts, thread, rest - queue, ended);
	}
}

void members_account(struct members *members, struct member_thread *thread, uint64_t time_ns,
		     bool ended)
{
	struct tree_event event = {
		.type = TREE_THREAD,
		.task = thread->key,
		.time_ns = time_ns,
		.account = {
			.ended = ended,
			.end_ns = ended ? time_ns : 0,
			.now = { .state = ended ? 'X' : thread->state },
		},
	};

	members_announce_one(members, thread->process, time_ns);
	memcpy(event.account.comm, thread->comm, sizeof(event.account.comm));
	fill_amounts(members, &event.account.amounts, thread, time_ns, ended);
	send_event(members, &event);
}

static void fill_facts(const struct member *member, struct tree_process_facts *facts)
{
	facts->present |= TREE_PROCESS_UNSEEN | TREE_PROCESS_THREADS;
	facts->unseen_cpu_ns = member->unseen_ns;
	facts->threads = member->thread_count;
	if (member->has_uid) {
		facts->present |= TREE_PROCESS_UID;
		facts->uid = member->uid;
	}
	if (member->has_peak) {
		facts->present |= TREE_PROCESS_PEAK_RSS;
		facts->peak_rss_bytes = member->peak_rss_bytes;
	}
}

static void send_facts(struct members *members, struct member *member, uint64_t time_ns)
{
	struct tree_event event = { .type = TREE_PROCESS, .task = member->key, .time_ns = time_ns };

	(void)process_facts_read(members->host, member->key.pid, member->key.start_ns,
				 &event.process);
	fill_facts(member, &event.process);
	members_announce_one(members, member, time_ns);
	send_event(members, &event);
}

void members_facts(struct members *members)
{
	for (size_t i = 0; i < members->list.count; i++) {
		member_update_unseen(members->list.data[i]);
		send_facts(members, members->list.data[i], monotonic_ns());
	}
}

void members_report_end(struct members *members, struct member *member, uint64_t time_ns)
{
	struct tree_event event = {
		.type = TREE_PROCESS,
		.task = member->key,
		.time_ns = time_ns,
		.process = { .ended = true, .end_ns = time_ns },
	};

	fill_facts(member, &event.process);
	if (member->has_status) {
		event.process.present |= TREE_PROCESS_STATUS;
		event.process.status = member->status;
	}
	members_announce_one(members, member, time_ns);
	send_event(members, &event);
}
