/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Finds out why a thread leaves its CPU: from its state, from what the kernel does for it, and
 * from the system call that it is in, with that call's arguments.
 */
#ifndef BPF_WAIT_BPF_H
#define BPF_WAIT_BPF_H

#include "call.bpf.h"

#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFREG 0100000
#define S_IFBLK 0060000
#define S_IFDIR 0040000
#define S_IFCHR 0020000
#define S_IFIFO 0010000

#define AWAITED_NS 20000
#define CLASS_SOCKET 0x80 /* not a reason: depends on the socket's family */

#define AF_UNIX 1
#define AF_NETLINK 16

#define FUTEX_WAIT 0
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAIT_REQUEUE_PI 11
#define FUTEX_COMMAND_MASK 0x7f
#define FUTEX_PRIVATE_FLAG 0x80
#define FUTEX_WAITERS 0x80000000
#define THREAD_NUMBERS (1 << 22) /* no thread has a higher number */
#define THREADS_SEARCHED 1024

#define F_SETLKW 7
#define F_SETLKW64 14
#define F_OFD_SETLKW 38

/* Majors of terminals: consoles, /dev/tty and its kin, the other ends of pseudo terminals. */
#define TTY_MAJOR 4
#define TTYAUX_MAJOR 5
#define UNIX98_PTY_SLAVE_MAJOR 136
#define UNIX98_PTY_MAJORS 8
#define MAJOR_SHIFT 20

#define DESCRIPTORS_CACHED 4
#define COUNTERS_KNOWN 4

/*
 * The kinds of the descriptors that a thread waited for last, by the lowest bits of their numbers.
 */
struct descriptors {
	struct {
		__u64 operations; /* the file's; each kind of file has its own */
		__u64 class;	  /* a reason, or CLASS_SOCKET */
	} known[DESCRIPTORS_CACHED];
	__u64 last; /* call and descriptor of the last wait that was examined */
	__u64 last_ns;
	__u64 last_class;
	__u64 last_inode;
};

/* What is known from a thread's earlier waits.  All zeros: nothing. */
struct wait_memory {
	__u64 now_ns; /* set before a thread examines its own wait */
	__u64 object; /* that it waits for; found with the reason */
	struct descriptors descriptors;
	__u64 counters[COUNTERS_KNOWN]; /* addresses of futexes that it knows not to be locks */
	__u32 call_reason; /* reason of the last call that blocked it, plus 1; 0: none yet */
};

/* How the functions are declared that are worth checking by themselves, where there are many calls. */
#ifndef WAIT_FUNCTION
#define WAIT_FUNCTION __noinline
#endif

/* Some file systems have no files on a disk: a wait there is for what the file stands for. */
static __always_inline __u32 file_class(const struct inode *inode)
{
	switch (BPF_CORE_READ(inode, i_sb, s_magic)) {
	case 0x09041934: /* anonymous inodes: event descriptors */
	case 0x50494446: /* pidfs */
		return TREE_WAIT_POLL;
	case 0x9fa0:	 /* proc */
	case 0x62656572: /* sysfs */
	case 0x01021994: /* tmpfs */
	case 0x27e0eb:	 /* cgroup */
	case 0x63677270: /* cgroup2 */
	case 0x64626720: /* debugfs */
	case 0x74726163: /* tracefs */
		return TREE_WAIT_OTHER;
	default:
		return TREE_WAIT_DISK;
	}
}

static __always_inline __u32 socket_class(const struct file *file)
{
	const struct socket *socket = BPF_CORE_READ(file, private_data);

	switch (BPF_CORE_READ(socket, sk, __sk_common.skc_family)) {
	case AF_UNIX:
		return TREE_WAIT_PIPE;
	case AF_NETLINK:
		return TREE_WAIT_OTHER;
	default:
		return TREE_WAIT_NETWORK;
	}
}

