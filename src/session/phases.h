/* SPDX-License-Identifier: MIT */
/*
 * Looks for programs that use libtaskscope among the members of a tree, and follows their scopes.
 *
 * A member is searched quickly, soon after it began or did an exec and then less and less often; the
 * search that costs more is done once, when there is a thread called like the library's heartbeat,
 * or after a minute.  What is found is read at each sample and a last time when the process ended or
 * does an exec: the memory stays as long as we have it open.
 */
#ifndef SESSION_PHASES_H
#define SESSION_PHASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/number_map.h"
#include "model/run.h"
#include "session/phase_view.h"

#define PHASE_READERS_MAX 256 /* programs that are read at a time; further ones are counted */

struct host;
struct lines;

struct phase_member {
	struct task_key key;
	size_t slot;	   /* in the list */
	uint64_t begin_ns; /* it began, or runs its program since then */
	uint64_t next_ns;  /* when it is searched again */
	uint64_t pause_ns;
	uint32_t execs;
	bool is_found;		 /* it runs its program since before it was watched */
	bool has_heartbeat;	 /* it has a thread of that name */
	bool is_searched;	 /* all over */
	bool is_looked_at;	 /* it could be */
	bool is_denied;		 /* we may not look */
	bool is_beyond;		 /* there were too many */
	bool is_strange;	 /* what it has cannot be understood */
	struct phase_view *view; /* NULL: it has had none so far */
};

/* All zeros: nobody is looked for. */
struct phase_watch {
	const struct host *host;
	struct run *run;
	struct number_map numbers;
	ARRAY_OF(struct phase_member *) members;
	size_t readers;	    /* that are open */
	uint64_t looked_at; /* processes that could be looked at */
	uint64_t denied;    /* those that could not */
	uint64_t beyond;    /* those that were too many */
	uint64_t strange;   /* those whose scopes cannot be understood */
	uint64_t cost_ns;   /* CPU time of searches since it was last taken */
	int64_t credit_ns;  /* what searches may take, as of the next */
	uint64_t credited_ns;
	size_t turn; /* who was searched last */
};

/* Borrows both.  Adds the row of the manifest.  0 or a negative errno. */
int phases_begin(struct phase_watch *watch, const struct host *host, struct run *run);
void phases_close(struct phase_watch *watch);

/* After the event was applied to the tree. */
void phases_note(struct phase_watch *watch, const struct tree_event *event);
/* Searches those that are due. */
void phases_search(struct phase_watch *watch, uint64_t now_ns);
/* Reads all that were found; true when scopes were opened or closed lately.  A line when there is news. */
bool phases_sample(struct phase_watch *watch, struct lines *lines, uint64_t now_ns);
/* A process that tree_take_ended() returned. */
void phases_end(struct phase_watch *watch, const struct tree_process *process);
/* No more events and samples come: statistics of those that live, and the manifest. */
int phases_finish(struct phase_watch *watch);
/* What searches cost since the last time. */
uint64_t phases_take_cost(struct phase_watch *watch);

#endif
