/*
 * What each grouping axis looks at: one row of a table for each.
 *
 * Tasks with the same identity on an axis have the same name on it; a name is
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

struct axis {
	const char *name;
	/* A number below identities(). */
	uint32_t (*identity)(const struct snapshot *snapshot, uint32_t task);
	size_t (*identities)(const struct snapshot *snapshot);
	void (*append_name)(const struct snapshot *snapshot, uint32_t task, struct text *out);
	void (*pattern)(const char *name, struct text *out); /* NULL: the name is the key */
	bool single_stays; /* a name alone with its pattern is its own key */
};

extern const struct axis axes[AXIS_COUNT];

/*
 * Appends the key of a name: what its pattern, or the name itself, is called
 * among all names that the census has seen.  0 or -ENOMEM.
 */
int census_append_key(struct census *census, const char *name, struct text *out);

#endif
