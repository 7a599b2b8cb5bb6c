/* SPDX-License-Identifier: MIT */
/*
 * System calls: their names, what they are for, and what a thread waits for that is blocked in one.
 *
 * Numbers and names come from the kernel's headers at build time, and from a small table of
 * numbers newer than the headers; category and rule of each name are a row of syscalls.def.
 */
#ifndef MODEL_SYSCALL_H
#define MODEL_SYSCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/wait.h"

/* The categories of the reports. */
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

/* Which table a number is of. */
enum syscall_abi {
	SYSCALL_NATIVE,	 /* of the machine that taskscope was built for */
	SYSCALL_COMPAT,	 /* its 32-bit tasks: i386 beside x86-64, arm beside arm64 */
	SYSCALL_UNKNOWN, /* e.g. x32: numbers without names */
	SYSCALL_ABI_COUNT,
};

#define SYSCALL_NAME_SIZE 32

/* The name, or "syscall_N" written into the buffer. */
const char *syscall_name(enum syscall_abi abi, uint32_t number, char buffer[SYSCALL_NAME_SIZE]);

/* By name, so that a file of another machine can be read: SYSCALL_OTHER when not known. */
enum syscall_category syscall_category_of(const char *name);

/* By number: a reason, or an enum wait_rule beyond the reasons.  WAIT_OTHER when not known. */
unsigned syscall_wait_rule(enum syscall_abi abi, uint32_t number);

/* The number of a native call by that name, or -1. */
int syscall_number(const char *name);

/* One past the largest number of that table. */
uint32_t syscall_count(enum syscall_abi abi);

/* The name as syscalls.def has it: equal names are equal pointers.  NULL when it is not there. */
const char *syscall_static_name(const char *name);

/* Names in the headers that syscalls.def lacks, ended by NULL.  Their numbers have no name. */
extern const char *const syscall_unfiled[];

/*
 * Bucket 0 of a histogram holds what took less than 128 ns, bucket i what took from 2^(i+6) to
 * 2^(i+7) ns, the last one all that took longer.
 */
#define SYSCALL_BUCKETS 32
#define SYSCALL_ERRORS 4

struct syscall_error {
	uint32_t number; /* errno; 0: those that had no room of their own */
	uint64_t count;
};

/* What is known of one call in one thread, process or tree. */
struct syscall_stats {
	uint64_t count;
	uint64_t errors;
	uint64_t total_ns;
	uint64_t max_ns;
	struct syscall_error by_error[SYSCALL_ERRORS + 1]; /* the last one is number 0 */
	uint64_t buckets[SYSCALL_BUCKETS];
};

void syscall_stats_add(struct syscall_stats *sum, const struct syscall_stats *part);

/*
 * The time that `permille` of the calls stayed below: the upper end of that bucket, capped by the
 * longest.
 */
uint64_t syscall_stats_percentile(const struct syscall_stats *stats, unsigned permille);

struct syscall_row {
	const char *name; /* interned: equal names are equal pointers within one table */
	enum syscall_category category;
	struct syscall_stats stats;
};

/*
 * Statistics by name.  Empty when all zeros.  A call on a descriptor is filed by its name;
 * the category counts of a table may say better (see by_category).
 */
struct syscall_table {
	struct syscall_row *rows;
	size_t count, capacity;
	uint32_t *slots; /* rows by hash of their name: the table's own */
	/* Calls by category; reads and writes of sockets count as network where the source tells. */
	uint64_t by_category[SYSCALL_CATEGORY_COUNT];
	uint64_t category_ns[SYSCALL_CATEGORY_COUNT];
};

/*
 * The row of that name, made when there is none; NULL when out of memory.  Valid until the next
 * row is made.  The table keeps a copy of a name that syscalls.def does not have.
 */
struct syscall_row *syscall_table_row(struct syscall_table *table, const char *name);
/* Rows that there is no memory for are added to the two numbers. */
void syscall_table_add(struct syscall_table *sum, const struct syscall_table *part,
		       uint64_t *unnamed, uint64_t *unnamed_ns);
void syscall_table_clear(struct syscall_table *table);
uint64_t syscall_table_total(const struct syscall_table *table);

#endif