static __always_inline __u32 device_class(const struct inode *inode)
{
	__u32 major = BPF_CORE_READ(inode, i_rdev) >> MAJOR_SHIFT;

	if (major == TTY_MAJOR || major == TTYAUX_MAJOR ||
	    (major >= UNIX98_PTY_SLAVE_MAJOR && major < UNIX98_PTY_SLAVE_MAJOR + UNIX98_PTY_MAJORS))
		return TREE_WAIT_POLL;
	return TREE_WAIT_OTHER;
}

static __always_inline __u32 inode_class(const struct inode *inode)
{
	switch (BPF_CORE_READ(inode, i_mode) & S_IFMT) {
	case S_IFREG:
		return file_class(inode);
	case S_IFDIR:
	case S_IFBLK:
		return TREE_WAIT_DISK;
	case S_IFIFO:
		return TREE_WAIT_PIPE;
	case S_IFSOCK:
		return CLASS_SOCKET;
	case S_IFCHR:
		return device_class(inode);
	case 0:
		return TREE_WAIT_POLL;
	default:
		return TREE_WAIT_OTHER;
	}
}

/*
 * What kind of thing a descriptor is.  The kind is remembered by the address of the file's
 * operations, since each kind has its own.  The addresses of files and inodes would not do: the
 * kernel reuses their memory.  Sockets of all families have the same operations.
 */
static __always_inline __u32 descriptor_class(struct descriptors *descriptors, struct file **files,
					      __u32 fd)
{
	__u32 index = fd & (DESCRIPTORS_CACHED - 1);
	const struct inode *inode;
	struct file *file = 0;
	__u64 operations = 0;

	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	if (!file)
		return TREE_WAIT_OTHER;
	bpf_probe_read_kernel(&operations, sizeof(operations),
			      (const char *)file + bpf_core_field_offset(struct file, f_op));
	inode = BPF_CORE_READ(file, f_inode);
	descriptors->last_inode = BPF_CORE_READ(inode, i_ino);
	if (descriptors->known[index].operations != operations) {
		descriptors->known[index].operations = operations;
		descriptors->known[index].class = inode_class(inode);
	}
	if (descriptors->known[index].class == CLASS_SOCKET)
		return socket_class(file);
	return descriptors->known[index].class;
}

/*
 * Not static, so that the verifier checks it once and separately; that makes loading fast.  It reads
 * through a helper also where it could follow pointers: whenever the verifier meets a pointer in a
 * task, it searches all types of the kernel.
 */
WAIT_FUNCTION __u32 file_class_of(struct descriptors *descriptors, __u64 files, __u32 fd)
{
	const struct fdtable *table = BPF_CORE_READ((const struct files_struct *)files, fdt);

	if (!table || !descriptors || fd >= BPF_CORE_READ(table, max_fds))
		return TREE_WAIT_OTHER;
	return descriptor_class(descriptors, BPF_CORE_READ(table, fd), fd);
}

static __always_inline __u32 descriptor_class_of(struct task_struct *task,
						 struct descriptors *descriptors, __u32 fd)
{
	return file_class_of(descriptors, (__u64)BPF_CORE_READ(task, files), fd);
}

/*
 * Two threads that exchange messages wait for the same descriptor again and again.  If a wait by
 * the same call begins this soon after one that was examined, it is taken to be of the same kind:
 * there was hardly time to close the descriptor, open something else, and wait for that.
 */
static __always_inline __u32 awaited_class(struct task_struct *task, struct wait_memory *memory,
					   const struct call *call)
{
	struct descriptors *descriptors = &memory->descriptors;
	__u64 key = (__u64)call->number << 32 | (__u32)call->first;

	if (descriptors->last != key || memory->now_ns - descriptors->last_ns >= AWAITED_NS) {
		descriptors->last = key;
		descriptors->last_ns = memory->now_ns;
		descriptors->last_class = descriptor_class_of(task, descriptors, call->first);
	}
	memory->object = descriptors->last_inode;
	return descriptors->last_class;
}

