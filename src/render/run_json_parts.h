/* SPDX-License-Identifier: MIT */
/*
 * Parts that several JSON lines of a run have in common.  Functions named members write keys into
 * the object that is open.
 */
#ifndef RENDER_RUN_JSON_PARTS_H
#define RENDER_RUN_JSON_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json.h"
#include "model/run.h"
#include "model/run_fields.h"

struct diagnosis;

/* Opens the object of a line and writes its kind and time; run_json_end() closes it. */
struct json run_json_begin(FILE *out, const char *kind, uint64_t unix_ns);

/* A moment of the monotonic clock as the wall clock had it, by the start of the run. */
uint64_t run_unix_ns(const struct run *run, uint64_t time_ns);

/* A moment of the monotonic clock, from the start of the run; 0 before it. */
uint64_t run_offset_ns(const struct run *run, uint64_t time_ns);

void run_json_flag(struct json *json, const char *key, bool value); /* only when true */
void run_json_pid(struct json *json, const char *key, int32_t pid);
void run_json_texts(struct json *json, const char *key, const char *const *texts, size_t count);

/* The numbers of run_fields.def that belong into that object. */
void run_json_fields(struct json *json, const struct run *run, enum run_section section);
/* The command, tracer and manifest. */
void run_json_about(struct json *json, const struct run *run);

void run_json_usage_members(struct json *json, const struct usage *usage);
/* Of a tree as a whole also user, system and unseen time. */
void run_json_ledger_members(struct json *json, const struct ledger *ledger,
			     const struct run *run_or_null);
void run_json_ledger(struct json *json, const char *key, const struct ledger *ledger,
		     const struct run *run_or_null);

/* NUL-separated words as an array `cmd`. */
void run_json_words(struct json *json, const char *words, size_t length);

/* How a process ended, from a status as wait() has it. */
struct run_ending {
	int status;
	int32_t sender_pid; /* 0: not known, or the kernel */
	const char *sender; /* its name, or "" */
	bool oom_killed;
};
void run_json_ending_members(struct json *json, const struct run_ending *ending);

/* Rows of system calls, those that took the most time first: an array. */
void run_json_syscall_rows(struct json *json, const struct syscall_table *table, bool summary);
/* `syscalls` of the summary. */
void run_json_syscalls(struct json *json, const struct run *run);

/* `phases` of the summary. */
void run_json_phases(struct json *json, const struct run *run);

/* What a process object has beside who it is and how it fared. */
enum run_json_detail {
	RUN_JSON_BRIEF = 0,
	RUN_JSON_LEDGER = 1 << 0,
	RUN_JSON_SYSCALLS = 1 << 1,
	RUN_JSON_THREADS = 1 << 2,
};

void run_json_process_members(struct json *json, const struct run *run,
			      const struct tree_process *process, unsigned detail);
void run_json_thread_members(struct json *json, const struct run *run,
			     const struct tree_thread *thread);

void run_json_offcpu(struct json *json, const struct run *run, const struct diagnosis *diagnosis,
		     bool is_brief);
void run_json_analysis(struct json *json, const struct diagnosis *diagnosis);
void run_json_verdict(struct json *json, const struct diagnosis *diagnosis);

#endif
