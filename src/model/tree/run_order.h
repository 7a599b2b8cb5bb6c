/* SPDX-License-Identifier: MIT */
/*
 * Sorts the threads, processes, programs and system calls of a tree as outputs show them.
 */
#ifndef MODEL_RUN_ORDER_H
#define MODEL_RUN_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "model/tree/run.h"

/* Compares two const struct tree_thread **. */
typedef int run_thread_order(const void *a, const void *b);
run_thread_order run_threads_by_cost; /* the costliest waits first, then the most time on a CPU */
run_thread_order run_threads_by_off_cpu;
run_thread_order run_threads_by_number;

/*
 * Every thread that is kept; the caller frees it with free().  NULL and a count
 * of 0 when there are none, or no memory.
 */
const struct tree_thread **run_threads_sorted(const struct tree *tree, run_thread_order *order,
					      size_t *ret_count);

/* Processes that ended, live, or both, those with the most CPU time first; as above. */
const struct tree_process **run_processes_sorted(const struct tree *tree, bool ended, bool live,
						 size_t *ret_count);

/*
 * Sums by program over all processes, also those that were not kept: the same as those of `show -g
 * pcomm`.  The program with the most CPU time and costly waits comes first.  Processes of programs
 * that found no room have an empty name.  Time that no process has is in a row TREE_UNSEEN, with 0
 * processes.  The caller frees it with free(); NULL and a count of 0 when there are none, or no
 * memory.
 */
struct program_sums *run_programs_sorted(const struct tree *tree, size_t *ret_count);

/* Compares two const struct syscall_row **. */
typedef int run_syscall_order(const void *a, const void *b);
run_syscall_order run_syscalls_by_time, run_syscalls_by_count; /* the most first, then by name */

/* As many as the table has; the caller frees it with free().  NULL when there is no memory. */
const struct syscall_row **run_syscalls_sorted(const struct syscall_table *table,
					       run_syscall_order *order);

/*
 * User and system time that add up to run_seen_cpu_ns(), in the ratio that the
 * kernel charged.  False where it is not known.
 */
bool run_cpu_split(const struct run *run, uint64_t *ret_user, uint64_t *ret_kernel);

/*
 * The time that the ledger has as "on cpu": between switching threads in and out, or, where that is
 * not known, the time that the kernel charged.  False when neither is known.
 */
bool run_amounts_cpu(const struct amounts *amounts, uint64_t *ret);

/*
 * CPU time of a process, as run_seen_cpu_ns() gives it for the tree.  False
 * when it is not known.
 */
bool run_process_cpu(const struct tree_process *process, uint64_t *ret);

/* Time not on a CPU: blocked and waiting for one. */
uint64_t run_off_cpu_ns(const struct amounts *amounts);

#endif
