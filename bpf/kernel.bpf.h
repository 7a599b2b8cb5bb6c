/* SPDX-License-Identifier: MIT */
/*
 * Declares every kernel type and member that the BPF programs read, and nothing else: this file is
 * the list of what they need from a kernel. libbpf adapts each access to where the running kernel
 * has the member (CO-RE), so order, size and neighbours do not matter here; only names do.  Where
 * some supported kernel lacks a member, the code that uses it checks bpf_core_field_exists().
 */
#ifndef BPF_KERNEL_BPF_H
#define BPF_KERNEL_BPF_H

/* linux/types.h would need the architecture's headers, which -target bpf does not search for. */
typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed short __s16;
typedef signed int __s32;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
#define true 1
#define false 0

/* From linux/bpf.h, which is not included for the same reason. */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

#define BPF_ANY 0
#define BPF_NOEXIST 1
#define EEXIST 17
#define BPF_F_NO_PREALLOC 1
#define BPF_LOCAL_STORAGE_GET_F_CREATE 1
#define BPF_RB_NO_WAKEUP 1
#define BPF_RB_FORCE_WAKEUP 2
#define BPF_RB_AVAIL_DATA 0

struct bpf_dynptr {
	__u64 opaque[2];
} __attribute__((aligned(8)));

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#define PF_EXITING 0x00000004
#define PF_IO_WORKER 0x00000010
#define PF_WQ_WORKER 0x00000020
#define PF_MEMALLOC 0x00000800
#define PF_USER_WORKER 0x00004000 /* since 6.4 */
#define PF_KTHREAD 0x00200000

/* Values of task_struct.__state. */
#define TASK_INTERRUPTIBLE 0x0001
#define TASK_UNINTERRUPTIBLE 0x0002
#define __TASK_STOPPED 0x0004
#define __TASK_TRACED 0x0008
#define TASK_DEAD 0x0080
#define TASK_NOLOAD 0x0400 /* with TASK_UNINTERRUPTIBLE: idle */
#define TASK_RTLOCK_WAIT 0x1000
#define TASK_FROZEN 0x8000 /* since 6.1 */

/* Values of thread_info, which mark a 32-bit system call. */
#define TS_COMPAT 0x0002	  /* x86: status */
#define TIF_32BIT_ARM64 (1 << 22) /* arm64: flags */
#define X32_SYSCALL_BIT 0x40000000

#define SIGNAL_GROUP_EXIT 0x00000004
#define JOBCTL_TRAP_FREEZE (1 << 23)
#define MAX_ERRNO 4095

enum {
	RLIMIT_NOFILE = 7,
	RLIM_NLIMITS = 16,
};

enum pid_type {
	PIDTYPE_PID,
	PIDTYPE_TGID,
	PIDTYPE_PGID,
	PIDTYPE_SID,
	PIDTYPE_MAX,
};

/* The values below are not used: the running kernel's come through bpf_core_enum_value(). */
enum cgroup_subsys_id {
	cpuset_cgrp_id = 1,
	cpu_cgrp_id,
	memory_cgrp_id,
	pids_cgrp_id,
};

enum scx_ent_flags {
	SCX_TASK_STATE_SHIFT = 1,
	SCX_TASK_STATE_MASK,
};

enum scx_task_state {
	SCX_TASK_ENABLED = 1,
};

