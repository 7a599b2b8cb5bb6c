/* SPDX-License-Identifier: MIT */
/*
 * One child of the scout: what it is given, what it works on, what it answers.
 * Only for jemalloc_scout.c, which starts it, and jemalloc_scout_child.c, which it runs.
 */
#ifndef COLLECT_JEMALLOC_SCOUT_JOB_H
#define COLLECT_JEMALLOC_SCOUT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "collect/jemalloc_scout.h"
#include "host/confine.h"
#include "host/process_maps.h"

#define SCOUT_FILES_MAX 768	/* that one child may have open */
#define SCOUT_PROCESSES_MAX 512 /* that one child looks at before its time is up */

/*
 * Where a child is, in memory that it shares with us: what it was doing when it
 * was lost.  A child that strangers took over can write anything here, and so
 * have one file or process of its own list left out.
 */
struct scout_progress {
	bool is_parsing; /* else opening */
	uint32_t process;
	struct file_id file;
	uint32_t prepared; /* processes whose files are open: others wait for the next child */
};

struct scout_open_file {
	struct file_id id;
	int fd; /* negative: the errno of opening it, or it is to be left out */
	const struct scout_left_out *left_out; /* or NULL */
	bool is_inspected;
	struct elf_findings *findings; /* NULL: nothing in it for us */
	uint32_t process;	       /* that led to it first */
	uint32_t number;	       /* in the answer */
	char name[256];		       /* "" when it is longer */
};

/* A file that cost us a child, and what that makes of those who use it. */
struct scout_left_out {
	struct file_id id;
	enum scout_state state;
};

/* A process has a file mapped. */
struct scout_use {
	uint32_t process, file;
	bool is_executable;
	struct address_range place;
};

struct scout_job {
	const struct host *host;
	struct scouted_process *processes; /* the slice of this child */
	size_t count;
	uint64_t memory_bytes;
	size_t batch;	     /* processes for one child */
	unsigned allowed_ms; /* for the child */
	const struct scout_left_out *left_out;
	size_t left_out_count;
	struct scout_progress *progress;
	struct confined_job child;

	int keep[SCOUT_FILES_MAX]; /* the child's fds; -1 for none */

	/* The child's own: nothing of it costs us memory. */
	ARRAY_OF(struct scout_open_file) files;
	ARRAY_OF(struct scout_use) uses;
};

/* What the child says: this, the processes that were prepared, the files. */
struct scout_answer {
	uint32_t process_count, file_count;
};

/* In the child, with all our rights and under the deadline: opens the files. */
int scout_prepare(void *job);

/* In the child, without any right: reads them and writes the answer. */
int scout_work(void *job, int answer);

#endif
