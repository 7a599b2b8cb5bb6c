/* SPDX-License-Identifier: MIT */
/*
 * The names that each grouping axis uses: one row of a table for each axis.
 *
 * A key is made of one name of a task, or of several (its parts).  Tasks with
 * the same identity in a part have the same name in it, so the work on a name
 * is done once for each identity, not for each task.
 */
#ifndef ANALYZE_AXIS_H
#define ANALYZE_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/group/group.h"

struct snapshot;
struct text;

enum name_rule {
	NAME_LITERAL, /* kept as it is */
	NAME_PATTERN, /* the pattern of a thread's or process's name */
	NAME_PATH,    /* a cgroup path: its glob or its pattern */
};

struct axis_part {
	enum name_rule rule;
	/* A number below identities(). */
	uint32_t (*identity)(const struct snapshot *snapshot, uint32_t task);
	size_t (*identities)(const struct snapshot *snapshot);
	/* NULL: the identity is the name, as a string's number. */
	void (*append_name)(const struct snapshot *snapshot, uint32_t task, struct text *out);
	/* No two identities of a snapshot share a name: a run can have a number several times. */
	bool is_unique;
};

#define AXIS_PARTS 3

struct axis {
	const char *name;
	const struct axis_part *parts[AXIS_PARTS]; /* NULL after the last */
};

extern const struct axis axes[AXIS_COUNT];

#endif
