/* SPDX-License-Identifier: MIT */
/*
 * Finds the module of a process that has jemalloc in it.
 *
 * The kernel's map of the process says which files it has loaded.  The ELF headers in its memory
 * say which of them have enough thread-local storage for jemalloc; there are few, and most
 * processes have the same ones.  Each of these files is looked up by its identity, first in what
 * this source has learned, then in the cache on disk.  Only a file that was not met in the last
 * hour is opened, by a confined child of its own (jemalloc_file.h).
 *
 * Only for jemalloc_process.c.
 */
#ifndef COLLECT_JEMALLOC_FIND_H
#define COLLECT_JEMALLOC_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "collect/jemalloc/jemalloc_budget.h"
#include "collect/jemalloc/jemalloc_layout.h"
#include "collect/jemalloc/jemalloc_slow_users.h"
#include "host/elf/process_modules.h"
#include "host/oracle/offset_cache.h"
#include "host/proc/proc_file.h"

struct capture;

/* What is known about a file that a process has mapped. */
struct known_layout {
	struct file_id id;
	bool has_status; /* else this is valid for this sample only, while the file stays mapped */
	struct stat status;
	bool is_executable;
	uint64_t user; /* of the process that led to it */
	struct jemalloc_layout layout;
};

/* What is kept from one sample to the next. */
struct jemalloc_source {
	struct offset_cache cache;
	int cache_error; /* negative errno when nothing can be kept on disk, or 0 */
	struct user_times users;
	ARRAY_OF(struct known_layout) layouts;
};

/* What a process has loaded.  A thread fills this, and owns it if it takes too long. */
struct module_scan {
	int process; /* directory fd of the process */
	int32_t tgid;
	int status;
	struct process_modules modules;
	struct process_module *executable;	      /* NULL: not found */
	ARRAY_OF(struct candidate_module) candidates; /* the executable comes first */
};

/* 0, -ETIMEDOUT, or another negative errno. */
int module_scan_read(const struct host *host, int32_t tgid, unsigned timeout_ms,
		     struct module_scan **ret);
void module_scan_free(struct module_scan **scan); /* NULL is allowed */

/*
 * Reads the heap counters of one process after the other.  Set the members up to `reading`; the
 * rest starts as all zeros.
 */
struct heap_reader {
	struct jemalloc_source *source;
	struct capture *capture;
	struct time_budget learning; /* for learning about files */
	struct time_budget reading;  /* for reading memory as well */
	bool has_sorted;	     /* the threads that the iterator reported */
	struct proc_buffer buffer;
	struct jemalloc_tally tally;

	/* The process that is read now. */
	uint32_t process; /* row */
	uint64_t user;	  /* time for learning about its files is charged to them */
};

/*
 * Returns 0 and the module with its layout, or -ENOMEM.  If there is no module, *ret is NULL and
 * the layout's tag is JEMALLOC_NOT_FOUND or says what prevented the search.
 */
int jemalloc_find(const struct heap_reader *reader, const struct module_scan *scan,
		  struct process_module **ret, struct jemalloc_layout *ret_layout);

/* Charges the user for the time since `start_ms`; the tag is the outcome of that work. */
void jemalloc_charge(const struct heap_reader *reader, uint64_t start_ms, enum jemalloc_tag tag);

#endif
