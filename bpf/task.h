/* SPDX-License-Identifier: MIT */
/*
 * The records that the task iterator writes for each thread, shared by the BPF program and its
 * decoder.
 *
 * A record is a struct task_record_head, then the sections named in its `sections` mask, in the
 * order of enum task_section.  Sections are structs of 64-bit members made from the tables below:
 * one line there is the struct member, the `present` bit and the read in the kernel.
 *
 *	FIELD(member, base, path)	base->path of the kernel, base is a pointer in the program
 *	COMPUTED(member)		filled by hand in the program
 *
 * `present` has bit SECTION_BIT_member set when this kernel, and this task, has the member; the
 * value of a member whose bit is clear means nothing.  Signed kernel values are sign-extended.
 */
#ifndef BPF_TASK_H
#define BPF_TASK_H

#ifndef __bpf__
#include <linux/types.h>
#include <string.h>
#endif

#define TASK_COMM_SIZE 16
#define TASK_NAME_SIZE 64
#define TASK_DESCRIPTION_SIZE 32
#define TASK_FDS_MAX 4096 /* descriptors of larger tables are not counted */
#define TASK_SCOPE_FD 200 /* the same as SCOPE_FD, which BPF code cannot include */
#define TASK_SCOPE_FD_COUNT 8
#define TASK_STACK_FRAMES 32
#define TASK_AFFINITY_WORDS_MAX 128 /* 8192 CPUs, the largest NR_CPUS of the supported kernels */

enum task_section {
	TASK_SECTION_TASK,  /* always */
	TASK_SECTION_CPUS,  /* always: as many words of the affinity mask as were asked for */
	TASK_SECTION_GROUP, /* thread-group leaders */
	TASK_SECTION_DELAY, /* tasks that have delay accounting */
	TASK_SECTION_STATS, /* when asked for, on kernels that have them */
	TASK_SECTION_NAME,  /* kernel threads */
	TASK_SECTION_ACTIVITY, /* active threads, when asked for: see activity.bpf.h */
	TASK_SECTION_COUNT,
};

/*
 * Which hierarchy `cgroup_id` belongs to: the unified one, or that of a v1 controller.  If the
 * kernel lacks the hierarchy, `cgroup_id` is absent.
 */
#define TASK_CGROUP_CONTROLLERS(CONTROLLER)                                                        \
	CONTROLLER(cpuset)                                                                         \
	CONTROLLER(cpu)                                                                            \
	CONTROLLER(memory)                                                                         \
	CONTROLLER(pids)

/* clang-format off */

enum task_cgroup {
	TASK_CGROUP_UNIFIED,
#define TASK_CGROUP_ENUM(name) TASK_CGROUP_##name,
	TASK_CGROUP_CONTROLLERS(TASK_CGROUP_ENUM)
#undef TASK_CGROUP_ENUM
	TASK_CGROUP_COUNT,
};

#ifndef __bpf__
/*
 * The number of a hierarchy: version 2, or that of a v1 controller.  The programs find no cgroup in
 * one that has none, TASK_CGROUP_COUNT.
 */
static inline __u32 task_cgroup_number(unsigned version, const char *controller)
{
	static const char *const names[TASK_CGROUP_COUNT] = {
#define TASK_CGROUP_NAME(name) [TASK_CGROUP_##name] = #name,
		TASK_CGROUP_CONTROLLERS(TASK_CGROUP_NAME)
#undef TASK_CGROUP_NAME
	};

	if (version == 2)
		return TASK_CGROUP_UNIFIED;
	for (__u32 i = TASK_CGROUP_UNIFIED + 1; i < TASK_CGROUP_COUNT; i++)
		if (strcmp(controller, names[i]) == 0)
			return i;
	return TASK_CGROUP_COUNT;
}
#endif

/* With these and its numbers a task is known again. */
#define TASK_IDENTITY_FIELDS(FIELD)                                                                \
	FIELD(start_boottime,        task, start_boottime)                                         \
	FIELD(exec_id,               task, self_exec_id)

