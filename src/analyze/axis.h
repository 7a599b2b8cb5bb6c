/* SPDX-License-Identifier: MIT */
/*
 * What each grouping axis looks at: one row of a table for each.
 *
 * A key is made of one name of a task, or of several.  Tasks with the same
 * identity in a part have the same name in it; what is made of a name is
 * therefore worked out once for each identity, not once for each task.
 */
#ifndef ANALYZE_AXIS_H
#define ANALYZE_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/group.h"

struct snapshot;
struct text;

enum name_rule {
	NAME_LITERAL, /* stays as it is */
	NAME_PATTERN, /* a thread's or process's, by its pattern */
	NAME_PATH,    /* a cgroup's, by its glob or its pattern */
};

struct axis_part {
	enum name_rule rule;
	/* A number below identities(). */
	uint32_t (*identity)(const struct snapshot *snapshot, uint32_t task);
	size_t (*identities)(const struct snapshot *snapshot);
	void (*append_name)(const struct snapshot *snapshot, uint32_t task, struct text *out);
};

#define AXIS_PARTS 3

struct axis {
	const char *name;
	const struct axis_part *parts[AXIS_PARTS]; /* NULL behind the last */
};

extern const struct axis axes[AXIS_COUNT];

#endif
