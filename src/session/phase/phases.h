/* SPDX-License-Identifier: MIT */
/*
 * Finds programs that use libtaskscope among the members of a tree, and follows their scopes.
 *
 * Each member is searched quickly: soon after it began or did an exec, and then less and less
 * often.  The thorough search, which costs more, is done once: when a thread has the name of the
 * library's heartbeat, or after a minute.  Scopes that were found are read at each sample, and a
 * last time when the process ended or did an exec: the memory exists as long as we have it open.
 */
#ifndef SESSION_PHASES_H
#define SESSION_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/collection/number_map.h"
#include "model/tree/run.h"
#include "session/phase/phase_view.h"

#define PHASE_READERS_MAX 256 /* programs read at a time; further ones are only counted */

struct host;
struct lines;
struct text;

struct phase_member {
	struct task_key key;
	size_t slot;	   /* in the list */
	uint64_t begin_ns; /* when it began, or did its last exec */
	uint64_t next_ns;  /* when it is searched again */
	uint64_t pause_ns;
	uint32_t execs;
	bool is_found;		 /* its program already ran when watching began */
	bool has_heartbeat;	 /* it has a thread with the heartbeat's name */
	bool is_searched;	 /* the thorough search was done */
	bool is_readable;	 /* it could be searched */
	bool is_denied;		 /* we may not read it */
	bool is_beyond;		 /* there were too many programs to read */
	bool is_strange;	 /* its scope memory is not valid */
	struct phase_view *view; /* NULL: none was found so far */
};

/* All zeros: nothing is searched. */
struct phase_watch {
	const struct host *host;
	const struct tracer *tracer;
	struct run *run;
	struct number_map numbers;
	ARRAY_OF(struct phase_member *) members;
	size_t readers;	   /* how many are open */
	uint64_t readable; /* processes that could be searched */
	uint64_t denied;   /* processes that we may not read */
	uint64_t beyond;   /* processes that were too many to read */
	uint64_t strange;  /* processes whose scope memory is not valid */
	uint64_t cost_ns;  /* CPU time of searches since phases_take_cost() */
	int64_t credit_ns; /* CPU time that searches may use, as of credited_ns */
	uint64_t credited_ns;
	size_t turn; /* the member that was searched last */
};

/* Borrows all three.  Adds the row of the manifest.  0 or a negative errno. */
int phases_begin(struct phase_watch *watch, const struct host *host, const struct tracer *tracer,
		 struct run *run);
void phases_close(struct phase_watch *watch);

/* Call it after the event was applied to the tree. */
void phases_note(struct phase_watch *watch, const struct tree_event *event);
/* Searches the members that are due. */
void phases_search(struct phase_watch *watch, uint64_t now_ns);
/*
 * Reads all scopes that were found, and writes a line if something changed.  True when scopes were
 * opened or closed recently.
 */
bool phases_sample(struct phase_watch *watch, struct lines *lines, uint64_t now_ns);
/* Call it for each process that tree_take_ended() returned. */
void phases_end(struct phase_watch *watch, const struct tree_process *process);
/*
 * Call it after the last event and sample, and when the losses of the run are known: adds the
 * statistics of live programs, and updates the manifest.
 */
int phases_finish(struct phase_watch *watch);
/* Stands for a label that was in use, but is not known: time in it is not time outside of scopes. */
#define PHASE_NOT_KNOWN "(not known)"
/*
 * Appends the labels of scopes that a thread of the process had open, outermost first, with " > "
 * between them; PHASE_NOT_KNOWN for one that cannot be read any more.
 */
void phases_append_scopes(struct phase_watch *watch, int32_t pid,
			  const struct tracer_stack_scopes *scopes, struct text *out);
/* Returns the CPU time of searches since the last call. */
uint64_t phases_take_cost(struct phase_watch *watch);

#endif
