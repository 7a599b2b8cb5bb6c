/* SPDX-License-Identifier: MIT */
/* The programs that follow a tree, and tasks for them to follow. */
#ifndef TESTS_UNIT_KERNEL_ACTORS_H
#define TESTS_UNIT_KERNEL_ACTORS_H
#pragma GCC system_header

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct task_struct;
static struct pt_regs *bpf_task_pt_regs(struct task_struct *task);

/* Constants of the loader are the test's to set. */
#define const
#include "bpf/tree/tree.bpf.c"
#undef const

#include <cmocka.h>

/* A task with all that belongs to it. */
struct actor {
	struct task_struct task;
	struct signal_struct signal;
	struct sighand_struct handlers;
	struct pid pid;
	struct upid inner; /* behind the pid's first number */
	struct mm_struct mm;
	struct pt_regs registers;
	struct files_struct files;
	struct fdtable table;
	struct file *descriptors[64];
	struct rq queue;
	struct cfs_rq fair_queue;
};

static struct pt_regs *bpf_task_pt_regs(struct task_struct *task)
{
	return &((struct actor *)task)->registers;
}

static void actor_init(struct actor *actor, int pid, int tgid, struct actor *parent)
{
	memset(actor, 0, sizeof(*actor));
	actor->task.pid = pid;
	actor->task.tgid = tgid;
	actor->task.start_boottime = (__u64)pid * 1000;
	snprintf(actor->task.comm, sizeof(actor->task.comm), "actor of no %d", pid);
	actor->task.group_leader = &actor->task;
	actor->task.real_parent = parent ? &parent->task : &actor->task;
	actor->task.thread_pid = &actor->pid;
	actor->task.signal = &actor->signal;
	actor->task.sighand = &actor->handlers;
	actor->task.mm = &actor->mm;
	actor->task.files = &actor->files;
	actor->files.fdt = &actor->table;
	actor->files.count.counter = 1;
	actor->fair_queue.rq = &actor->queue;
	actor->task.se.cfs_rq = &actor->fair_queue;
	actor->table.fd = actor->descriptors;
	actor->table.max_fds = 64;
	actor->pid.numbers[0].nr = pid;
	actor->signal.pids[PIDTYPE_TGID] = &actor->pid;
	actor->registers.orig_ax = (unsigned long)-1;
}

/* A thread of the leader's process. */
static void actor_init_thread(struct actor *actor, int pid, struct actor *leader)
{
	actor_init(actor, pid, leader->task.tgid, NULL);
	actor->task.group_leader = &leader->task;
	actor->task.real_parent = leader->task.real_parent;
	actor->task.signal = &leader->signal;
}

/* The scheduler has another clock than the programs. */
#define SCHEDULER_CLOCK(ns) ((ns) + 100000000)

/* As it was before anything. */
static void kernel_reset(void)
{
	while (kernel_value_count)
		free(kernel_values[--kernel_value_count].value);
	kernel_sent_count = kernel_discarded = kernel_output_size = 0;
	kernel_ring_used = 0;
	kernel_ring_is_full = kernel_has_no_memory = false;
	kernel_lacks = "";
	kernel_meanwhile = NULL;
	kernel_now = 1000000;
	memset(losses, 0, sizeof(losses));
	memset((void *)rules, 0, sizeof(rules));
	memset((void *)traffic_rules, 0, sizeof(traffic_rules));
	memset(&seed_state, 0, sizeof(seed_state));
	torn_samples = 0;
	reader_level = 0;
	reader_namespace = 0;
	reader_tgid = 0;
	want_calls = 1;
	want_waits = 0;
	threshold_ns = records_begin_ns = records_sent = 0;
	first_clock_offset = -SCHEDULER_CLOCK(0ULL);
	is_first_awaited = 1;
	serials = 0;
	preempt_distance = 0;
	sample_calls = seed_mode = 0;
	seed_pid = 0;
	seed_pass = 0;
}

static void fork_to(struct actor *parent, struct actor *child)
{
	__u64 arguments[] = { (__u64)parent, (__u64)child };

	tree_fork(arguments);
}

/* At that time one task goes, in a state, and another comes. */
static void switch_at(__u64 now, struct actor *leaving, __u32 task_state, struct actor *entering)
{
	__u64 arguments[] = { 0, (__u64)leaving, (__u64)entering, task_state };

	kernel_now = now;
	kernel_current = &leaving->task;
	leaving->queue.clock = SCHEDULER_CLOCK(now);
	leaving->task.__state = task_state;
	leaving->task.on_cpu = 0;
	entering->task.on_cpu = 1;
	tree_switch(arguments);
	entering->task.sched_info.last_arrival = SCHEDULER_CLOCK(now);
	entering->task.__state = 0;
	kernel_current = &entering->task;
}

/* At that time the task is woken. */
static void wake_at(__u64 now, struct actor *actor)
{
	__u64 arguments[] = { (__u64)actor };

	kernel_now = now;
	tree_waking(arguments);
	actor->task.__state = 0;
}

/* Makes the task a member as if its parent, a member, had forked it just now. */
static struct thread_state *join(struct actor *actor)
{
	child_join(&actor->task, 0);
	kernel_sent_count = 0;
	return thread_find(&actor->task);
}

static void *sent(size_t index)
{
	assert_true(index < kernel_sent_count);
	return kernel_sent[index].bytes;
}

/* The record of a look at the task. */
static struct tree_thread_record *look_at(struct actor *actor)
{
	struct bpf_iter_meta meta = { 0 };
	struct bpf_iter__task context = { &meta, &actor->task };

	kernel_output_size = 0;
	tree_sample(&context);
	return kernel_output_size ? (void *)kernel_output : NULL;
}

#endif
