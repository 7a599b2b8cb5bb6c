/* SPDX-License-Identifier: MIT */
/*
 * Which processes use jemalloc, and what their files say about it.
 *
 * The files are strangers': a child of ours opens them with our rights and under
 * a deadline, since a file system may never answer; then it gives up every right
 * and reads them (host/confine.h).  A file that ends its child is left out
 * and the rest goes on in a new one, without the processes of whom that was.
 */
#ifndef COLLECT_JEMALLOC_SCOUT_H
#define COLLECT_JEMALLOC_SCOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/array.h"
#include "collect/jemalloc_budget.h"
#include "collect/jemalloc_file.h"
#include "host/elf_inspect.h"

struct host;
struct slow_users;

#define SCOUT_NONE UINT32_MAX

struct scouted_file {
	struct file_id id;
	struct elf_findings findings;
	struct stat status;
};

/* Findings that came from a child: strings end, flags are flags.  Numbers may be any. */
void findings_tame(struct elf_findings *findings);

/* What a process is made of, as far as it matters here. */
enum scout_part {
	PART_EXECUTABLE,
	PART_HOLDER,  /* the file with jemalloc in it */
	PART_LIBRARY, /* the C library, which describes its threads */
	PART_LOADER,
	PART_COUNT,
};

enum scout_state {
	SCOUT_LOOKED,  /* the files below tell; no holder: no jemalloc */
	SCOUT_GONE,    /* the process has ended */
	SCOUT_NO_MAPS, /* its map cannot be read: error */
	SCOUT_BLOCKED, /* opening its map or a file of it took too long */
	SCOUT_PUT_OFF, /* another of its user took too long: to be looked at after all others */
	SCOUT_DAMAGED, /* no jemalloc was found, but a file could not be read to its end */
	SCOUT_OUT_OF_TIME,
	SCOUT_NO_READER,  /* no child could be started: error */
	SCOUT_UNREADABLE, /* no jemalloc was found, but a file could not be opened: error */
	SCOUT_STATE_COUNT,
};

struct scouted_process {
	int32_t tgid; /* to be set by the caller, like what follows up to the state */
	uint32_t row;
	uint64_t user;

	enum scout_state state;
	int error;
	uint32_t unreadable;			 /* programs and libraries that cannot be opened */
	uint32_t parts[PART_COUNT];		 /* numbers of files, or SCOUT_NONE */
	struct address_range places[PART_COUNT]; /* from the first to the last mapping of each */
};

/* All zeros is empty and valid. */
struct scout {
	struct time_budget budget; /* for all of it; what is not looked at then is out of time */
	struct slow_users *slow;   /* who kept us waiting; NULL: nobody is put off for that */
	ARRAY_OF(struct scouted_process) processes;
	ARRAY_OF(struct scouted_file) files;
};

void scout_clear(struct scout *scout);

/* Looks at every process of the list.  0, or -ENOMEM. */
int scout_run(struct scout *scout, const struct host *host);

#endif
