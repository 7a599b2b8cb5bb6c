/* SPDX-License-Identifier: MIT */
/*
 * Ways to follow a tree of processes.  Each is a const struct in a file of its own, listed best
 * first in tracer.c:
 *
 *	bpf		kernel events for all that happens: nothing short-lived is missed
 *	connector	the kernel's process connector and the exit records of taskstats
 *	procfs		pidfds and looks at /proc: what lives between two looks can be missed
 *
 * A tracer is used from one thread.  It calls its sink from drain() and sample() only.
 */
#ifndef TRACE_TRACER_H
#define TRACE_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tree_event.h"

struct error;
struct host;
struct run;
struct run_source;

struct tracer_options {
	bool syscalls;
	bool wakers;
};

/* Losses so far: see struct run_losses. */
struct tracer_losses {
	uint64_t events, threads, unnamed_syscalls, wakers, untracked_tasks;
};

enum tracer_depth {
	TRACER_LOOK,  /* accounts and processes, for a sample */
	TRACER_FINAL, /* also system calls and wakers, for the end of the run */
};

struct tracer_kind {
	const char *name;
	const char *needs;  /* a capability or file, for people */
	const char *misses; /* what it can miss, as the end of a sentence; NULL: nothing */

	/*
	 * Makes everything ready but follows nobody yet.  Fails with a sentence when this way does
	 * not work here.
	 */
	int (*open)(const struct host *host, const struct tracer_options *options, void **ret,
		    struct error *error);
	/*
	 * Follows these processes.  With `at_exec` the single process is our own child, held before
	 * its exec: it and its descendants belong to the tree from its successful exec on.  Else
	 * they run, and all their descendants belong to it too.  -ESRCH when one is gone.
	 */
	int (*follow)(void *state, const int32_t *pids, size_t count, bool at_exec,
		      struct error *error);
	/* Readable when there may be events; -1 when only time tells. */
	int (*fd)(void *state);
	/* Hands over what happened since the last call. */
	int (*drain)(void *state, tree_event_sink *sink, void *context);
	/* Hands over an account of each live thread, and what is known of each live process. */
	int (*sample)(void *state, enum tracer_depth depth, tree_event_sink *sink, void *context);
	void (*losses)(void *state, struct tracer_losses *ret);
	/* The rows of the manifest that it answers for: tree, ledger, syscalls, wakers. */
	int (*report)(void *state, struct run *run);
	void (*close)(void *state);
};

extern const struct tracer_kind bpf_tracer, connector_tracer, procfs_tracer;

struct tracer {
	const struct tracer_kind *kind;
	void *state;
};

/*
 * Opens the named way ("bpf", "connector", "procfs"), or for NULL the first that works.
 * Rows "tree" etc. of the manifest and the reasons why better ways do not work go into `run`
 * with tracer_report().
 */
int tracer_open(const struct host *host, const char *name, const struct tracer_options *options,
		struct tracer **ret, struct error *error);
int tracer_report(const struct tracer *tracer, struct run *run);
/* For the report() of those whose rows are the same everywhere. */
int tracer_report_rows(struct run *run, const struct run_source *rows, size_t count);
/* The ways by their place in the list, best first; NULL behind the last one. */
const struct tracer_kind *tracer_kind(size_t place);
/* Finds out whether a way works here with all that it can: 0, or a negative errno and a sentence. */
int tracer_try(const struct tracer_kind *kind, const struct host *host, struct error *error);
void tracer_close(struct tracer *tracer); /* NULL is allowed */

/*
 * The directory of a process, for openat(): it stays with the process.  -ESRCH when that is gone,
 * or did not begin at `start_ns` (0: not known).
 */
int process_directory(const struct host *host, int32_t pid, uint64_t start_ns);

/*
 * What process values every way reads alike from /proc: RSS, descriptors and their limit.
 * What cannot be read is left out.  0, -ESRCH when the process is gone, all its threads have
 * ended, or it is not the one that began at `start_ns` (0: not known), or another negative errno.
 */
int process_facts_read(const struct host *host, int32_t pid, uint64_t start_ns,
		       struct tree_process_facts *ret);

/* Adds the peak RSS of the program that it runs now, which costs more than all of the above. */
int process_peak_read(const struct host *host, int32_t pid, struct tree_process_facts *facts);

#endif