struct exit_word_search {
	__u64 word;
	struct list_head *node;
	struct list_head *end;
	__u32 is_found;
};

/* It is the first member of each node in every kernel. */
static __always_inline struct list_head *list_next(const struct list_head *node)
{
	struct list_head *next = 0;

	bpf_probe_read_kernel(&next, sizeof(next), node);
	return next;
}

static long examine_thread(__u32 index, struct exit_word_search *search)
{
	struct list_head *node = search->node;
	struct task_struct *task =
		(void *)((char *)node - bpf_core_field_offset(struct task_struct, thread_node));

	(void)index;
	if (!node || node == search->end)
		return 1;
	search->is_found = (__u64)BPF_CORE_READ(task, clear_child_tid) == search->word;
	search->node = list_next(node);
	return search->is_found;
}

/*
 * Whether the kernel clears this word, and wakes those that wait for it, when a thread of the
 * process ends: that is how threads are joined.  Few waits get this far, and threads are usually
 * joined in the order of the list.
 */
WAIT_FUNCTION __u32 is_exit_word(__u64 signal, __u64 word)
{
	struct list_head *head =
		(void *)(signal + bpf_core_field_offset(struct signal_struct, thread_head));
	struct exit_word_search search = { .word = word, .end = head };

	if (!word || !signal)
		return 0;
	search.node = list_next(head);
	bpf_loop(THREADS_SEARCHED, examine_thread, &search, 0);
	return search.is_found;
}

/*
 * Locks keep these values in their word while somebody waits.  FUTEX_WAIT: mutexes of glibc, Go's
 * runtime, libgomp, musl and most others; with the highest bit, the rest is the number of the
 * owner.  FUTEX_WAIT_BITSET: reader-writer locks and timed mutexes of glibc, mutexes of Rust; -1 is
 * a parked thread of Rust, which waits for work.
 */
static __always_inline bool is_lock_value(__u64 command, __u32 value)
{
	if (command == FUTEX_WAIT)
		return value == 1 || value == 2 || value >= FUTEX_WAITERS;
	return value == 2 || value == 3 || (value >= FUTEX_WAITERS && value != ~0U);
}

/*
 * Counters (conditions of Rust and newer glibc, barriers) have such values as well when they pass
 * them.  They are known by the other values that the thread found in the same word before.
 */
static __always_inline __u32 word_reason(struct wait_memory *memory, __u64 word, __u64 command,
					 __u32 value)
{
	__u64 *counter = &memory->counters[(word >> 2) & (COUNTERS_KNOWN - 1)];

	if (!is_lock_value(command, value)) {
		*counter = word;
		return TREE_WAIT_CONDITION;
	}
	return *counter == word ? TREE_WAIT_CONDITION : TREE_WAIT_LOCK;
}

/*
 * sem_t of glibc: its value, how many wait, and which kind of futex it is.  The memory of another
 * task cannot be read; a wait for 0 between processes is taken to be for a semaphore then, since
 * shared conditions are rare.
 */
static __always_inline bool is_shared_semaphore(__u64 word, bool is_current)
{
	__u32 semaphore[3] = {};

	if (!is_current)
		return true;
	if (bpf_probe_read_user(semaphore, sizeof(semaphore), (void *)word) < 0)
		return false;
	return semaphore[1] - 1 < 0xffff && semaphore[2] == FUTEX_PRIVATE_FLAG;
}

/*
 * What a word is used for.  Where that cannot be known it counts as a condition: parked workers of
 * Go (FUTEX_WAIT for a change from 0) and Java (conditions of glibc) are among these.
 */
