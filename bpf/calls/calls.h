/* SPDX-License-Identifier: MIT */
/*
 * What the programs that sum system calls by process write, shared with their reader.
 *
 * Task numbers are those in the reader's PID namespace, 0 for a task outside of it.  Times are of
 * CLOCK_MONOTONIC, start times of CLOCK_BOOTTIME.
 */
#ifndef BPF_CALLS_H
#define BPF_CALLS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* Sums of so many pairs of a process and a call fit between two reads. */
#define CALLS_SUMS 32768

/* A process, identified by its leader, and a call; the table is an enum tree_abi. */
struct calls_key {
	__u64 start_ns;
	__s32 pid;
	__u32 number;
	__u32 abi;
	__u32 reserved;
};

struct calls_sum {
	__u64 count;
	__u64 errors;
	__u64 total_ns;
	__u64 max_ns;
};

/* Which processes are watched. */
enum calls_scope {
	CALLS_SCOPE_HOST,
	CALLS_SCOPE_TREE,      /* those that the walk marked, and their descendants */
	CALLS_SCOPE_PROCESSES, /* those that the walk marked */
	CALLS_SCOPE_CGROUP,    /* those in a cgroup and below */
};

/* What the walk over all tasks does. */
enum calls_walk {
	CALLS_WALK_NOTHING,   /* finds out who its reader is */
	CALLS_WALK_ROOT,      /* marks the threads of one process, and reports it */
	CALLS_WALK_FAMILY,    /* marks threads and children of what is marked, and reports these */
	CALLS_WALK_SCOPE,     /* of a host or cgroup: notes in which call its threads wait */
	CALLS_WALK_UNDER_WAY, /* reports the threads that are in a call */
};

/* A process that was found (number -1), or a thread that is in a call. */
struct calls_record {
	__u64 start_ns; /* of the process */
	__s32 pid;
	__s32 tid;
	__s32 number;
	__u32 abi;
	__u64 enter_ns;
	__u64 now_ns;
	__u64 is_earlier; /* the call began before it was watched: enter_ns is when that began */
};

#endif
