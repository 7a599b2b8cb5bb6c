/* SPDX-License-Identifier: MIT */
/*
 * Counters and limits of the cgroups that a process is in, under either version.
 */
#ifndef SESSION_CGROUP_LOOK_H
#define SESSION_CGROUP_LOOK_H

#include "collect/pressure.h"
#include "host/hierarchy.h"
#include "model/run.h"

/*
 * Fills the members of `ret` that begin with cgroup_ (but for the path) and can be read, as they
 * are now.  `places` is the text of the process's cgroup file.
 */
void cgroup_look(const struct hierarchies *trees, const char *places, struct run_surroundings *ret);

/* The total of one line of a pressure file, in microseconds. */
void cgroup_look_pressure(int dir, const char *name, enum pressure_line line,
			  struct run_number *ret);

#endif
