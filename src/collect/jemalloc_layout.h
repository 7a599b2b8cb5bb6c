/* SPDX-License-Identifier: MIT */
/*
 * Where a program or library with jemalloc in it keeps the counters of a thread:
 * by its debug information, inline or in a file of its own; else by asking the
 * very code (host/oracle.h).  What was learned is kept on disk.
 */
#ifndef COLLECT_JEMALLOC_LAYOUT_H
#define COLLECT_JEMALLOC_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/jemalloc_scout.h"
#include "collect/jemalloc_tally.h"
#include "host/tsd_layout.h"

struct host;
struct offset_cache;

struct jemalloc_question {
	const struct host *host;
	struct time_budget budget;
	const struct offset_cache *cache;
	bool may_ask_oracle;
	int32_t tgid; /* a process that has the file mapped */
	const struct scouted_file *file;
	bool is_executable;
};

struct jemalloc_layout {
	enum jemalloc_tag tag; /* JEMALLOC_READ when it is known */
	int error;	       /* negative errno behind a tag, or 0 */
	const char *route;     /* in a word */
	bool from_pointer; /* the offsets count from the thread pointer, else from the TLS block */
	struct tsd_layout offsets;
	int keep_error; /* negative errno when what was learned could not be kept, or 0 */
};

/* Whether it was learned before: by the file's identity and build id alone, which is quick. */
bool jemalloc_layout_recall(const struct jemalloc_question *question, struct jemalloc_layout *ret);

void jemalloc_layout_find(const struct jemalloc_question *question, struct jemalloc_layout *ret);

#endif
