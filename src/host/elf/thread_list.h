/* SPDX-License-Identifier: MIT */
/*
 * Lists the threads and TLS modules of a running glibc program, from the lists that the library
 * itself keeps.  No thread is stopped.
 *
 * The target's own library describes its structs in its _thread_db_ descriptors, which were made
 * for debuggers.  Another libc, or a program without these symbols, gives -ENOTSUP.  All walks are
 * bounded.
 */
#ifndef HOST_THREAD_LIST_H
#define HOST_THREAD_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/collection/array.h"

struct elf_findings;
struct target_memory;

/* A module's file as inspected, and where it is loaded. */
struct thread_symbols {
	const struct elf_findings *findings;
	uint64_t base;
};

/* Where one member is, in bytes. */
struct thread_member {
	uint32_t size;
	uint32_t offset;
};

/* What the descriptors say.  The struct holds no pointer of ours. */
struct thread_layout {
	uint16_t machine;
	uint64_t used_list, user_list; /* heads: stacks made by the library, and by the program */
	uint64_t slot_list;	       /* a pointer to the chunks with each module's generation */
	uint32_t pthread_size;
	struct thread_member next, prev;		     /* of a list node */
	struct thread_member list, tid, dtv_pointer;	     /* of struct pthread */
	struct thread_member dtv_item, counter, pointer;     /* of a dtv, of its items */
	struct thread_member module_id, module_offset;	     /* of a link_map */
	struct thread_member chunk_count, chunk_next, slots; /* of a chunk */
	struct thread_member generation;		     /* of a slot */
	uint32_t slot_size;
};

/*
 * `library` has the descriptors (libc.so.6), `loader` has _rtld_global (the dynamic loader).  A
 * statically linked program is both.  Returns 0, -ENOTSUP when a symbol is missing, -EBADMSG when
 * a descriptor is impossible, or the error of a read.
 */
int thread_layout_read(const struct target_memory *memory, const struct thread_symbols *library,
		       const struct thread_symbols *loader, struct thread_layout *ret);

struct listed_thread {
	pid_t tid; /* in the PID namespace of the target */
	uint64_t pointer;
};

/* All zeros is empty and valid. */
struct thread_list {
	ARRAY_OF(struct listed_thread) threads;
	bool complete; /* false: a list was changing or broken; has the threads before the break */
};

/*
 * Lists every thread that has a tid; those that ended and were not joined have none.  Reads at
 * most `limit` list nodes (if there are more, the list is not complete).  Returns 0, the error of
 * the first read, or -ENOMEM.
 */
int thread_list_read(const struct target_memory *memory, const struct thread_layout *layout,
		     size_t limit, struct thread_list *ret);
void thread_list_clear(struct thread_list *list);

/* How a module's thread-local block is found. */
struct tls_module {
	uint64_t id;	/* 0: it has no block */
	bool is_static; /* then thread pointer + offset is the block, in every thread */
	int64_t offset;
	uint64_t generation; /* a thread whose dtv is older has no block yet */
};

/*
 * Reads this from a module's link_map (link_map.h).  Returns 0, -ENODATA (no TLS), -EBADMSG, or a
 * read's error.
 */
int tls_module_read(const struct target_memory *memory, const struct thread_layout *layout,
		    uint64_t link_map, struct tls_module *ret);

/*
 * Finds the block of a module in one thread through the thread's own table (dtv).  For modules
 * that are not static, and to check those that are.  Returns 0, -ENODATA when the thread has no
 * such block yet, -EBADMSG, or a read's error.
 */
int tls_block_read(const struct target_memory *memory, const struct thread_layout *layout,
		   const struct tls_module *module, uint64_t thread_pointer, uint64_t *ret_block);

#endif
