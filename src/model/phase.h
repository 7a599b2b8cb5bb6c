/* SPDX-License-Identifier: MIT */
/*
 * Phases: for each process and label how long threads were inside of scopes of that label (model/
 * scopes.h), and what they did there.
 *
 * Times are sampled.  Between two looks at a thread, a scope is taken for open from when it was
 * entered, as far as that is known: one that is open now tells its age.  What came before is the
 * scope that was at its depth at the last look.  So phases that last longer than the time between
 * two looks are exact to the switch, and of shorter ones each gets its share on average.  A label
 * counts once for a thread, however often it is on its stack, and again for each thread.
 *
 * Programs that keep statistics tell how often each label was closed, and after how long: these
 * are all of them, also those that no look saw.
 *
 * Pure: it is told what time it is.
 */
#ifndef MODEL_PHASE_H
#define MODEL_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/number_map.h"
#include "model/scopes.h"
#include "model/tree_event.h"

/* Labels made at run time may be without end: further ones are left out and counted. */
#define PHASES_MAX 4096
#define PHASES_OF_PROCESS 1024

struct phase {
	struct task_key process;
	char comm[TREE_COMM_SIZE];
	char label[SCOPE_LABEL_SIZE]; /* "": of all that have no place of their own */
	uint64_t samples; /* looks that saw a thread in it; 0: the next two are not known */
	uint64_t threads;
	uint64_t wall_ns;
	bool has_cpu;
	uint64_t cpu_ns, off_cpu_ns; /* both are parts of wall_ns */
	bool has_count;		     /* from the program's own statistics */
	uint64_t count, total_ns;    /* of scopes that were closed */
	bool is_partial;	     /* a program in it kept no statistics: there may be more */
};

/* What a file or an output calls exact. */
static inline bool phase_is_exact(const struct phase *phase)
{
	return phase->has_count && !phase->is_partial;
}

/* All zeros: nobody looked. */
struct phases {
	bool known;
	ARRAY_OF(struct phase) list;
	uint64_t omitted; /* looks at a scope, or statistics, whose label found no room */
};

/* Brings them into the order of all outputs, by time: after that nothing can be added. */
void phases_settle(struct phases *phases);
void phases_free(struct phases *phases);

/* A label of a process: where it is in the list, and how much of its statistics is in there. */
struct phase_row {
	uint32_t phase;
	uint64_t count, total_ns;
};

/* What is remembered of a thread between two looks. */
struct phase_thread {
	int32_t own_tid;  /* as its process sees it */
	size_t slot;	  /* in the list */
	uint64_t time_ns; /* of the last look; at first, since when it is watched */
	uint64_t cpu_ns;
	size_t depth;
	uint32_t stack[SCOPE_FRAMES]; /* phases at that look, outermost first */
	ARRAY_OF(uint32_t) seen;      /* all that it ever was in */

	/* For the owner: who it is as we see it (0: not known), and the last look that saw it. */
	int32_t tid;
	uint64_t start_ns;
	uint64_t round;
};

struct phase_process {
	struct task_key key;
	char comm[TREE_COMM_SIZE];
	ARRAY_OF(struct phase_row) rows;
	ARRAY_OF(struct phase_thread *) threads;
	struct number_map numbers; /* of these, by own_tid */
};

void phase_process_free(struct phase_process *process);

/* The thread with that number; NULL when it is not known. */
struct phase_thread *phase_thread_find(const struct phase_process *process, int32_t own_tid);
/* Adds one that is not known, and is watched since then.  NULL when there is no memory. */
struct phase_thread *phase_thread_add(struct phase_process *process, int32_t own_tid,
				      uint64_t since_ns);
/* Forgets and frees one; the last of them takes its place. */
void phase_thread_remove(struct phase_process *process, struct phase_thread *thread);

/* A look at a thread. */
struct phase_look {
	uint64_t time_ns;
	const struct scope *scopes; /* outermost first */
	size_t count;
	uint64_t changed_ns; /* how long ago it opened or closed the last one */
	bool has_cpu;
	uint64_t cpu_ns;       /* on a CPU since it is watched */
	bool keeps_statistics; /* its program does */
};

/* 0 or -ENOMEM. */
int phase_sample(struct phases *phases, struct phase_process *process, struct phase_thread *thread,
		 const struct phase_look *look);

/*
 * The program's own statistics, which grow from call to call.  Those of the first call after
 * phase_process_forget() count from 0, or, for a program that was found running, not at all
 * (`is_base`).  0 or -ENOMEM.
 */
int phase_count(struct phases *phases, struct phase_process *process, const struct scopes *scopes,
		bool is_base);

/* It runs another program: no scope is open, and statistics begin anew. */
void phase_process_forget(struct phase_process *process);

/* What the live line shows: the scope that has been the innermost of its thread for the longest. */
struct phase_now {
	bool present;
	struct scope innermost;
	bool has_outer; /* a scope around it has the progress */
	struct scope outer;
};

void phase_now_set(struct phase_now *now, const struct scopes *scopes);

#endif
