/* SPDX-License-Identifier: MIT */
/*
 * Tracers: ways to follow a tree of processes and to report what happens in it as events.  Each is
 * a const struct in a file of its own; tracer.c lists them, best first:
 *
 *	bpf		kernel events for all that happens: nothing short-lived is missed
 *	connector	the kernel's process connector and the exit records of taskstats
 *	procfs		pidfds, and /proc read again and again: misses what lives between two reads
 *
 * A tracer is used from one thread.  It calls its sink from drain() and sample() only.
 */
#ifndef TRACE_TRACER_H
#define TRACE_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/scope/phase.h"
#include "model/tree/tree_event.h"
#include "model/wait/sampled_waits.h"
#include "trace/tracer_stack.h"

struct error;
struct host;
struct run;
struct run_losses;
struct source_report;

struct tracer_options {
	bool syscalls;
	bool waits;	  /* each time off the CPU, for the critical path and wakers */
	bool since_start; /* counters of tasks that are found begin with the task */
	struct tracer_stack_options stacks;
};

enum tracer_depth {
	TRACER_SAMPLE, /* accounts and processes, for a sample */
	TRACER_FINAL,  /* also system calls and open waits, for the end of the run */
};

/* A program whose scopes were found: see base/scope_layout.h. */
struct tracer_scopes {
	struct task_key process;
	uint64_t area_ns; /* when its scope memory was made */
	int64_t self_offset;
};

/* Receives a time off the CPU and the numbers of the labels, outermost first; 0: no number. */
typedef int scope_wait_sink(void *context, const uint16_t *labels, size_t count, uint64_t ns);

struct tracer_kind {
	const char *name;
	const char *needs;  /* a capability or file, for people */
	const char *misses; /* what it can miss, as the end of a sentence; NULL: nothing */
	/* Its rows of the manifest, as far as they were asked for. */
	const struct source_report *sources;
	size_t source_count;

	/*
	 * Prepares everything but follows no process yet.  Fails with a sentence when this tracer
	 * does not work here.
	 */
	int (*open)(const struct host *host, const struct tracer_options *options, void **ret,
		    struct error *error);
	/*
	 * Follows these processes.  With `at_exec` there is one, our own child, held before its
	 * exec; it and its descendants belong to the tree from its successful exec on.  Otherwise
	 * the processes are running, and they and all their descendants belong to the tree.  -ESRCH
	 * when one is gone.
	 */
	int (*follow)(void *state, const int32_t *pids, size_t count, bool at_exec,
		      struct error *error);
	/* Readable when there may be events; -1: the caller must poll. */
	int (*fd)(void *state);
	/* Sends the events since the last call to the sink. */
	int (*drain)(void *state, tree_event_sink *sink, void *context);
	/* Sends an account of each live thread, and the facts of each live process, to the sink. */
	int (*sample)(void *state, enum tracer_depth depth, tree_event_sink *sink, void *context);
	/*
	 * Samples what threads wait for, and returns when to call it again (CLOCK_MONOTONIC;
	 * UINT64_MAX: never).  The accounts then have these waits.  These two are NULL in a tracer
	 * that sees each wait.
	 */
	uint64_t (*sample_waits)(void *state, uint64_t now_ns);
	struct wait_sampling (*wait_sampling)(void *state); /* so far */
	/*
	 * Keeps the waits of a program by its open scopes, from now on or already.  These three are
	 * NULL in a tracer that does not see every switch.
	 */
	enum phase_following (*follow_scopes)(void *state, const struct tracer_scopes *scopes);
	/* Sends all waits of the program that are over.  -ENODATA: some were lost. */
	int (*scope_waits)(void *state, const struct tracer_scopes *scopes, scope_wait_sink *sink,
			   void *context);
	/* The process ended, and nobody will ask for its waits again. */
	void (*forget_scopes)(void *state, int32_t pid);
	/*
	 * Sends the stacks and mappings since the last call, after drain(); after the final sample also
	 * the stacks of threads that are still blocked.  These three are NULL in a tracer that takes no
	 * stacks.
	 */
	int (*drain_stacks)(void *state, const struct tracer_stack_sink *sink);
	void (*stack_losses)(void *state, struct tracer_stack_losses *ret);
	/* Why some or all stacks that were asked for are not taken; NULL: all are. */
	const struct source_report *(*stack_trouble)(void *state);
	/* Sets what was lost so far: the members that it counts, and leaves the others alone. */
	void (*losses)(void *state, struct run_losses *ret);
	void (*close)(void *state);
};

extern const struct tracer_kind bpf_tracer, connector_tracer, procfs_tracer;

struct tracer {
	const struct tracer_kind *kind;
	void *state;
};

/*
 * Opens the named tracer ("bpf", "connector", "procfs"), or for NULL the first that works.
 * tracer_report() adds its rows of the manifest ("tree" etc.) to `run`, with the reasons why
 * better tracers do not work.
 */
int tracer_open(const struct host *host, const char *name, const struct tracer_options *options,
		struct tracer **ret, struct error *error);
int tracer_report(const struct tracer *tracer, struct run *run);
/* The tracer at this place in the list, best first; NULL behind the last one. */
const struct tracer_kind *tracer_kind(size_t place);
/* Tests whether a tracer works here with all its options: 0, or a negative errno and a sentence. */
int tracer_try(const struct tracer_kind *kind, const struct host *host, struct error *error);
/* The same for stacks, which only one of them takes. */
enum source_state tracer_try_stacks(const struct host *host, struct error *error);
void tracer_close(struct tracer *tracer); /* NULL is allowed */

/*
 * Opens the directory of a process in /proc, for openat().  It never shows another process that
 * gets the same number later.  -ESRCH when the process is gone, or did not begin at `start_ns` (0:
 * not known).
 */
int process_directory(const struct host *host, int32_t pid, uint64_t start_ns);

/*
 * Reads the facts that all tracers take from /proc: RSS, descriptors and their limit.  A fact that
 * cannot be read is left out.  Returns 0 or a negative errno: -ESRCH when the process is gone,
 * when all its threads have ended, or when it did not begin at `start_ns` (0: not known).
 */
int process_facts_read(const struct host *host, int32_t pid, uint64_t start_ns,
		       struct tree_process_facts *ret);

#endif
