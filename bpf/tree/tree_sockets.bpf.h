/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Finds out which calls of a thread are on sockets, and adds up the bytes that it received and
 * sent through sockets of a network.  Calls on anything else do not get as far as that.
 */
#ifndef BPF_TREE_SOCKETS_BPF_H
#define BPF_TREE_SOCKETS_BPF_H

#include "tree_state.bpf.h"

#define MSG_PEEK 2
#define MSG_ERRQUEUE 0x2000
#define MESSAGES_MAX 1024 /* the kernel takes no more at once (UIO_MAXIOV) */

enum socket_kind {
	SOCKET_NONE,
	SOCKET_LOCAL, /* to a process on this host, or to the kernel */
	SOCKET_NETWORK,
};

/*
 * Remembers what the files that a thread used last are, by the lowest bits of their descriptors.
 * Where no other thread can open files, the descriptor alone is enough to find the entry; every
 * call that could have opened a file clears that.  Otherwise only the file's operations are
 * believed, since all sockets have the same and nothing else has: the kernel soon reuses the memory
 * of a closed file, even for the same descriptor.
 */
struct files {
	struct {
		__u64 operations;
		__u32 kind;   /* enum socket_kind */
		__u32 number; /* descriptor + 1, if it alone is enough; else 0 */
	} known[DESCRIPTORS_CACHED];
};

struct traffic {
	__u64 received;
	__u64 sent;
};

const volatile __u8 traffic_rules[2 * TREE_CALL_NUMBERS] = {};

static __always_inline void files_forget(struct files *files)
{
	for (int i = 0; i < DESCRIPTORS_CACHED; i++)
		files->known[i].number = 0;
}

/* The table of descriptors; 0: it ends before `fd`. */
static __always_inline struct file **file_table(struct files_struct *files, __u32 fd)
{
	struct fdtable *table;

	if (!files)
		return 0;
	table = files->fdt;
	if (!table || fd >= table->max_fds)
		return 0;
	return table->fd;
}

static __always_inline __u32 look_up_socket(struct files *files, struct file **table, __u32 fd,
					    bool is_own)
{
	__u32 index = fd & (DESCRIPTORS_CACHED - 1);
	struct file *file = 0;
	__u64 operations = 0;

	if (!table)
		return SOCKET_NONE;
	bpf_probe_read_kernel(&file, sizeof(file), table + fd);
	if (!file)
		return SOCKET_NONE;
	bpf_probe_read_kernel(&operations, sizeof(operations),
			      (const char *)file + bpf_core_field_offset(struct file, f_op));
	if (files->known[index].operations != operations) {
		files->known[index].operations = operations;
		files->known[index].kind =
			(BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) == S_IFSOCK ? SOCKET_LOCAL :
										      SOCKET_NONE;
	}
	if (files->known[index].kind != SOCKET_NONE)
		files->known[index].kind =
			socket_class(file) == TREE_WAIT_NETWORK ? SOCKET_NETWORK : SOCKET_LOCAL;
	files->known[index].number = is_own ? fd + 1 : 0;
	return files->known[index].kind;
}

/* What a descriptor of the current thread is for which the descriptor alone is not enough. */
__noinline __u32 socket_kind_find(struct files *files, __u32 fd)
{
	struct files_struct *all = bpf_get_current_task_btf()->files;
	/* No other thread can open or close them. */
	bool is_own = all && all->count.counter == 1;

	if (!files)
		return SOCKET_NONE;
	return look_up_socket(files, file_table(all, fd), fd, is_own);
}

/*
 * What the descriptor of the current thread is: an enum socket_kind.  The thread may share its files by now, but only by a
 * call that cleared the number.
 */
static __always_inline __u32 socket_kind_of(struct files *files, __u32 fd)
{
	__u32 index = fd & (DESCRIPTORS_CACHED - 1);

	return files->known[index].number == fd + 1 ? files->known[index].kind :
						      socket_kind_find(files, fd);
}

static __always_inline __u64 second_argument(struct pt_regs *registers, __u32 abi)
{
	if (is_arm64())
		return ((struct pt_regs___arm64 *)registers)->user_regs.regs[1];
	return abi == TREE_ABI_COMPAT ? registers->cx : registers->si;
}

/* The flags of a call that receives: its third argument, or its fourth. */
static __always_inline __u64 receive_flags(struct pt_regs *registers, __u32 abi, __u32 rule)
{
	if (is_arm64())
		return ((struct pt_regs___arm64 *)registers)
			->user_regs.regs[rule & TREE_TRAFFIC_FLAGS_3 ? 2 : 3];
	if (rule & TREE_TRAFFIC_FLAGS_3)
		return registers->dx;
	return abi == TREE_ABI_COMPAT ? registers->si : registers->r10;
}

/* The messages of recvmmsg() and sendmmsg(), in an array of user space. */
struct messages {
	__u64 length_at; /* of the first one */
	__u64 size;	 /* of each */
	__u64 bytes;
};

/* The kernel wrote this length a moment ago, so that its page is there. */
static long message_add(__u32 index, void *context)
{
	struct messages *messages = context;
	__u32 length = 0;

	bpf_probe_read_user(&length, sizeof(length),
			    (void *)(messages->length_at + index * messages->size));
	messages->bytes += length;
	return 0;
}

static __always_inline __u64 messages_bytes(__u64 array, __u32 abi, __u32 count)
{
	struct messages messages = { .length_at = array + 56, .size = 64 };

	if (abi == TREE_ABI_COMPAT) {
		messages.length_at = array + 28;
		messages.size = 32;
	}
	if (count > MESSAGES_MAX)
		count = MESSAGES_MAX;
	bpf_loop(count, message_add, &messages, 0);
	return messages.bytes;
}

/*
 * Adds what a call on a socket of a network moved.  Bytes that were only peeked at will be received
 * later, and the error queue has copies of what was sent.
 */
static __always_inline void traffic_add(struct traffic *traffic, struct pt_regs *registers,
					__u32 abi, __u32 number, __s64 result)
{
	__u32 index = abi == TREE_ABI_COMPAT ? number + TREE_CALL_NUMBERS : number;
	__u32 rule;

	if (result <= 0 || number >= TREE_CALL_NUMBERS || abi == TREE_ABI_UNKNOWN)
		return;
	barrier_var(index);
	rule = traffic_rules[index & (2 * TREE_CALL_NUMBERS - 1)];
	if (rule & (TREE_TRAFFIC_FLAGS_3 | TREE_TRAFFIC_FLAGS_4) &&
	    receive_flags(registers, abi, rule) & (MSG_PEEK | MSG_ERRQUEUE))
		return;
	if (rule & TREE_TRAFFIC_MESSAGES)
		result = messages_bytes(second_argument(registers, abi), abi, result);
	if (rule & TREE_TRAFFIC_RECEIVED)
		traffic->received += result;
	else if (rule & TREE_TRAFFIC_SENT)
		traffic->sent += result;
}

#endif
