/* SPDX-License-Identifier: MIT */
/*
 * This room takes marks from who makes them (job_place.h) to who keeps them: a recorder (job_marks.h) or a
 * store (job_store.h).
 *
 * A mark: somebody says that a job or a step begins or ends.  Marks are requests of the recorder's
 * socket (job_start, job_step, job_end), or go straight to a store that no recorder has.
 */
#ifndef RECORD_JOB_MARK_H
#define RECORD_JOB_MARK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/record/job/job.h"
#include "record/job/job_tracker.h"

#define JOB_TEXT_BYTES 4096
#define JOB_SYSCALLS_MOST 100
/* A whole run that comes with a mark; and one of a user who is neither root nor the recorder's. */
#define JOB_RUN_BYTES_MOST ((size_t)64 << 20)
#define JOB_RUN_BYTES_OF_STRANGER ((size_t)8 << 20)

struct error;
struct json;
struct server_request;

enum job_mark_kind {
	JOB_MARK_START,
	JOB_MARK_STEP,
	JOB_MARK_END, /* of the job; with a step, of that step alone */
	JOB_MARK_KIND_COUNT,
};

extern const char *const job_mark_methods[JOB_MARK_KIND_COUNT];

/* What whoever marks the end has measured itself. */
struct job_measured {
	struct job_figures figures;
	enum job_memory memory;
	uint64_t duration_ns; /* of the command itself; 0: not known */
	const char *details;  /* NULL: none */
	struct job_syscall syscalls[JOB_SYSCALLS_MOST];
	size_t syscall_count;
	/* What happened, for a store that no recorder writes. */
	const struct job_event *events;
	size_t event_count;
	const void
		*run; /* as a .tscope file; NULL: none.  Through a socket it is a file of its own */
	size_t run_size; /* without a run: how many bytes there would be, and it is too large */
};

/* Texts belong to whoever made the mark. */
struct job_mark {
	enum job_mark_kind kind;
	uint32_t uid; /* whose mark it is: the kernel says so, or it is our own */
	/*
	 * A start has the new name here.  Other marks say which job: a name, "#ID", or an ID if no
	 * job has that name.
	 */
	const char *name;
	const char *step;     /* NULL: none; where a step begins, the next number */
	struct task_key root; /* its first process; all 0: none */
	bool watches;	     /* the first process is a taskscope that runs the command, and marks */
	bool takes_children; /* what the first process has forked before belongs to it, too */
	const char *cgroup, *cmd, *watched;
	uint64_t steps;
	enum job_outcome outcome; /* of an end */
	bool has_status;
	int status;
	bool is_measured;
	struct job_measured measured;
};

/* What became of it. */
struct job_marked {
	uint64_t job; /* 0: there is no such job that runs */
	char step[JOB_NAME_SIZE];
};

/* Whether names and texts are such as a mark may have: 0, or -EINVAL with a sentence. */
int job_mark_check(const struct job_mark *mark, struct error *error);

bool job_name_is_printable(const char *name);

/* Writes the parameters of the request, as an object. */
void job_mark_write(struct json *json, const struct job_mark *mark);
/*
 * Reads them; texts are the request's.  The mark is checked.  0, or -EINVAL with a sentence.
 */
int job_mark_read(const struct server_request *request, enum job_mark_kind kind,
		  struct job_mark *ret, struct error *error);
/* The answer to a mark, as JSON, and the store that has the job; "": it is not said. */
int job_marked_read(const char *line, size_t length, struct job_marked *ret,
		    char ret_store[PATH_MAX], struct error *error);

#endif
