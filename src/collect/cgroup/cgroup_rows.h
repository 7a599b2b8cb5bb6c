/* SPDX-License-Identifier: MIT */
/*
 * Finds the cgroups that a capture reports: those that hold a captured task, and all above them,
 * by their paths in the hierarchy that the capture takes paths from.
 *
 * On hosts with several hierarchies a task may be at a different path in each.  A row is assumed
 * to be the cgroup of the same path in another hierarchy if one of its tasks is there; a row
 * without tasks of its own, if it is above such a row.  The root is the same in all hierarchies.
 */
#ifndef COLLECT_CGROUP_ROWS_H
#define COLLECT_CGROUP_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "host/hierarchy.h"

struct capture;
struct dictionary;

struct cgroup_row {
	const char *path;
	uint32_t parent;      /* number of the row above; its own for the root */
	uint8_t same;	      /* bit for each hierarchy in which it is the same cgroup */
	uint8_t tries;	      /* tasks whose places in other hierarchies were read */
	bool is_asked;	      /* for one of them this worked */
	bool is_outside;      /* outside our cgroup namespace: nothing of it can be read */
	bool has_controllers; /* `controllers` is known */
	uint8_t controllers;  /* bit for each controller that v2 has enabled for it */
};

struct cgroup_rows {
	struct dictionary *paths;	  /* number n is row n - 1 */
	ARRAY_OF(struct cgroup_row) list; /* a row comes after the one above it */
	uint32_t *order;		  /* rows by path */
	uint64_t dropped; /* tasks whose cgroup has no row: too many rows, a path too long */
};

/* Finds the rows of a capture whose tasks are in order.  0 or -ENOMEM; cleared either way. */
int cgroup_rows_find(const struct capture *capture, const struct hierarchies *trees,
		     struct cgroup_rows *ret);
/*
 * Finds the rows of one process, given by the text of its cgroup file: its cgroup in each
 * hierarchy, wherever that is, and all above.  0 or -ENOMEM; cleared either way.
 */
int cgroup_rows_of_process(const char *places, const struct hierarchies *trees,
			   struct cgroup_rows *ret);
void cgroup_rows_clear(struct cgroup_rows *rows);

#endif
