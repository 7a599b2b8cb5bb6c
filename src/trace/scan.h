/* SPDX-License-Identifier: MIT */
/*
 * Members found and followed by looking at /proc.
 */
#ifndef TRACE_SCAN_H
#define TRACE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/members.h"

struct error;
struct proc_look;

/* Adds processes that run, and all their descendants.  -ESRCH and a sentence when one is gone. */
int scan_follow(struct members *members, const int32_t *pids, size_t count, struct error *error);

/*
 * Looks at all threads of a process: adds those that are new, learns what the others used, ends those
 * that are gone (they are counted as lost).  Tells accounts when `tells`.  -ESRCH when the process
 * is gone or is another one now.
 */
int scan_threads(struct members *members, struct member *member, bool tells);

/* Forgets processes in members.done that are not listed any more. */
void scan_forget_done(struct members *members);

/* Adds all descendants of the members that are there now.  0 or -ENOMEM. */
int scan_descendants(struct members *members);

/* Whether it ended and is still listed. */
bool scan_is_dead(const struct members *members, const struct member *member);

/* Whether a look is at this member and not at another process with its number. */
bool scan_is_member(const struct members *members, const struct member *member,
		    const struct proc_look *look);

#endif
