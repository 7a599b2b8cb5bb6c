/*
 * Which processes use jemalloc, and what their files say about it.
 *
 * The files are strangers': a child of ours opens them with our rights and under
 * a deadline, since a file system may never answer; then it gives up every right
 * and reads them (host/confine.h).  A file that ends its child is left out
 * and the rest goes on in a new one.
 */
#ifndef COLLECT_JEMALLOC_SCOUT_H
#define COLLECT_JEMALLOC_SCOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "host/elf_inspect.h"

struct host;

#define SCOUT_NONE UINT32_MAX

/* A file as `maps` names it. */
struct file_id {
	uint64_t device, inode;
};

struct scouted_file {
	struct file_id id;
	struct elf_findings findings;
};

enum scout_state {
	SCOUT_LOOKED,  /* the files below tell; no holder: no jemalloc */
	SCOUT_GONE,    /* the process has ended */
	SCOUT_NO_MAPS, /* its map cannot be read: error */
	SCOUT_BLOCKED, /* opening its map or a file of it took too long */
	SCOUT_DAMAGED, /* no jemalloc was found, but a file of it could not be read to its end */
};

struct scouted_process {
	int32_t tgid; /* to be set by the caller, like what follows up to the state */
	uint32_t row;

	enum scout_state state;
	int error;
	/* Numbers of files, or SCOUT_NONE. */
	uint32_t executable;
	uint32_t holder;  /* has jemalloc in it */
	uint32_t library; /* the C library that describes its threads */
	uint32_t loader;
};

/* All zeros is empty and valid. */
struct scout {
	ARRAY_OF(struct scouted_process) processes;
	ARRAY_OF(struct scouted_file) files;
};

void scout_clear(struct scout *scout);

/* Looks at every process of the list.  0, or -ENOMEM. */
int scout_run(struct scout *scout, const struct host *host);

#endif