/* Task numbers are those in the reader's PID namespace. */
#define TASK_FIELDS(FIELD, COMPUTED)                                                               \
	COMPUTED(pid)                                                                              \
	COMPUTED(tgid)                                                                             \
	COMPUTED(cgroup_id)                                                                        \
	COMPUTED(ext_enabled)                                                                      \
	TASK_IDENTITY_FIELDS(FIELD)                                                                \
	FIELD(state,                 task, __state)                                                \
	FIELD(exit_state,            task, exit_state)                                             \
	FIELD(policy,                task, policy)                                                 \
	FIELD(prio,                  task, prio)                                                   \
	FIELD(static_prio,           task, static_prio)                                            \
	FIELD(rt_priority,           task, rt_priority)                                            \
	FIELD(cpu,                   task, thread_info.cpu)                                        \
	FIELD(utime,                 task, utime)                                                  \
	FIELD(stime,                 task, stime)                                                  \
	FIELD(prev_utime,            task, prev_cputime.utime)                                     \
	FIELD(prev_stime,            task, prev_cputime.stime)                                     \
	FIELD(sum_exec_runtime,      task, se.sum_exec_runtime)                                    \
	FIELD(nr_migrations,         task, se.nr_migrations)                                       \
	FIELD(slice,                 task, se.slice)                                               \
	FIELD(pcount,                task, sched_info.pcount)                                      \
	FIELD(run_delay,             task, sched_info.run_delay)                                   \
	FIELD(max_run_delay,         task, sched_info.max_run_delay)                               \
	FIELD(min_run_delay,         task, sched_info.min_run_delay)                               \
	FIELD(nvcsw,                 task, nvcsw)                                                  \
	FIELD(nivcsw,                task, nivcsw)                                                 \
	FIELD(min_flt,               task, min_flt)                                                \
	FIELD(maj_flt,               task, maj_flt)                                                \
	FIELD(rchar,                 task, ioac.rchar)                                             \
	FIELD(wchar,                 task, ioac.wchar)                                             \
	FIELD(syscr,                 task, ioac.syscr)                                             \
	FIELD(syscw,                 task, ioac.syscw)                                             \
	FIELD(read_bytes,            task, ioac.read_bytes)                                        \
	FIELD(write_bytes,           task, ioac.write_bytes)                                       \
	FIELD(cancelled_write_bytes, task, ioac.cancelled_write_bytes)                             \
	FIELD(fsbase,                task, thread.fsbase)                                          \
	FIELD(tp_value,              task, thread.uw.tp_value)

/*
 * The sums in signal_struct: of threads that have exited, and (c...) of children that were waited
 * for.  Members of mm, and those about the executed file, are absent for a task without memory: a
 * kernel thread, or a leader that has ended.
 *
 * `scope_fds` has a bit for each open descriptor from TASK_SCOPE_FD on.  `exe_mount` and
 * `exe_dentry` are addresses: equal for processes whose program has the same path.
 */
