/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_parts.h"

#include <string.h>

#include "analyze/verdict/losses.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "render/compare/compare_view.h"

/* Names in a line; JSON lists all. */
#define NAMES_MAX 8

struct absence {
	const struct metric *metric;
	const char *reason;
	bool is_printed;
};

struct absences {
	ARRAY_OF(struct absence) items;
};

static void absences_free(struct absences *absences)
{
	array_free(&absences->items);
}

static bool has_metric(const struct absences *absences, const struct metric *metric)
{
	for (size_t i = 0; i < absences->items.count; i++)
		if (absences->items.data[i].metric == metric)
			return true;
	return false;
}

static void add_absence(struct absences *absences, const struct metric *metric, const char *reason,
			struct text *out)
{
	struct absence absence = { metric, reason ? reason : "no reason is known", false };

	if (array_append(&absences->items, absence) < 0)
		out->failed = true;
}

static void add_row(struct absences *absences, const struct comparison_row *row, struct text *out)
{
	if (has_metric(absences, row->metric))
		return;
	add_absence(absences, row->metric, row->reason, out);
}

/* Appends the names that a reason concerns, the first few in full. */
static void append_names(struct text *out, struct absence *first, const struct absence *end)
{
	const char *reason = first->reason;
	size_t count = 0;

	for (struct absence *absence = first; absence < end; absence++) {
		if (strcmp(absence->reason, reason) != 0)
			continue;
		absence->is_printed = true;
		if (count++ >= NAMES_MAX)
			continue;
		text_append_string(out, count > 1 ? ", " : ": ");
		text_append_escaped(out, absence->metric->name, strlen(absence->metric->name));
	}
	if (count > NAMES_MAX)
		text_format(out, " and %zu more", count - NAMES_MAX);
}

static void append_lines(struct text *out, struct absences *absences, const char *what)
{
	size_t count = absences->items.count;

	for (size_t i = 0; i < count; i++) {
		struct absence *first = &absences->items.data[i];

		if (first->is_printed)
			continue;
		text_append_string(out, what);
		append_names(out, first, absences->items.data + count);
		text_append_string(out, ": ");
		text_append_escaped(out, first->reason, strlen(first->reason));
		text_append_string(out, "\n");
	}
}

/* Whether at least one side has the metric; otherwise gives the reason. */
static bool is_measured(const struct compared_files *files, enum metric_id id,
			const char **ret_reason)
{
	for (size_t i = 0; i < files->count; i++) {
		enum metric_id cause;

		if (snapshot_measured(files->snapshots[i], id))
			return true;
		if (!*ret_reason)
			*ret_reason = absence_reason(files->snapshots[i], id, &cause);
	}
	return false;
}

static void append_unmeasured(const struct compare_view *view, struct text *out)
{
	CLEANUP(absences_free) struct absences absences = { 0 };

	for (size_t i = 0; i < view->metrics.count; i++) {
		enum metric_id id = view->metrics.ids[i];
		const char *reason = NULL;

		if (metric_is_derived(id) || is_measured(&view->before, id, &reason) ||
		    is_measured(&view->after, id, &reason))
			continue;
		if (reason)
			add_absence(&absences, &metrics[id], reason, out);
	}
	if (view->is_verbose || !view->metrics.is_everything)
		append_lines(out, &absences, "measured on no side");
	else if (absences.items.count)
		text_format(out, "%zu metric%s measured on no side (-v says why)\n",
			    absences.items.count, absences.items.count == 1 ? " was" : "s were");
}

void compare_absence_append(const struct compare_view *view, struct text *out)
{
	CLEANUP(absences_free) struct absences absences = { 0 };
	const struct comparison *comparison = view->comparison;
	size_t shown[COMPARE_SECTION_COUNT] = { 0 };

	for (size_t i = 0; i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];
		bool has_side =
			row->before.shape != VALUE_ABSENT || row->after.shape != VALUE_ABSENT;

		if (view->limit && shown[row->section]++ >= view->limit && !view->is_verbose)
			continue;
		if (row->state == ROW_ABSENT && (has_side || metric_is_reading(row->metric)))
			add_row(&absences, row, out);
	}
	append_lines(out, &absences, "absent");
	append_unmeasured(view, out);
}
