/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "analyze/group/group.h"
#include "analyze/group/selection.h"
#include "analyze/verdict/losses.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "render/snapshot/capture_note.h"
#include "render/value.h"

/* Appends to a line, with a separator if the line is not empty. */
static void append_fact(struct text *line, const struct snapshot *snapshot, enum fact_id id,
			const char *between)
{
	const struct fact *fact = &snapshot->facts[id];

	if (!fact->present || !fact->text)
		return;
	text_append_string(line, line->length ? between : "");
	text_append_escaped(line, fact->text, strlen(fact->text));
}

static void append_time(struct text *line, const struct fact *captured)
{
	if (!captured->present)
		return;
	text_append_string(line, line->length ? ", " : "");
	moment_text(line, captured->number);
}

/* Appends what was captured, where and when; the losses are at the end of the note. */
static void append_capture(struct text *out, const struct snapshot *snapshot)
{
	CLEANUP(text_free) struct text line = { 0 };
	CLEANUP(text_free) struct text note = { 0 };

	capture_note(snapshot, &note);
	append_fact(&line, snapshot, FACT_kernel_name, "");
	append_fact(&line, snapshot, FACT_kernel_release, " ");
	append_fact(&line, snapshot, FACT_arch, " ");
	append_fact(&line, snapshot, FACT_online_cpus, ", cpus ");
	append_time(&line, &snapshot->facts[FACT_captured_at_unix_ns]);
	append_fact(&line, snapshot, FACT_filter, ", only ");
	text_append_string(&line, line.length ? ": " : "");
	text_append(out, text_string(&line), line.length);
	text_append_escaped(out, text_string(&note), note.length);
	text_append_string(out, "\n");
}

/* Why, and for how many tasks, a shown metric has no value. */
struct absence {
	const char *reason; /* NULL when no value is missing */
	enum metric_scope scope;
	size_t missing, rows;
};

/* Counts the cells of the groups that are shown; a process is in the group of its first task. */
static void count_shown(const struct footer_scope *scope, enum metric_id id, struct absence *ret)
{
	const struct snapshot *snapshot = scope->grouping->snapshot;
	uint64_t value;

	for (size_t i = 0; i < scope->groups; i++) {
		const struct group *group = &scope->grouping->groups[i];

		for (uint32_t task = 0; task < group->tasks; task++) {
			uint32_t row = scope->grouping->rows[group->first + task];
			uint32_t process = snapshot->tasks[row].process;

			if (ret->scope == METRIC_OF_PROCESS &&
			    snapshot->processes[process].first_task != row)
				continue;
			ret->rows++;
			ret->missing += !snapshot_get(
				snapshot, id, ret->scope == METRIC_OF_PROCESS ? process : row,
				&value);
		}
	}
}

static struct absence absence_of(const struct snapshot *snapshot, enum metric_id id,
				 const struct footer_scope *scope)
{
	struct absence absence = { 0 };
	enum metric_id cause = id;
	const char *reason = absence_reason(snapshot, id, &cause);

	if (!reason)
		return absence;
	absence.scope = metrics[cause].scope;
	if (!scope->is_verbose) {
		count_shown(scope, cause, &absence);
	} else {
		absence.rows = snapshot_rows(snapshot, cause);
		absence.missing = absence.rows - snapshot_measured(snapshot, cause);
	}
	absence.reason = absence.missing ? reason : NULL;
	return absence;
}

static bool is_same(const struct absence *a, const struct absence *b)
{
	return a->reason && b->reason && a->missing == b->missing && a->scope == b->scope &&
	       strcmp(a->reason, b->reason) == 0;
}

static void append_absence(struct text *out, const struct absence *absence)
{
	text_append_string(out, "absent");
	if (absence->missing < absence->rows)
		text_format(out, " for %zu of %zu %s", absence->missing, absence->rows,
			    absence->scope == METRIC_OF_THREAD ? "threads" : "processes");
}

static void append_reason(struct text *out, const char *reason)
{
	text_append_string(out, ": ");
	text_append_escaped(out, reason, strlen(reason));
	text_append_string(out, "\n");
}

/* Appends a line for each distinct absence, with all shown metrics that it concerns. */
static void append_absences(struct text *out, const struct absence *absences,
			    const struct selection *shown)
{
	for (size_t i = 0; i < shown->count; i++) {
		const char *before = ": ";
		size_t first = 0;

		while (first < i && !is_same(&absences[first], &absences[i]))
			first++;
		if (!absences[i].reason || first < i)
			continue;
		append_absence(out, &absences[i]);
		for (size_t other = i; other < shown->count; other++) {
			if (!is_same(&absences[i], &absences[other]))
				continue;
			text_format(out, "%s%s", before, metrics[shown->ids[other]].name);
			before = ", ";
		}
		append_reason(out, absences[i].reason);
	}
}