static __always_inline __u32 futex_reason(struct task_struct *task, struct wait_memory *memory,
					  const struct call *call, bool is_current)
{
	__u64 command = call->second & FUTEX_COMMAND_MASK;
	bool is_shared = !(call->second & FUTEX_PRIVATE_FLAG);
	__u32 value = call->third;

	if (command == FUTEX_WAIT_REQUEUE_PI)
		return TREE_WAIT_CONDITION;
	if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET)
		return TREE_WAIT_LOCK;
	if (is_shared && value - 1 < THREAD_NUMBERS &&
	    is_exit_word((__u64)BPF_CORE_READ(task, signal), call->first))
		return TREE_WAIT_CHILD;
	if (is_shared && command == FUTEX_WAIT_BITSET && value == 0 &&
	    is_shared_semaphore(call->first, is_current))
		return TREE_WAIT_LOCK;
	return word_reason(memory, call->first, command, value);
}

/* While a path is followed, the task knows how far; at its end, that is the file to be opened. */
static __always_inline __u32 opened_reason(struct task_struct *task)
{
	const struct nameidata *walk = BPF_CORE_READ(task, nameidata);
	const struct inode *inode = walk ? BPF_CORE_READ(walk, inode) : 0;

	if (inode && (BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFIFO)
		return TREE_WAIT_PIPE;
	return TREE_WAIT_DISK;
}

static __always_inline __u32 rule_reason(struct task_struct *task, struct wait_memory *memory,
					 const struct call *call, __u32 rule, bool is_current)
{
	if (rule == TREE_RULE_FUTEX) {
		memory->object = call->first;
		return futex_reason(task, memory, call, is_current);
	}
	if (rule == TREE_RULE_POLL)
		return call->first || call->second ? TREE_WAIT_POLL : TREE_WAIT_TIMER;
	if (rule == TREE_RULE_OPEN)
		return opened_reason(task);
	if (rule == TREE_RULE_FCNTL && (call->second == F_SETLKW || call->second == F_SETLKW64 ||
					call->second == F_OFD_SETLKW))
		return TREE_WAIT_LOCK;
	if (rule == TREE_RULE_BY_FD || rule == TREE_RULE_FCNTL)
		rule = is_current ? awaited_class(task, memory, call) :
				    descriptor_class_of(task, &memory->descriptors, call->first);
	return rule & 0xff;
}

/*
 * After a stop or a signal, some calls continue as restart_syscall, which does not say which call
 * it was.
 */
static __always_inline __u32 call_reason(struct task_struct *task, struct pt_regs *registers,
					 struct wait_memory *memory, bool is_current)
{
	__u32 rule, reason;
	struct call call;

	call_read(task, registers, &call);
	if (call.number < 0)
		return TREE_WAIT_MEMORY;
	rule = rule_of(call.abi, call.number) & TREE_RULE_MASK;
	if (rule == TREE_RULE_RESTART)
		return memory->call_reason ? memory->call_reason - 1 : TREE_WAIT_OTHER;
	reason = rule_reason(task, memory, &call, rule, is_current);
	memory->call_reason = reason + 1;
	return reason;
}

static __always_inline __u32 stopped_by(struct wait_memory *memory, __u64 what)
{
	memory->object = what;
	return TREE_WAIT_STOPPED;
}

static __always_inline __u32 wait_reason_of(struct task_struct *task, struct pt_regs *registers,
					    struct wait_memory *memory, __u32 task_state,
					    bool is_current)
{
	if (task->jobctl & JOBCTL_TRAP_FREEZE || task_state & TASK_FROZEN)
		return stopped_by(memory, TREE_STOPPED_FROZEN);
	if (task_state & __TASK_TRACED)
		return stopped_by(memory, TREE_STOPPED_TRACED);
	if (task_state & __TASK_STOPPED)
		return stopped_by(memory, TREE_STOPPED_SIGNAL);
	if (task->flags & PF_MEMALLOC)
		return TREE_WAIT_MEMORY;
	if (bpf_core_field_exists(task->in_memstall) && BPF_CORE_READ_BITFIELD(task, in_memstall))
		return TREE_WAIT_MEMORY;
	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		return TREE_WAIT_DISK;
	if (task->flags & PF_EXITING)
		return TREE_WAIT_OTHER;
	return call_reason(task, registers, memory, is_current);
}

#endif
