/* SPDX-License-Identifier: MIT */
/*
 * Files that are created, changed and deleted below the directory of a job's --watch, by inotify.
 *
 * The kernel is asked twice a second, each time for a tenth of that at most, and what happens to one
 * file in two seconds is one event.
 * Directories are watched with the rights of the job's user; those that this user may not read, and
 * links, are left out.  What is too much is counted: directories, changes between two events, and
 * what the kernel had no room for.  A file that is made in a new directory and deleted at once may
 * not be seen.
 */
#ifndef RECORD_JOB_WATCH_H
#define RECORD_JOB_WATCH_H

#include "base/collection/array.h"
#include "base/loop.h"
#include "record/job/book/job_book.h"

struct error;
struct job_tracker;
struct job_watch;

#define JOB_WATCHES_MOST 32
#define JOB_WATCHES_OF_USER 8
#define JOB_WATCH_DIRECTORIES 512

struct job_watches {
	struct job_tracker *tracker;
	struct loop *loop;
	struct loop_timer due;
	ARRAY_OF(struct job_watch *) list;
	size_t turn; /* whose changes are read next */
};

void job_watches_open(struct job_watches *watches, struct loop *loop, struct job_tracker *tracker);
void job_watches_close(struct job_watches *watches);

/* Watches job->row.watched; an error has a sentence. */
int job_watches_add(struct job_watches *watches, struct book_job *job, struct error *error);
/* Logs what was seen so far, before another step begins: it belongs to the one that ran. */
void job_watches_settle(struct job_watches *watches, const struct book_job *job);
/* Logs what is left, and stops; does nothing for a job without. */
void job_watches_remove(struct job_watches *watches, struct book_job *job);
/* Logs all that was seen so far. */
void job_watches_flush(struct job_watches *watches);

#endif
