/* SPDX-License-Identifier: MIT */
/*
 * Finds out whether a program or library contains jemalloc, and where that keeps the counters of a
 * thread.  Debug information says so, in the file or beside it; without it, the code itself is run
 * and asked (host/oracle/oracle.h).  The answer is kept on disk, also when there is no jemalloc.
 */
#ifndef COLLECT_JEMALLOC_LAYOUT_H
#define COLLECT_JEMALLOC_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "collect/jemalloc/jemalloc_file.h"
#include "collect/jemalloc/jemalloc_tally.h"
#include "host/oracle/tsd_layout.h"

struct heap_reader;
struct process_module;

/* A module that may contain jemalloc. */
struct candidate_module {
	struct process_module *module;
	bool has_status; /* else its file must be opened before the cache can be searched */
	struct stat status;
};

struct jemalloc_layout {
	enum jemalloc_tag tag; /* JEMALLOC_READ when it is known */
	bool has_jemalloc;     /* false: it has none, or we could not find out */
	int error;	       /* negative errno that caused the tag, or 0 */
	const char *route;     /* one word: how the layout was learned */
	bool from_pointer;     /* offsets are from the thread pointer, else from the TLS block */
	struct tsd_layout offsets;
	int keep_error; /* negative errno when what was learned could not be kept, or 0 */
};

/* Process `tgid` has the file mapped. */
void jemalloc_layout_find(const struct heap_reader *reader, int32_t tgid,
			  const struct candidate_module *candidate, struct jemalloc_layout *ret);

#endif
