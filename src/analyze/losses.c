/* SPDX-License-Identifier: MIT */
#include "analyze/losses.h"

#include <stddef.h>
#include <string.h>

#include "model/snapshot.h"

static bool dominates(const struct source_report *source, const struct source_report *other)
{
	if (!other || source->failed != other->failed)
		return !other || source->failed > other->failed;
	return strcmp(source->name, other->name) < 0;
}

/* Files that a kernel built without an option lacks for every task. */
static bool needs_kernel_option(const char *name)
{
	return strcmp(name, "schedstat") == 0 || strcmp(name, "io") == 0;
}

struct losses losses_of(const struct snapshot *snapshot)
{
	struct losses losses = { 0 };

	for (size_t i = 0; i < snapshot->source_count; i++) {
		const struct source_report *source = &snapshot->sources[i];

		losses.kernel_config |=
			source->state == SOURCE_MISSING && needs_kernel_option(source->name);
		losses.read_failures += source->failed;
		if (source->failed && dominates(source, losses.dominant))
			losses.dominant = source;
	}
	return losses;
}

bool input_is_spared(const struct snapshot *snapshot, const struct formula *formula, unsigned input)
{
	return !snapshot->columns[formula->inputs[input]].values && formula_spares(formula, input);
}

const char *absence_reason(const struct snapshot *snapshot, enum metric_id id,
			   enum metric_id *ret_cause)
{
	const struct formula *formula = &metrics[id].formula;

	if (!metric_is_derived(id)) {
		*ret_cause = id;
		return snapshot->absent[id];
	}
	for (unsigned i = 0; i < formula->count; i++) {
		*ret_cause = formula->inputs[i];
		if (!input_is_spared(snapshot, formula, i) && snapshot->absent[formula->inputs[i]])
			return snapshot->absent[formula->inputs[i]];
	}
	return NULL;
}
