/* SPDX-License-Identifier: MIT */
/*
 * Matches tasks and processes of two snapshots of one boot by identity: tasks
 * on (tgid, tid, start time), processes on (tgid, start time).
 *
 * A task of B that is not in A was born in between if it started after A was
 * taken.  Otherwise A missed it (a filter, a race), and what it did before is
 * unknown.  A task of A that is not in B has ended.
 *
 *	struct join join;
 *	join_init(&join, &arena, before, after);
 *	join.before_of_task[row of B]: row of A, JOIN_BORN or JOIN_MISSED
 */
#ifndef ANALYZE_JOIN_H
#define ANALYZE_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct snapshot;

/* Used instead of a row of A. */
#define JOIN_BORN (UINT32_MAX - 1)
#define JOIN_MISSED UINT32_MAX

static inline bool join_is_row(uint32_t before)
{
	return before < JOIN_BORN;
}

struct join {
	const struct snapshot *before, *after;
	uint32_t *before_of_task;    /* by rows of B */
	uint32_t *before_of_process; /* by rows of B */
	uint32_t *ended_tasks;	     /* rows of A that are not in B, ascending */
	uint32_t *ended_in_process;  /* how many of them are in each process of A */
	size_t ended_count;
	size_t born, missed;	/* tasks */
	size_t processes_ended; /* of A, whole ones */
};

/* Both must be finished snapshots.  The arrays are in the arena.  0 or -ENOMEM. */
int join_init(struct join *join, struct arena *arena, const struct snapshot *before,
	      const struct snapshot *after);
/* Index in ended_tasks of the first ended task of a process of A, which must have one. */
size_t join_first_ended(const struct join *join, uint32_t process);

#endif
