/* SPDX-License-Identifier: MIT */
/* The programs that follow lives, and tasks for them to follow. */
#ifndef TESTS_UNIT_KERNEL_LIFE_ACTORS_H
#define TESTS_UNIT_KERNEL_LIFE_ACTORS_H
#pragma GCC system_header

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Constants of the loader are the test's to set. */
#define const
#include "bpf/life.bpf.c"
#undef const

#include <cmocka.h>

struct actor {
	struct task_struct task;
	struct signal_struct signal;
	struct sighand_struct handlers;
	struct pid pid;
	struct cred cred;
	struct mm_struct mm;
	struct css_set cgroups;
	struct cgroup cgroup;
	struct cgroup *more_ancestors[2]; /* behind the first one */
	struct kernfs_node node;
};

static void actor_init(struct actor *actor, int pid, struct actor *parent)
{
	memset(actor, 0, sizeof(*actor));
	actor->task.pid = actor->task.tgid = pid;
	actor->task.start_boottime = (__u64)pid * 1000;
	snprintf(actor->task.comm, sizeof(actor->task.comm), "actor %d", pid);
	actor->task.group_leader = &actor->task;
	actor->task.real_parent = parent ? &parent->task : &actor->task;
	actor->task.thread_pid = &actor->pid;
	actor->task.signal = &actor->signal;
	actor->task.sighand = &actor->handlers;
	actor->task.real_cred = &actor->cred;
	actor->task.mm = &actor->mm;
	actor->task.cgroups = &actor->cgroups;
	actor->cgroups.dfl_cgrp = &actor->cgroup;
	actor->cgroup.kn = &actor->node;
	actor->cgroup.ancestors[0] = &actor->cgroup;
	actor->node.id = (__u64)pid;
	actor->cred.euid.val = 7;
	actor->signal.nr_threads = actor->signal.live.counter = 1;
	actor->pid.numbers[0].nr = pid;
	actor->signal.pids[PIDTYPE_TGID] = &actor->pid;
}

static void actor_init_thread(struct actor *actor, int pid, struct actor *leader)
{
	actor_init(actor, pid, NULL);
	actor->task.tgid = leader->task.tgid;
	actor->task.group_leader = &leader->task;
	actor->task.real_parent = leader->task.real_parent;
	actor->task.signal = &leader->signal;
	leader->signal.nr_threads++;
	leader->signal.live.counter++;
}

#endif
