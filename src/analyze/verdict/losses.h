/* SPDX-License-Identifier: MIT */
/*
 * What a capture could not read or measure, and why.
 */
#ifndef ANALYZE_LOSSES_H
#define ANALYZE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/group/selection.h"

struct snapshot;
struct source_report;

struct losses {
	uint64_t read_failures;
	/*
	 * The source with the most failures; among equals the first by name;
	 * NULL without failures.
	 */
	const struct source_report *dominant;
	bool kernel_config; /* schedstat or io files do not exist: a kernel built without them */
};

struct losses losses_of(const struct snapshot *snapshot);

/*
 * Whether a derived metric does without one of its inputs, because the
 * snapshot's kernel did not count it for any task.
 */
bool input_is_spared(const struct snapshot *snapshot, const struct formula *formula,
		     unsigned input);

#define ABSENT_UNTRACED "only run and attach follow what a thread waits for"

/*
 * Why cells of the metric are missing, and which metric lacks them: itself, or
 * for a derived one the first input that has a reason.  NULL when none has.
 */
const char *absence_reason(const struct snapshot *snapshot, enum metric_id id,
			   enum metric_id *ret_cause);

/*
 * Drops metrics from a selection of everything that only following a tree
 * provides and that no snapshot has: a user who did not name them need not read
 * that they are absent.
 */
void selection_drop_untraced(struct selection *selection, const struct snapshot *const *snapshots,
			     size_t count);

#endif