#define GROUP_FIELDS(FIELD, COMPUTED)                                                              \
	COMPUTED(ppid)                                                                             \
	COMPUTED(pgid)                                                                             \
	COMPUTED(session)                                                                          \
	COMPUTED(open_fds)                                                                         \
	COMPUTED(scope_fds)                                                                        \
	COMPUTED(rss)                                                                              \
	COMPUTED(exe_device)                                                                       \
	COMPUTED(exe_inode)                                                                        \
	COMPUTED(exe_mount)                                                                        \
	COMPUTED(exe_dentry)                                                                       \
	FIELD(euid,                  cred, euid.val)                                               \
	FIELD(nr_threads,            signal, nr_threads)                                           \
	FIELD(fd_limit,              signal, rlim[RLIMIT_NOFILE].rlim_cur)                         \
	FIELD(utime,                 signal, utime)                                                \
	FIELD(stime,                 signal, stime)                                                \
	FIELD(prev_utime,            signal, prev_cputime.utime)                                   \
	FIELD(sum_sched_runtime,     signal, sum_sched_runtime)                                    \
	FIELD(nvcsw,                 signal, nvcsw)                                                \
	FIELD(nivcsw,                signal, nivcsw)                                               \
	FIELD(min_flt,               signal, min_flt)                                              \
	FIELD(maj_flt,               signal, maj_flt)                                              \
	FIELD(rchar,                 signal, ioac.rchar)                                           \
	FIELD(wchar,                 signal, ioac.wchar)                                           \
	FIELD(syscr,                 signal, ioac.syscr)                                           \
	FIELD(syscw,                 signal, ioac.syscw)                                           \
	FIELD(read_bytes,            signal, ioac.read_bytes)                                      \
	FIELD(write_bytes,           signal, ioac.write_bytes)                                     \
	FIELD(cancelled_write_bytes, signal, ioac.cancelled_write_bytes)                           \
	FIELD(cutime,                signal, cutime)                                               \
	FIELD(cstime,                signal, cstime)                                               \
	FIELD(cnvcsw,                signal, cnvcsw)                                               \
	FIELD(cnivcsw,               signal, cnivcsw)                                              \
	FIELD(cmin_flt,              signal, cmin_flt)                                             \
	FIELD(cmaj_flt,              signal, cmaj_flt)                                             \
	FIELD(total_vm,              mm, total_vm)                                                 \
	FIELD(exec_vm,               mm, exec_vm)                                                  \
	FIELD(hiwater_vm,            mm, hiwater_vm)                                               \
	FIELD(hiwater_rss,           mm, hiwater_rss)                                              \
	FIELD(arg_start,             mm, arg_start)                                                \
	FIELD(arg_end,               mm, arg_end)

#define DELAY_FIELDS(FIELD, COMPUTED)                                                              \
	DELAY_FAMILY_FIELDS(FIELD, blkio)                                                          \
	DELAY_FAMILY_FIELDS(FIELD, swapin)                                                         \
	DELAY_FAMILY_FIELDS(FIELD, freepages)                                                      \
	DELAY_FAMILY_FIELDS(FIELD, thrashing)                                                      \
	DELAY_FAMILY_FIELDS(FIELD, compact)                                                        \
	DELAY_FAMILY_FIELDS(FIELD, wpcopy)                                                         \
	DELAY_FAMILY_FIELDS(FIELD, irq)

