/* SPDX-License-Identifier: MIT */
/* Finds members and follows them by reading /proc. */
#ifndef TRACE_SCAN_H
#define TRACE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/proc/members.h"

struct error;
struct proc_sample;

/* Adds running processes and all their descendants.  -ESRCH and a sentence when one is gone. */
int scan_follow(struct members *members, const int32_t *pids, size_t count, struct error *error);

/*
 * Reads all threads of a process: adds new ones, updates what the others used, and ends those that
 * are gone, which count as lost.  Sends accounts if it `reports`.  -ESRCH when the process is gone, or
 * another process has its number.
 */
int scan_threads(struct members *members, struct member *member, bool reports);

/* Removes processes from members.done that /proc no longer lists. */
void scan_forget_done(struct members *members);

/* Adds all current descendants of the members.  0 or -ENOMEM. */
int scan_descendants(struct members *members);

/* Whether it ended and /proc still lists it. */
bool scan_is_dead(const struct members *members, const struct member *member);

/* Whether a sample is of this member, and not of another process with the same number. */
bool scan_is_member(const struct members *members, const struct member *member,
		    const struct proc_sample *sample);

#endif
