/* SPDX-License-Identifier: MIT */
/*
 * Takes a snapshot of a host.
 *
 * The tasks come from the BPF task iterator where it works, else from procfs;
 * what only procfs has is then added for each process.  A source that does not
 * work never ends a capture: its values are absent, and the snapshot says why.
 */
#ifndef COLLECT_CAPTURE_H
#define COLLECT_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/metric.h"

struct error;
struct host;
struct snapshot;

enum source_id {
#define SOURCE(id, ...) SOURCE_##id,
#include "collect/sources.def"
	SOURCE_COUNT,
};

struct source_info {
	const char *name;
	const char *gives;
	const char *needs;
	uint64_t capabilities; /* a bit for each, by its number */
};

extern const struct source_info sources[SOURCE_COUNT];

/* Returns the source of that name, or -1. */
int source_find(const char *name);

/*
 * What would make a source work that gave this reason (or NULL) here and now: what it
 * needs, unless we have the capability for it and something else denies it.
 */
const char *source_needs(enum source_id id, const char *reason);

enum task_lister {
	LIST_AUTO, /* the iterator if it works, else procfs */
	LIST_BPF,
	LIST_PROCFS,
};

struct capture_options {
	enum task_lister lister;
	uint32_t without;    /* bit for each source that is switched off */
	const int32_t *pids; /* only these processes; all when there are none */
	size_t pid_count;
	const char *cgroup;	 /* only tasks in this cgroup and below; all when NULL */
	bool smaps;		 /* read memory by kind of page, which is slow */
	bool no_jemalloc_oracle; /* no code, not even trusted, is run to find heap counters */
};

/*
 * Returns 0 and a snapshot the caller frees.  Fails, with a sentence, when the
 * asked-for lister does not work, a pid in the list is no process, or the cgroup
 * does not exist.
 */
int capture_take(const struct host *host, const struct capture_options *options,
		 struct snapshot **ret, struct error *error);

#endif
