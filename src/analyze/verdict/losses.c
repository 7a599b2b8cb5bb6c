/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/losses.h"

#include <stddef.h>
#include <string.h>

#include "model/snapshot/snapshot.h"

static bool dominates(const struct source_report *source, const struct source_report *other)
{
	if (!other || source->failed != other->failed)
		return !other || source->failed > other->failed;
	return strcmp(source->name, other->name) < 0;
}

/* Whether the source's files do not exist, for any task, on a kernel built without an option. */
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

static const char *stored_absence(const struct snapshot *snapshot, enum metric_id id)
{
	return metric_is_only_traced(id) && !snapshot->columns[id].absent &&
			       !snapshot->columns[id].values ?
		       ABSENT_UNTRACED :
		       snapshot->columns[id].absent;
}

const char *absence_reason(const struct snapshot *snapshot, enum metric_id id,
			   enum metric_id *ret_cause)
{
	const struct formula *formula = &metrics[id].formula;

	if (!metric_is_derived(id)) {
		*ret_cause = id;
		return stored_absence(snapshot, id);
	}
	for (unsigned i = 0; i < formula->count; i++) {
		const char *reason = stored_absence(snapshot, formula->inputs[i]);

		*ret_cause = formula->inputs[i];
		if (reason && !input_is_spared(snapshot, formula, i))
			return reason;
	}
	return NULL;
}

static bool is_untraced(const struct snapshot *const *snapshots, size_t count, enum metric_id id)
{
	for (size_t i = 0; i < count; i++) {
		enum metric_id cause;
		const char *reason = absence_reason(snapshots[i], id, &cause);

		if (!reason || strcmp(reason, ABSENT_UNTRACED) != 0)
			return false;
	}
	return true;
}

void selection_drop_untraced(struct selection *selection, const struct snapshot *const *snapshots,
			     size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; selection->is_everything && i < selection->count; i++)
		if (!is_untraced(snapshots, count, selection->ids[i]))
			selection->ids[kept++] = selection->ids[i];
	if (selection->is_everything)
		selection->count = kept;
}
