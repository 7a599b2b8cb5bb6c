/* SPDX-License-Identifier: MIT */
/*
 * Phases: how long the threads of a process were inside scopes of each label
 * (model/scope/scopes.h), and how much of that time they were on a CPU.  Scopes nest: a label has
 * the time in which one of its scopes was open, and as its own ("self") the part in which it was
 * the innermost.
 *
 * Times are sampled.  A sample reads the open scopes of a thread.  The time since the last sample
 * is divided at each depth: a scope that is open now has an age, so it gets the time since it was
 * entered; the scope that was at its depth at the last sample gets the time before.  So phases
 * longer than the time between two samples are exact, and shorter ones are right on average.  A
 * label counts once for a thread, however often it is on the stack, and again for each further
 * thread.
 *
 * A tracer that sees every switch can also say exactly how long threads were off the CPU in scopes
 * of each label: phase_wait().  That replaces the estimate.
 *
 * Programs that keep statistics also say how often each label was closed, and after how long.
 * These include scopes that no sample found.
 *
 * Pure: the caller passes the time.
 */
#ifndef MODEL_PHASE_H
#define MODEL_PHASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/collection/number_map.h"
#include "model/scope/scopes.h"
#include "model/tree/tree_event.h"

/* A program can make any number of labels at run time: further ones are left out and counted. */
#define PHASES_MAX 4096
#define PHASES_OF_PROCESS 1024

struct phase {
	struct task_key process;
	char comm[TREE_COMM_SIZE];
	char label[SCOPE_LABEL_SIZE]; /* "": all labels that have no row of their own */
	uint64_t samples; /* that found a thread in it; 0: threads and wall_ns are not known */
	uint64_t threads;
	uint64_t wall_ns, self_wall_ns;
	bool has_cpu;
	uint64_t cpu_ns, self_cpu_ns;
	uint64_t off_cpu_ns, self_off_cpu_ns; /* with the CPU time: the whole of wall_ns */
	bool has_self;			      /* false in older files: no self_ is known */
	bool has_waits; /* phase_wait() says the time off the CPU; no sample needs to */
	bool is_off_cpu_exact;
	bool has_count;				 /* from the program's own statistics */
	uint64_t count, total_ns, self_total_ns; /* of closed scopes */
	bool is_partial; /* a program of it kept no statistics: count is too low */

	/* From phase_wait(), until phases_sort() puts them in the place of the estimates. */
	bool lacks_waits, has_lost_waits, is_unnumbered;
	uint64_t waits_ns, self_waits_ns;
};

/* Whether files and outputs call the phase exact. */
static inline bool phase_is_exact(const struct phase *phase)
{
	return phase->has_count && !phase->is_partial;
}

static inline bool phase_has_off_cpu(const struct phase *phase)
{
	return phase->has_cpu || phase->has_waits;
}

/* All zeros: scopes were not searched for. */
struct phases {
	bool known;
	ARRAY_OF(struct phase) list;
	uint64_t omitted; /* samples of a scope, or statistics, whose label found no room */
};

/*
 * Drops labels that no thread entered while watched, puts exact times in the place of estimates,
 * and sorts by time, as all outputs show them.  Nothing can be added afterwards.
 */
void phases_sort(struct phases *phases);
void phases_free(struct phases *phases);

/* A label of a process: its place in the list, and which statistics were already added there. */
struct phase_row {
	uint32_t phase;
	uint64_t count, total_ns, self_total_ns;
};

/* The state of a thread between two samples. */
struct phase_thread {
	int32_t own_tid;  /* as its process sees it */
	size_t slot;	  /* in the list */
	uint64_t time_ns; /* of the last sample; before the first one, when watching began */
	uint64_t cpu_ns;
	size_t depth;
	uint32_t stack[SCOPE_FRAMES]; /* phases at the last sample, outermost first */
	ARRAY_OF(uint32_t) seen;      /* all phases that it ever was in */

	/* For the caller: its number in our PID namespace (0: not known), start, and last sample. */
	int32_t tid;
	uint64_t start_ns;
	uint64_t round;
};

/* Whether phase_wait() gets the waits of a program. */
enum phase_following {
	PHASE_NOT_FOLLOWED,
	PHASE_FOLLOWED_LATE, /* it was in scopes before */
	PHASE_FOLLOWED,	     /* from its first scope on */
};

struct phase_process {
	struct task_key key;
	enum phase_following following;
	char comm[TREE_COMM_SIZE];
	ARRAY_OF(struct phase_row) rows;
	ARRAY_OF(struct phase_thread *) threads;
	struct number_map numbers; /* threads by own_tid */
};

void phase_process_free(struct phase_process *process);

/* The thread with that number; NULL when it is not known. */
struct phase_thread *phase_thread_find(const struct phase_process *process, int32_t own_tid);
/* Adds a new thread, watched since `since_ns`.  NULL when memory runs out. */
struct phase_thread *phase_thread_add(struct phase_process *process, int32_t own_tid,
				      uint64_t since_ns);
/* Removes and frees a thread; the last one of the list takes its slot. */
void phase_thread_remove(struct phase_process *process, struct phase_thread *thread);

/* What one sample of a thread found. */
struct thread_sample {
	uint64_t time_ns;
	const struct scope *scopes; /* outermost first */
	size_t count;
	uint64_t changed_ns; /* time since it last opened or closed a scope */
	bool has_cpu;
	uint64_t cpu_ns;       /* on a CPU since watching began */
	bool keeps_statistics; /* its program does */
	uint64_t wait_ns; /* off the CPU now for so long, if phase_wait() will not say so; else 0 */
};

/* 0 or -ENOMEM. */
int phase_sample(struct phases *phases, struct phase_process *process, struct phase_thread *thread,
		 const struct thread_sample *sample);

/*
 * Adds time that threads were off the CPU while scopes of these labels were open, outermost first;
 * "" is a label without a number.  0 or -ENOMEM.
 */
int phase_wait(struct phases *phases, struct phase_process *process, const char *const *labels,
	       size_t count, uint64_t ns);

/* The same for the scopes that the thread was in at the last sample. */
void phase_wait_thread(struct phases *phases, const struct phase_process *process,
		       const struct phase_thread *thread, uint64_t ns);

/*
 * Some waits of the process were lost: its times off the CPU are estimates, and not known for labels
 * that no sample found.
 */
void phase_lose_waits(struct phases *phases, struct phase_process *process);

/*
 * Adds the growth of the program's own statistics since the last call.  The first call after
 * phase_process_forget() counts from 0.  For a program that was already running, `is_base` makes
 * the first call take the statistics as the base and add nothing.  0 or -ENOMEM.
 */
int phase_count(struct phases *phases, struct phase_process *process, const struct scopes *scopes,
		bool is_base);

/* Call it when the process runs another program: no scope is open, and statistics start at 0. */
void phase_process_forget(struct phase_process *process);

/* What the live line shows: the scope that has been the innermost of its thread for the longest. */
struct phase_now {
	bool present;
	struct scope innermost;
	bool has_outer; /* the progress is that of a scope around it */
	struct scope outer;
};

void phase_now_set(struct phase_now *now, const struct scopes *scopes);

#endif
