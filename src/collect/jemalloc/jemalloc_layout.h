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

#include "collect/jemalloc/jemalloc_budget.h"
#include "collect/jemalloc/jemalloc_file.h"
#include "collect/jemalloc/jemalloc_tally.h"
#include "host/oracle/tsd_layout.h"

struct host;
struct loaded_elf;
struct offset_cache;

struct jemalloc_question {
	const struct host *host;
	struct time_budget budget;
	const struct offset_cache *cache;
	bool may_ask_oracle;
	int32_t tgid; /* a process that has the file mapped */
	struct file_id id;
	bool is_executable;
	bool has_status; /* else the file must be opened before the cache can be searched */
	struct stat status;
	const struct loaded_elf *loaded; /* what the process's memory says about it, or NULL */
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

void jemalloc_layout_find(const struct jemalloc_question *question, struct jemalloc_layout *ret);

#endif