#define DELAY_FAMILY_FIELDS(FIELD, family)                                                         \
	FIELD(family##_count,     delays, family##_count)                                          \
	FIELD(family##_delay,     delays, family##_delay)                                          \
	FIELD(family##_delay_max, delays, family##_delay_max)                                      \
	FIELD(family##_delay_min, delays, family##_delay_min)

#define STATS_FIELDS(FIELD, COMPUTED)                                                              \
	FIELD(nr_wakeups,                   task, stats.nr_wakeups)                                \
	FIELD(nr_wakeups_local,             task, stats.nr_wakeups_local)                          \
	FIELD(nr_wakeups_remote,            task, stats.nr_wakeups_remote)                         \
	FIELD(nr_wakeups_sync,              task, stats.nr_wakeups_sync)                           \
	FIELD(nr_wakeups_migrate,           task, stats.nr_wakeups_migrate)                        \
	FIELD(nr_wakeups_affine,            task, stats.nr_wakeups_affine)                         \
	FIELD(nr_wakeups_affine_attempts,   task, stats.nr_wakeups_affine_attempts)                \
	FIELD(nr_forced_migrations,         task, stats.nr_forced_migrations)                      \
	FIELD(nr_failed_migrations_affine,  task, stats.nr_failed_migrations_affine)               \
	FIELD(nr_failed_migrations_running, task, stats.nr_failed_migrations_running)              \
	FIELD(nr_failed_migrations_hot,     task, stats.nr_failed_migrations_hot)                  \
	FIELD(wait_sum,                     task, stats.wait_sum)                                  \
	FIELD(wait_count,                   task, stats.wait_count)                                \
	FIELD(wait_max,                     task, stats.wait_max)                                  \
	FIELD(sum_sleep_runtime,            task, stats.sum_sleep_runtime)                         \
	FIELD(sleep_max,                    task, stats.sleep_max)                                 \
	FIELD(sum_block_runtime,            task, stats.sum_block_runtime)                         \
	FIELD(block_max,                    task, stats.block_max)                                 \
	FIELD(iowait_sum,                   task, stats.iowait_sum)                                \
	FIELD(iowait_count,                 task, stats.iowait_count)                              \
	FIELD(exec_max,                     task, stats.exec_max)                                  \
	FIELD(slice_max,                    task, stats.slice_max)                                 \
	FIELD(core_forceidle_sum,           task, stats.core_forceidle_sum)

/* clang-format on */

struct task_record_head {
	__u32 size;	/* of the whole record, this head included */
	__u32 sections; /* bits of enum task_section */
};

#define TASK_MEMBER(member, ...) __u64 member;
#define TASK_BIT_TASK(member, ...) TASK_BIT_##member,
#define TASK_BIT_GROUP(member, ...) GROUP_BIT_##member,
#define TASK_BIT_DELAY(member, ...) DELAY_BIT_##member,
#define TASK_BIT_STATS(member, ...) STATS_BIT_##member,

struct task_fields {
	__u64 present;
	char comm[TASK_COMM_SIZE];
	TASK_FIELDS(TASK_MEMBER, TASK_MEMBER)
};

struct group_fields {
	__u64 present;
	GROUP_FIELDS(TASK_MEMBER, TASK_MEMBER)
};

struct delay_fields {
	__u64 present;
	DELAY_FIELDS(TASK_MEMBER, TASK_MEMBER)
};

struct stats_fields {
	__u64 present;
	STATS_FIELDS(TASK_MEMBER, TASK_MEMBER)
};

/*
 * The kernel shows a kernel thread by its full name when that is longer than comm.  It shows a
 * worker of a workqueue by its name and its last work: "kworker/0:1-events", with "+" while it
 * does that work.
 */
struct name_fields {
	__u64 is_worker;
	__u64 is_busy;
	__u64 has_full_worker_name; /* this kernel does not cut a worker's name to comm's size */
	char full[TASK_NAME_SIZE];  /* empty when comm is the whole name */
	char description[TASK_DESCRIPTION_SIZE];
};

enum task_activity_flag {
	TASK_ACTIVITY_ON_CPU = 1 << 0,
	TASK_ACTIVITY_IN_CALL = 1 << 1,	 /* `number` of `abi`; not known while it is on a CPU */
	TASK_ACTIVITY_NO_STACK = 1 << 2, /* there were as many stacks as the reader wanted */
};

struct activity_fields {
	__u64 state; /* 'R', 'S' or 'D', as ps shows it */
	__u64 flags;
	__u64 reason; /* enum tree_wait_reason, of one that waits */
	__u64 abi;    /* enum tree_abi */
	__u64 number;
	__u64 process_start; /* start_boottime of the leader */
	__u64 uid;	     /* the real one */
	char process_comm[TASK_COMM_SIZE];
	__u64 frame_count;		 /* 0 while it is on a CPU */
	__u64 frames[TASK_STACK_FRAMES]; /* return addresses in the kernel, the innermost first */
};

enum { TASK_FIELDS(TASK_BIT_TASK, TASK_BIT_TASK) TASK_BIT_COUNT };
enum { GROUP_FIELDS(TASK_BIT_GROUP, TASK_BIT_GROUP) GROUP_BIT_COUNT };
enum { DELAY_FIELDS(TASK_BIT_DELAY, TASK_BIT_DELAY) DELAY_BIT_COUNT };
enum { STATS_FIELDS(TASK_BIT_STATS, TASK_BIT_STATS) STATS_BIT_COUNT };

_Static_assert(TASK_BIT_COUNT <= 64 && GROUP_BIT_COUNT <= 64 && DELAY_BIT_COUNT <= 64 &&
		       STATS_BIT_COUNT <= 64,
	       "the present bits of a section fit in 64 bits");

#endif