/* Whether an absence has already given the reason, perhaps with more after a semicolon. */
static bool is_given(const struct absence *absences, size_t count, const char *reason)
{
	size_t length = strlen(reason);

	for (size_t i = 0; i < count; i++) {
		const char *given = absences[i].reason;

		if (given && strncmp(given, reason, length) == 0 &&
		    (given[length] == '\0' || given[length] == ';'))
			return true;
	}
	return false;
}

static bool is_failing(enum source_state state)
{
	return state == SOURCE_PARTIAL || state == SOURCE_UNAVAILABLE || state == SOURCE_MISSING;
}

/* Sources that provide only readings, and the sections that contain them. */
static const struct {
	const char *name;
	uint32_t sections;
} reading_sources[] = {
	{ "cgroup_files", 1u << SECTION_CGROUPS | 1u << SECTION_LIMITS | 1u << SECTION_MEMORY_STAT |
				  1u << SECTION_MEMORY_EVENTS | 1u << SECTION_PRESSURE },
	{ "pressure", 1u << SECTION_PRESSURE },
	{ "sched_ext", 1u << SECTION_HOST },
	{ "host_context", 1u << SECTION_HOST },
	{ "gpu", 1u << SECTION_GPU },
	{ "host_figures", 1u << SECTION_HOST_USAGE | 1u << SECTION_HOST_DETAILS },
};

static bool concerns(const struct source_report *source, uint32_t sections)
{
	for (size_t i = 0; i < ARRAY_SIZE(reading_sources); i++)
		if (strcmp(reading_sources[i].name, source->name) == 0)
			return reading_sources[i].sections & sections;
	return true;
}

/*
 * Appends the sources that failed, except those whose reason an absence has
 * already given.  What they would provide is not shown, so they are only
 * counted unless everything is wanted.
 */
static void append_sources(struct text *out, const struct snapshot *snapshot,
			   const struct footer_scope *scope, const struct absence *absences,
			   size_t count)
{
	size_t folded = 0;

	for (size_t i = 0; i < snapshot->source_count; i++) {
		const struct source_report *source = &snapshot->sources[i];
		const char *reason = source->reason ? source->reason : "no reason is known";

		if (!is_failing(source->state) || !concerns(source, scope->sections) ||
		    is_given(absences, count, reason))
			continue;
		if (!scope->is_verbose && !scope->sections) {
			folded++;
			continue;
		}
		text_append_string(out, "source ");
		text_append_escaped(out, source->name, strlen(source->name));
		text_format(out, " is %s", source_state_name(source->state));
		append_reason(out, reason);
	}
	if (folded)
		text_format(out,
			    "%zu source%s of other metrics did not read everything (-v says why)\n",
			    folded, folded == 1 ? "" : "s");
}

/* Says why a group of a run has no name; the reason for an unknown user is that of the metric. */
static void append_nameless(struct text *out, const struct snapshot *snapshot,
			    const struct footer_scope *scope)
{
	enum group_axis axis = scope->grouping->axis;
	const char *user = snapshot->columns[METRIC_uid].absent;

	for (size_t i = 0; snapshot_is_run(snapshot) && i < scope->groups; i++) {
		if (scope->grouping->groups[i].key[0])
			continue;
		text_format(out, "(none): the %s is not known: ", group_axis_name(axis));
		text_append_string(out, axis == AXIS_USER && user ?
						user :
						"run and attach do not record it for each task");
		text_append_string(out, "\n");
	}
}

static bool is_left_out(const struct source_report *source)
{
	return source->state == SOURCE_OFF && source->reason &&
	       strstr(source->reason, "--without") != NULL;
}

/* What the user chose not to read explains gaps for which no reason is kept. */
static void append_left_out(struct text *out, const struct snapshot *snapshot)
{
	const char *before = "left out by --without: ";

	for (size_t i = 0; i < snapshot->source_count; i++) {
		const struct source_report *source = &snapshot->sources[i];

		if (!is_left_out(source))
			continue;
		text_append_string(out, before);
		text_append_escaped(out, source->name, strlen(source->name));
		before = ", ";
	}
	if (before[0] == ',')
		text_append_string(out, "\n");
}

void capture_absences(const struct snapshot *snapshot, const struct selection *selected,
		      struct text *out)
{
	const struct footer_scope everything = { .is_verbose = true };
	struct absence absences[METRIC_COUNT];

	for (size_t i = 0; i < selected->count; i++)
		absences[i] = absence_of(snapshot, selected->ids[i], &everything);
	append_absences(out, absences, selected);
}

void capture_footer(const struct snapshot *snapshot, const struct selection *shown,
		    const struct footer_scope *scope, struct text *out)
{
	struct absence absences[METRIC_COUNT];

	for (size_t i = 0; i < shown->count; i++)
		absences[i] = absence_of(snapshot, shown->ids[i], scope);
	append_capture(out, snapshot);
	if (snapshot->filter.text) {
		filter_note(&snapshot->filter, out);
		text_append_string(out, "\n");
	}
	append_absences(out, absences, shown);
	append_nameless(out, snapshot, scope);
	append_sources(out, snapshot, scope, absences, shown->count);
	append_left_out(out, snapshot);
}
