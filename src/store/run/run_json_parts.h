/* SPDX-License-Identifier: MIT */
/*
 * Parts that several JSON lines of a run share.  Functions named members write
 * keys into the object that is open.
 */
#ifndef STORE_RUN_JSON_PARTS_H
#define STORE_RUN_JSON_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"
#include "model/tree/run.h"
#include "model/tree/run_fields.h"

struct sheet;
struct snapshot;

/* Opens the object of a line and writes its kind and time; json_end_object() closes it. */
struct json run_json_begin(FILE *out, const char *kind, uint64_t unix_ns);

/* Converts a time of the monotonic clock to the wall clock, by the start of the run. */
uint64_t run_unix_ns(const struct run *run, uint64_t time_ns);

/* A time of the monotonic clock, counted from the start of the run; 0 before it. */
uint64_t run_offset_ns(const struct run *run, uint64_t time_ns);

/* No key when it is absent. */
void run_json_number(struct json *json, const char *key, const struct run_number *number);
/* The numbers of run_fields.def that belong to that object. */
void run_json_fields(struct json *json, const struct run *run, enum run_section section);
/* A sheet of readings: its rows, and the reasons and origins of its columns. */
void run_json_sheet(struct json *json, const char *key, const struct snapshot *snapshot,
		    const struct sheet *sheet);
/* The command, tracer and manifest. */
void run_json_about(struct json *json, const struct run *run);

/* Each under the id of its metric; an amount that was not measured has no key. */
void run_json_amounts(struct json *json, const struct amounts *amounts);
/* The same without waits. */
void run_json_amounts_used(struct json *json, const struct amounts *amounts);

/* NUL-separated words as an array `cmd`. */
void run_json_words(struct json *json, const char *words, size_t length);

/* How a process ended, from a status as wait() returns it. */
struct run_ending {
	int status;
	int32_t sender_pid; /* 0: not known, or the kernel */
	const char *sender; /* its name, or "" */
	bool oom_killed;
};
void run_json_ending_members(struct json *json, const struct run_ending *ending);

/* `table`: rows of system calls, those that took the most time first. */
void run_json_syscall_table(struct json *json, const struct syscall_table *table, bool summary);
/* `syscalls` of the summary. */
void run_json_syscalls(struct json *json, const struct run *run);

/* `phases` of the summary. */
void run_json_phases(struct json *json, const struct run *run);

/* `profile` of the summary, where the run has one; a brief one has one function of each kind. */
void run_json_profile(struct json *json, const struct run *run, bool is_brief);

/* `critical_path` of the summary; a brief one has no segments. */
void run_json_path(struct json *json, const struct run *run, bool is_brief);

/* Optional parts of a process object, besides its identity and how it fared. */
enum run_json_detail {
	RUN_JSON_BRIEF = 0,
	RUN_JSON_WAITS = 1 << 0,
	RUN_JSON_SYSCALLS = 1 << 1,
	RUN_JSON_THREADS = 1 << 2,
};

void run_json_process_members(struct json *json, const struct run *run,
			      const struct tree_process *process, unsigned detail);
void run_json_thread_members(struct json *json, const struct run *run,
			     const struct tree_thread *thread);

/* The members of the environment: facts of the host, and frequency governors. */
void run_json_environment(struct json *json, const struct snapshot *host);

#endif