enum wq_internal_consts {
	WORKER_ID_LEN = 1,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file;
struct pid_namespace;
struct bpf_perf_event_data;

struct bpf_iter_meta {
	struct seq_file *seq;
	__u64 seq_num;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct preempt_info {
	__u32 count;
};

struct rq {
	__u64 clock;
	struct task_struct *curr;
};

struct cfs_rq {
	struct rq *rq;
};

struct thread_info {
	unsigned long flags;
	struct preempt_info preempt; /* arm64 */
	__u32 status;		     /* x86 */
	__u32 cpu;
};

struct cpumask {
	unsigned long bits[1];
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct sched_entity {
	struct cfs_rq *cfs_rq; /* FAIR_GROUP_SCHED */
	__u64 sum_exec_runtime;
	__u64 nr_migrations;
	__u64 slice; /* since 6.6 */
};

struct sched_ext_entity {
	__u32 flags;
};

struct sched_info {
	unsigned long pcount;
	unsigned long long run_delay;
	unsigned long long max_run_delay; /* since 6.14 */
	unsigned long long min_run_delay;
	unsigned long long last_arrival;
	unsigned long long last_queued;
};

/* Empty where the kernel is built without SCHEDSTATS. */
struct sched_statistics {
	__u64 wait_max;
	__u64 wait_count;
	__u64 wait_sum;
	__u64 iowait_count;
	__u64 iowait_sum;
	__u64 sleep_max;
	__s64 sum_sleep_runtime;
	__u64 block_max;
	__s64 sum_block_runtime;
	__s64 exec_max;
	__u64 slice_max;
	__u64 nr_failed_migrations_affine;
	__u64 nr_failed_migrations_running;
	__u64 nr_failed_migrations_hot;
	__u64 nr_forced_migrations;
	__u64 nr_wakeups;
	__u64 nr_wakeups_sync;
	__u64 nr_wakeups_migrate;
	__u64 nr_wakeups_local;
	__u64 nr_wakeups_remote;
	__u64 nr_wakeups_affine;
	__u64 nr_wakeups_affine_attempts;
	__u64 core_forceidle_sum; /* SCHED_CORE */
};

/* Absent where the architecture keeps exact times (VIRT_CPU_ACCOUNTING_NATIVE). */
struct prev_cputime {
	__u64 utime;
	__u64 stime;
};

struct task_io_accounting {
	__u64 rchar;
	__u64 wchar;
	__u64 syscr;
	__u64 syscw;
	__u64 read_bytes;
	__u64 write_bytes;
	__u64 cancelled_write_bytes;
};

struct task_delay_info {
#define DELAY(family)                                                                              \
	__u64 family##_delay_max; /* since 6.14, like the next */                                  \
	__u64 family##_delay_min;                                                                  \
	__u64 family##_delay;                                                                      \
	__u32 family##_count;
	DELAY(blkio)
	DELAY(swapin)
	DELAY(freepages)
	DELAY(thrashing)
	DELAY(compact)
	DELAY(wpcopy)
	DELAY(irq) /* since 6.4 */
#undef DELAY
};

struct kuid {
	__u32 val;
};

struct cred {
	struct kuid uid;
	struct kuid euid;
};

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	int level;
	struct kernfs_node *kn;
	struct cgroup *ancestors[1];
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp;
};

struct rlimit {
	unsigned long rlim_cur;
};

typedef struct {
	int counter;
} atomic_t;

/* Since 6.15: says which thread is the last of its process. */
struct trace_event_raw_sched_process_exit {
	_Bool group_dead;
};

/* Since 6.8 the tracepoint has the task itself as its argument, before only its number. */
struct trace_event_raw_mark_victim {
	__u32 uid;
};

struct list_head {
	struct list_head *next;
};

struct signal_struct {
	atomic_t live;
	int nr_threads;
	struct list_head thread_head;
	int group_exit_code;
	unsigned int flags;
	struct pid *pids[PIDTYPE_MAX];
	__u64 utime;
	__u64 stime;
	__u64 cutime;
	__u64 cstime;
	struct prev_cputime prev_cputime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	unsigned long cnvcsw;
	unsigned long cnivcsw;
	unsigned long min_flt;
	unsigned long maj_flt;
	unsigned long cmin_flt;
	unsigned long cmaj_flt;
	unsigned long maxrss;
	struct task_io_accounting ioac;
	unsigned long long sum_sched_runtime;
	struct rlimit rlim[RLIM_NLIMITS];
	struct mm_struct *oom_mm;
};

struct percpu_counter {
	__s64 count;
	__s32 *counters;
};

struct mm_rss_stat {
	struct {
		__s64 counter;
	} count[4];
};

/* Before 6.2.  There, threads also keep some pages to themselves for a while before adding them. */
struct mm_struct___plain {
	struct mm_rss_stat rss_stat;
};

struct task_rss_stat {
	int count[4];
};

struct task_struct___plain {
	struct task_rss_stat rss_stat;
};

struct file;

struct mm_struct {
	unsigned long total_vm;
	unsigned long exec_vm;
	unsigned long hiwater_vm;
	unsigned long hiwater_rss;
	unsigned long start_stack;
	unsigned long arg_start;
	unsigned long arg_end;
	struct file *exe_file;
	struct percpu_counter rss_stat[4];
};

struct super_block {
	unsigned long s_magic;
	__u32 s_dev;
};

struct inode {
	unsigned short i_mode;
	__u32 i_rdev;
	struct super_block *i_sb;
	unsigned long i_ino;
};

struct path {
	void *mnt;
	void *dentry;
};

struct file {
	const void *f_op;
	void *private_data;
	struct inode *f_inode;
	struct path f_path;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
	unsigned long *open_fds;
};

struct nameidata {
	struct inode *inode;
};

struct files_struct {
	atomic_t count;
	struct fdtable *fdt;
};

struct sock_common {
	unsigned short skc_family;
};

struct sock {
	struct sock_common __sk_common;
};

struct socket {
	struct sock *sk;
};

/* Per CPU, from 6.2 to 6.14. */
struct pcpu_hot {
	int preempt_count;
};

struct sigaction {
	void *sa_handler;
};

struct k_sigaction {
	struct sigaction sa;
};

struct sighand_struct {
	struct k_sigaction action[64];
};

/* The registers with which the kernel was entered: x86-64, arm64. */
struct pt_regs {
	unsigned long r15, r14, r13, r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r11;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
};

struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};

struct pt_regs___arm64 {
	struct user_pt_regs user_regs;
	__u64 orig_x0;
	__s32 syscallno;
};

struct bpf_array {
	void *pptrs[1];
};

struct worker_pool;
struct work_struct;

struct worker {
	struct work_struct *current_work;
	struct worker_pool *pool;
	char desc[32];
};

struct kthread {
	void *data;
	char *full_name;
};

/* The thread pointer of user space: x86-64, arm64. */
struct thread_struct {
	unsigned long fsbase;
	struct {
		unsigned long tp_value;
	} uw;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int prio;
	int static_prio;
	unsigned int rt_priority;
	struct sched_entity se;
	struct sched_ext_entity scx; /* since 6.12, SCHED_CLASS_EXT */
	struct sched_statistics stats;
	unsigned int policy;
	struct cpumask cpus_mask;
	struct sched_info sched_info;
	struct mm_struct *mm;
	int exit_state;
	int exit_code;
	unsigned long jobctl;
	unsigned int in_iowait : 1;
	unsigned int in_execve : 1;
	unsigned int in_memstall : 1; /* PSI */
	int pid;
	int tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct list_head thread_node;
	int *clear_child_tid;
	void *worker_private;
	__u64 self_exec_id;
	__u64 utime;
	__u64 stime;
	struct prev_cputime prev_cputime;
	unsigned long nvcsw;
	unsigned long nivcsw;
	__u64 start_boottime;
	unsigned long min_flt;
	unsigned long maj_flt;
	const struct cred *real_cred;
	char comm[16];
	struct files_struct *files;
	struct nameidata *nameidata;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	struct task_io_accounting ioac;
	struct css_set *cgroups;
	struct task_delay_info *delays;
	struct thread_struct thread;
};

#pragma clang attribute pop

#endif
