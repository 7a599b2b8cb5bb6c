/* SPDX-License-Identifier: MIT */
/*
 * The records that the programs which follow the lives of all processes write, shared with their
 * decoder.
 *
 * Task numbers are those in the reader's PID namespace, 0 for a task outside of it.  Times are of
 * CLOCK_MONOTONIC, start times of CLOCK_BOOTTIME.
 */
#ifndef BPF_LIFE_H
#define BPF_LIFE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define LIFE_RING_BYTES (2 << 20) /* the reader has it mapped twice */
#define LIFE_RECORD_COMM 16
#define LIFE_RECORD_ARGUMENTS 4096

enum life_record_type {
	LIFE_RECORD_SPAWN,
	LIFE_RECORD_EXEC,
	LIFE_RECORD_EXIT,
	LIFE_RECORD_SIGNAL,
	LIFE_RECORD_OOM,
	LIFE_RECORD_RENAME,
	LIFE_RECORD_MEMBER, /* written by the walk: a process that was found; not in the ring */
	LIFE_RECORD_COUNT,
};

/* About a process, identified by its leader. */
struct life_record_head {
	__u32 size; /* all of the record */
	__u32 type;
	__s32 pid;
	__s32 parent_pid;
	__u32 euid;
	__u32 reserved;
	__u64 start_ns; /* 0: not known, nor is anything but the number */
	__u64 time_ns;
	__u64 comm[LIFE_RECORD_COMM / 8];
};

/* The head is the whole record of LIFE_RECORD_SPAWN, _OOM and _MEMBER. */

/* The head has the old name. */
struct life_rename_record {
	struct life_record_head head;
	__u64 comm[LIFE_RECORD_COMM / 8];
};

/* The record ends after `length` bytes of arguments. */
struct life_exec_record {
	struct life_record_head head;
	__u64 maxrss; /* pages: the peak of all programs that the process ran before this one */
	__u32 length;
	__u32 cut;
	char arguments[LIFE_RECORD_ARGUMENTS];
};

struct life_signal_record {
	struct life_record_head head;
	__s32 number;
	__s32 sender_pid; /* 0: the kernel */
	__u64 sender_comm[LIFE_RECORD_COMM / 8];
};

/*
 * What all threads of a process used.
 *
 *	SUMMED(id, task_path, signal_path)	where a task counts it, and a process for threads that
 *						have ended
 *	OWN(id, task_path)			the process counts that of its children as well, so
 *						threads that ended before they were watched are missing
 *
 * User and system time are samples of the tick.
 */
/* clang-format off */
#define LIFE_USAGES(SUMMED, OWN)                                                                   \
	SUMMED(run_time_ns,       se.sum_exec_runtime, sum_sched_runtime)                          \
	SUMMED(utime_ns,          utime,               utime)                                      \
	SUMMED(stime_ns,          stime,               stime)                                      \
	SUMMED(minflt,            min_flt,             min_flt)                                    \
	SUMMED(majflt,            maj_flt,             maj_flt)                                    \
	SUMMED(voluntary_csw,     nvcsw,               nvcsw)                                      \
	SUMMED(nonvoluntary_csw,  nivcsw,              nivcsw)                                     \
	OWN(read_bytes,           ioac.read_bytes)                                                 \
	OWN(write_bytes,          ioac.write_bytes)                                                \
	OWN(rchar,                ioac.rchar)                                                      \
	OWN(wchar,                ioac.wchar)                                                      \
	OWN(syscr,                ioac.syscr)                                                      \
	OWN(syscw,                ioac.syscw)

enum life_usage {
#define LIFE_SUMMED(id, task_path, signal_path) LIFE_USAGE_##id,
#define LIFE_OWN(id, task_path) LIFE_USAGE_##id,
	LIFE_USAGES(LIFE_SUMMED, LIFE_OWN)
#undef LIFE_SUMMED
#undef LIFE_OWN
	LIFE_USAGE_COUNT,
};
/* clang-format on */

/* `peak` is of the last program.  Where it is not known, `maxrss` may tell. */
struct life_exit_record {
	struct life_record_head head;
	__s32 status; /* as wait() has it */
	__u8 oom_killed;
	__u8 has_peak;
	__u16 reserved;
	__u64 peak;    /* pages */
	__u64 maxrss;  /* pages: the peak of all programs that the process ran */
	__u64 present; /* one bit for each enum life_usage */
	__u64 usage[LIFE_USAGE_COUNT];
};

/* Which processes are followed. */
enum life_scope {
	LIFE_SCOPE_HOST,
	LIFE_SCOPE_TREE,   /* those that the walk marked, and their descendants */
	LIFE_SCOPE_CGROUP, /* those in a cgroup and below */
};

/* What the walk over all tasks does. */
enum life_walk {
	LIFE_WALK_NOTHING, /* finds out who its reader is */
	LIFE_WALK_ROOT,	   /* marks the threads of one process */
	LIFE_WALK_FAMILY,  /* marks threads and children of what is marked */
	LIFE_WALK_MEMBERS, /* writes a record of each process that is followed */
};

#endif
