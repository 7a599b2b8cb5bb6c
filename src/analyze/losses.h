/* SPDX-License-Identifier: MIT */
/*
 * What a capture could not read or measure, and why.
 */
#ifndef ANALYZE_LOSSES_H
#define ANALYZE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/metric.h"

struct snapshot;
struct source_report;

struct losses {
	uint64_t read_failures;
	/* The source with most failures, of equal ones the first by name; NULL without any. */
	const struct source_report *dominant;
	bool kernel_config; /* schedstat or io files do not exist: a kernel built without them */
};

struct losses losses_of(const struct snapshot *snapshot);

/*
 * Whether a derived metric does without one of its inputs, which the snapshot's kernel
 * did not count for any task.
 */
bool input_is_spared(const struct snapshot *snapshot, const struct formula *formula,
		     unsigned input);

/*
 * Why cells of the metric are missing, and which metric lacks them: itself, or
 * for a derived one the first input that has a reason.  NULL when none has.
 */
const char *absence_reason(const struct snapshot *snapshot, enum metric_id id,
			   enum metric_id *ret_cause);

#endif
