/* SPDX-License-Identifier: MIT */
/*
 * Writes the JSON lines of a run (docs/json.md): env, metadata, sample, scopes, tree, event, exit,
 * states, frame, stack, summary.  Each function writes one line with its newline; what is absent is
 * left out.
 */
#ifndef STORE_RUN_JSON_H
#define STORE_RUN_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "model/tree/run.h"

struct json;
struct lines;
struct snapshot;

/* Host facts, from a snapshot that has them. */
void run_json_env(FILE *out, const struct snapshot *host);
void run_json_metadata(FILE *out, const struct run *run);
/* The tree's sums at run->last. */
void run_json_sample(FILE *out, const struct run *run);
/* Open scopes of a process. */
struct run_scopes {
	struct task_key key;
	const struct scopes *scopes;
};
/* Writes the scopes of processes whose scopes changed; `omitted` more are left out. */
void run_json_scopes(FILE *out, const struct run *run, uint64_t time_ns,
		     const struct run_scopes *processes, size_t count, size_t omitted);
/* The live processes, the busiest first, at most `limit`; the rest is counted. */
void run_json_tree(FILE *out, const struct run *run, size_t limit);
/* A fork, exec, signal or OOM kill as it happened. */
void run_json_event(FILE *out, const struct run *run, const struct tree_event *event);
/* A process that ended: from tree_take_ended(). */
void run_json_exit(FILE *out, const struct run *run, const struct tree_process *process);
/* The sheets of host and cgroups at the begin and the end, which run->states has. */
void run_json_states(FILE *out, const struct run *run);
/*
 * The frames and stacks of the profile, if there is one: many lines.  A reader of a pipe that falls
 * behind is waited for as long as it takes something within `patience_ms`.
 */
void run_json_stacks(struct lines *lines, const struct run *run, int patience_ms);
/* The members of a frame, in an object that is open. */
void run_json_frame(struct json *json, const struct profile *profile, uint32_t number);
/* Writes what was concluded from the run, as members of the summary. */
typedef void run_json_conclusions(struct json *json, const struct run *run, const void *context,
				  bool is_brief);
/*
 * The last line, and the output of `--format json` of report and why.  A brief one, for where there
 * is no room, has the first rows of its lists and no phases, and says so.
 */
void run_json_summary(FILE *out, const struct run *run, run_json_conclusions *conclusions,
		      const void *context, bool is_brief);

#endif
