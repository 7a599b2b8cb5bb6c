/* SPDX-License-Identifier: MIT */
/*
 * The processes that are looked at, held by pidfds, so that another process that gets the same
 * number is not taken for one of them.
 */
#ifndef SESSION_CALL_TARGETS_H
#define SESSION_CALL_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"

struct error;

struct target {
	int32_t pid;
	int pidfd;
	struct loop_fd ended;
	struct targets *targets;
};

struct targets {
	struct loop *loop;
	struct target *list;
	size_t count, alive;
	loop_function *all_ended; /* NULL: nobody is told */
	void *context;
};

/* 0, or a negative errno with a sentence: a process is gone, or a thread. */
int targets_open(struct targets *ret, const int32_t *pids, size_t count, struct error *error);
void targets_close(struct targets *targets);
/* Calls all_ended once when the last one has ended. */
int targets_watch(struct targets *targets, struct loop *loop, loop_function *all_ended,
		  void *context);
/* Fails when one has ended meanwhile: its number may be that of another process now. */
int targets_check(const struct targets *targets, struct error *error);
bool target_has_ended(const struct target *target);

#endif
