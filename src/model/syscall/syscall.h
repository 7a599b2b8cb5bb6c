/* SPDX-License-Identifier: MIT */
/*
 * System calls: their names, their categories, what a thread that is blocked in one waits for, and
 * statistics by name.
 *
 * Numbers and names come from the kernel's headers at build time.  Each name has a row in
 * base/syscall/syscalls.def with its category, its wait rule, and its number if it is newer than
 * the headers may be.
 */
#ifndef MODEL_SYSCALL_H
#define MODEL_SYSCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/wait.h"

/* The categories that reports show. */
enum syscall_category {
	SYSCALL_FILE_IO,
	SYSCALL_MEMORY,
	SYSCALL_PROCESS,
	SYSCALL_NETWORK,
	SYSCALL_TIME,
	SYSCALL_IPC,
	SYSCALL_SECURITY,
	SYSCALL_SIGNAL,
	SYSCALL_SYSTEM,
	SYSCALL_OTHER,
	SYSCALL_CATEGORY_COUNT,
};

extern const char *const syscall_category_names[SYSCALL_CATEGORY_COUNT];

/* Which table of system calls a number belongs to. */
enum syscall_abi {
	SYSCALL_NATIVE,	 /* of the machine that taskscope was built for */
	SYSCALL_COMPAT,	 /* its 32-bit tasks: i386 beside x86-64, arm beside arm64 */
	SYSCALL_UNKNOWN, /* e.g. x32: numbers without names */
	SYSCALL_ABI_COUNT,
};

#define SYSCALL_NAME_SIZE 32

/* The name; for a number without one, "syscall_N" in the buffer. */
const char *syscall_name(enum syscall_abi abi, uint32_t number, char buffer[SYSCALL_NAME_SIZE]);

/*
 * Goes by name, so that files from other machines can be read.  SYSCALL_OTHER when it is not
 * known.
 */
enum syscall_category syscall_category_of(const char *name);

/* An enum wait_reason, or one of the enum wait_rule values above it.  WAIT_OTHER when not known. */
unsigned syscall_wait_rule(enum syscall_abi abi, uint32_t number);

/* The native number of the call of that name, or -1. */
int syscall_number(const char *name);

/* The name's text in the table of syscalls.def, so that equal names are equal pointers; or NULL. */
const char *syscall_static_name(const char *name);

/*
 * Names that the headers have and syscalls.def lacks; NULL ends the list.  Their numbers are shown
 * without a name.
 */
extern const char *const syscall_unfiled[];

/*
 * Bucket 0 of a histogram counts calls of less than 128 ns, bucket i those from 2^(i+6) to 2^(i+7)
 * ns, and the last one also all longer calls.
 */
#define SYSCALL_BUCKETS 32
#define SYSCALL_ERRORS 4

struct syscall_error {
	uint32_t number; /* errno; 0: all errors that have no row of their own */
	uint64_t count;
};

/* Statistics of one system call in one thread, process or tree. */
struct syscall_stats {
	uint64_t count;
	uint64_t errors;
	uint64_t total_ns;
	uint64_t max_ns;
	struct syscall_error by_error[SYSCALL_ERRORS + 1]; /* the last one has number 0 */
	uint64_t buckets[SYSCALL_BUCKETS];
};

void syscall_stats_add(struct syscall_stats *sum, const struct syscall_stats *part);

/*
 * The time within which `permille` of the calls returned: the upper end of that bucket, at most
 * the longest call.
 */
uint64_t syscall_stats_percentile(const struct syscall_stats *stats, unsigned permille);

struct syscall_row {
	const char *name; /* interned: equal names are equal pointers within one table */
	enum syscall_category category;
	struct syscall_stats stats;
};

/*
 * Statistics by name.  A table that is all zeros is empty and valid.  A row's category goes by the
 * name of the call alone; by_category also knows which descriptors were sockets.
 */
struct syscall_table {
	struct syscall_row *rows;
	size_t count, capacity;
	uint32_t *slots; /* private: rows by the hash of their name */
	/*
	 * Calls by category; reads and writes of sockets count as network where the source sees
	 * them.
	 */
	uint64_t by_category[SYSCALL_CATEGORY_COUNT];
	uint64_t category_ns[SYSCALL_CATEGORY_COUNT];
};

/*
 * The row of that name, added when there is none; NULL when memory runs out.  The pointer is valid
 * until the next row is added.  A name that syscalls.def does not have is copied.
 */
struct syscall_row *syscall_table_row(struct syscall_table *table, const char *name);
/*
 * Adds `part` to `sum`.  Rows for which there is no memory are added to *unnamed and *unnamed_ns.
 */
void syscall_table_add(struct syscall_table *sum, const struct syscall_table *part,
		       uint64_t *unnamed, uint64_t *unnamed_ns);
void syscall_table_clear(struct syscall_table *table);
uint64_t syscall_table_total(const struct syscall_table *table);

#endif
