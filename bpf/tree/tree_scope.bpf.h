/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Keeps how long threads were off the CPU while scopes of libtaskscope were open, by the labels of
 * these scopes.
 *
 * A thread that leaves its CPU is still the current one: its memory can be read, as long as that
 * needs no page from elsewhere.  The library has the labels of a thread's open scopes in one place
 * (base/scope_layout.h).  They are noted here, and get the time when the thread leaves again.
 *
 * In a tree where no program uses the library, a switch costs one more read.
 */
#ifndef BPF_TREE_SCOPE_BPF_H
#define BPF_TREE_SCOPE_BPF_H

#include "tree_state.bpf.h"

#define SCOPE_SUMS_MAX 16384
#define SCOPE_PROCESSES_MAX 4096
#define PR_SET_NAME 15

/*
 * Where the threads of a process have the addresses of their blocks, by the number of the process.  It is no
 * storage of the leader: the verifier takes half a millisecond to follow a pointer to that, in each
 * of the programs that read it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SCOPE_PROCESSES_MAX);
	__type(key, __s32);
	__type(value, struct tree_scope_place);
} scope_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SCOPE_SUMS_MAX);
	__type(key, struct tree_scope_key);
	__type(value, __u64);
} scope_sums SEC(".maps");

/* Outlives the process, so that the reader can ask what it lost; the reader deletes it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, SCOPE_PROCESSES_MAX);
	__type(key, __s32);
	__type(value, struct tree_scope_use);
} scope_uses SEC(".maps");

__u32 scopes_used = 0; /* also set by the reader, when it finds a program that uses them */

static __always_inline __u64 thread_pointer(struct task_struct *task)
{
	return is_arm64() ? task->thread.uw.tp_value : task->thread.fsbase;
}

/* Kernel threads of a process have a copy of another thread's pointer. */
static __always_inline bool may_have_scopes(struct task_struct *task)
{
	return scopes_used &&
	       !(task->flags & (PF_EXITING | PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER));
}

/* The key is a copy, since 6.1 takes none from the memory that a function was given. */
static __always_inline struct tree_scope_use *use_find(struct thread_state *state)
{
	__s32 pid = state->pid;

	return bpf_map_lookup_elem(&scope_uses, &pid);
}

static __always_inline void scope_lose(struct thread_state *state)
{
	struct tree_scope_use *use = use_find(state);

	loss_count(TREE_LOSS_SCOPES);
	if (use)
		__sync_fetch_and_add(&use->lost, 1);
}

static __always_inline void path_read(struct thread_state *state, __u64 block,
				      struct tree_scope_key *key)
{
	__u32 depth = 0;

	if (bpf_probe_read_user(&depth, sizeof(depth), (void *)(block + TREE_SCOPE_DEPTH)) < 0) {
		scope_lose(state);
		return;
	}
	if (!depth || depth > TREE_SCOPE_FRAMES)
		return;
	__builtin_memset(key->labels, 0, sizeof(key->labels));
	barrier_var(depth);
	if (depth > TREE_SCOPE_FRAMES)
		return;
	if (bpf_probe_read_user(key->labels, depth * sizeof(key->labels[0]),
				(void *)(block + TREE_SCOPE_PATH)) < 0) {
		scope_lose(state);
		return;
	}
	key->pid = state->pid;
	key->depth = depth;
}

/* In which scopes the current task is.  The depth of `ret` is 0, and stays so if it is in none. */
__noinline int scope_read(struct thread_state *state, struct tree_scope_key *ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct tree_scope_place *place;
	__u64 block = 0;
	__s32 pid;

	if (!state || !ret)
		return 0;
	pid = state->pid;
	place = bpf_map_lookup_elem(&scope_places, &pid);
	if (!place)
		return 0;
	ret->area_ns = place->area_ns;
	if (bpf_probe_read_user(&block, sizeof(block),
				(void *)(thread_pointer(task) + place->self_offset)) < 0)
		scope_lose(state);
	else if (block)
		path_read(state, block, ret);
	return 0;
}

/*
 * Gives the path a sum.  A process that makes up paths takes no room from others: it has a limit of
 * its own.
 */
static __always_inline __u64 *sum_add(struct thread_state *state, const struct tree_scope_key *key)
{
	struct tree_scope_use *use = use_find(state);
	__u64 none = 0;

	if (!use || use->paths >= TREE_SCOPE_PATHS_MAX)
		return 0;
	if (bpf_map_update_elem(&scope_sums, key, &none, BPF_NOEXIST) == 0)
		__sync_fetch_and_add(&use->paths, 1);
	return bpf_map_lookup_elem(&scope_sums, key);
}

/* The task was back after that time, and leaves again. */
static __always_inline void scope_return(struct thread_state *state, __u64 off_ns)
{
	struct tree_scope_key key;
	__u64 *sum;

	key = state->scope;
	sum = bpf_map_lookup_elem(&scope_sums, &key);
	if (!sum)
		sum = sum_add(state, &key);
	if (sum)
		__sync_fetch_and_add(sum, off_ns);
	else
		scope_lose(state);
	state->scope.depth = 0;
}

/* The arguments that PR_SET_NAME ignores. */
struct announcement {
	__u64 operation;
	__u64 address;
	__u64 mark;
	__u64 self_offset;
};

static __always_inline void announcement_read(struct task_struct *task, struct announcement *ret)
{
	struct pt_regs *registers = user_registers(task);

	if (is_arm64()) {
		struct pt_regs___arm64 *arm64 = (void *)registers;

		ret->operation = arm64->orig_x0;
		ret->address = arm64->user_regs.regs[2];
		ret->mark = arm64->user_regs.regs[3];
		ret->self_offset = arm64->user_regs.regs[4];
	} else {
		ret->operation = registers->di;
		ret->address = registers->dx;
		ret->mark = registers->r10;
		ret->self_offset = registers->r8;
	}
}

/* A thread named itself: perhaps the library says where it has its scopes. */
static __always_inline void scope_announced(struct task_struct *task, struct thread_state *state)
{
	struct tree_scope_use unused = {};
	struct announcement announcement = {};
	struct tree_scope_place place = { .is_announced = 1 };

	announcement_read(task, &announcement);
	if (announcement.operation != PR_SET_NAME || announcement.mark != TREE_SCOPE_ANNOUNCE ||
	    bpf_probe_read_user(&place.area_ns, sizeof(place.area_ns),
				(void *)(announcement.address + TREE_SCOPE_ANCHOR)) < 0)
		return;
	place.self_offset = announcement.self_offset;
	bpf_map_update_elem(&scope_uses, &state->pid, &unused, BPF_NOEXIST);
	if (bpf_map_update_elem(&scope_places, &state->pid, &place, BPF_ANY) < 0)
		loss_count(TREE_LOSS_SCOPES);
	else
		scopes_used = 1;
}

/* The process ends, or runs another program, which has scopes elsewhere, or none. */
static __always_inline void scope_forget(struct thread_state *state)
{
	if (scopes_used)
		bpf_map_delete_elem(&scope_places, &state->pid);
}

#endif
