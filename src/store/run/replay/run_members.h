/* SPDX-License-Identifier: MIT */
/*
 * Replays what lines say about processes and threads: turns an object of a process, and those of
 * its threads, into the events that the tracer once sent.  Private to src/store/run.
 *
 * An object that is not valid leaves out what it lacks.  Functions that replay return 0 or -ENOMEM.
 */
#ifndef STORE_RUN_MEMBERS_H
#define STORE_RUN_MEMBERS_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "model/tree/run.h"

/* The key of a thread, and that of a process. */
void member_key_read(const json_t *object, struct task_key *ret);
struct task_key process_key(const json_t *object);

/* Lines count time from the start of the run; the end is that of a process or thread. */
uint64_t line_time_ns(const json_t *object, const char *key, const struct run *run);
uint64_t line_end_ns(const json_t *object, const struct run *run);

void fork_read(const json_t *object, struct tree_fork *ret);
/* The arguments are in `words`. */
int exec_read(const json_t *object, struct text *words, struct tree_exec *ret);

/* The size of an array, but not more than the writer puts into it. */
size_t size_within(const json_t *list, size_t most);

/* Replays a process that ended; threads that it does not list itself may be in `all_threads`. */
int replay_ended(const json_t *process, const json_t *all_threads, struct run *run);
/* The same unless the tree has it already. */
int replay_unless_known(const json_t *process, const json_t *all_threads, struct run *run);
/* Replays processes that were alive, with those of the listed threads that were. */
int replay_running(const json_t *processes, const json_t *threads, struct run *run);
/* Takes all processes that have ended out of the tree's queue; there is no line to write. */
void replay_take_ended(struct tree *tree);

#endif
