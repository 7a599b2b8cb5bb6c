/* SPDX-License-Identifier: MIT */
#include "render/capture_footer.h"

#include <string.h>

#include "analyze/losses.h"
#include "analyze/selection.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "model/snapshot.h"
#include "render/capture_note.h"
#include "render/value.h"

/* Adds to a line; what would stand between comes only after something. */
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

/* What was captured, where and when; the losses are at the end of the note. */
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

/* Why, and for how many, a shown metric has no value. */
struct absence {
	const char *reason; /* NULL when no value is missing */
	enum metric_scope scope;
	size_t missing, rows;
};

static struct absence absence_of(const struct snapshot *snapshot, enum metric_id id)
{
	struct absence absence = { 0 };
	enum metric_id cause = id;
	const char *reason = absence_reason(snapshot, id, &cause);

	if (!reason)
		return absence;
	absence.scope = metrics[cause].scope;
	absence.rows = snapshot_rows(snapshot, cause);
	absence.missing = absence.rows - snapshot_measured(snapshot, cause);
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
			    absence->scope == SCOPE_THREAD ? "threads" : "processes");
}

static void append_reason(struct text *out, const char *reason)
{
	text_append_string(out, ": ");
	text_append_escaped(out, reason, strlen(reason));
	text_append_string(out, "\n");
}

/* One line for each distinct absence, with all shown metrics that it concerns. */
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

/* Whether an absence has told the reason, perhaps with more after a semicolon. */
static bool is_told(const struct absence *absences, size_t count, const char *reason)
{
	size_t length = strlen(reason);

	for (size_t i = 0; i < count; i++) {
		const char *told = absences[i].reason;

		if (told && strncmp(told, reason, length) == 0 &&
		    (told[length] == '\0' || told[length] == ';'))
			return true;
	}
	return false;
}

static bool is_failing(enum source_state state)
{
	return state == SOURCE_PARTIAL || state == SOURCE_UNAVAILABLE || state == SOURCE_MISSING;
}

/* Sources that give readings alone, and the sections that have these. */
static const struct {
	const char *name;
	uint32_t sections;
} reading_sources[] = {
	{ "cgroup_files", 1u << SECTION_CGROUPS | 1u << SECTION_LIMITS | 1u << SECTION_MEMORY_STAT |
				  1u << SECTION_MEMORY_EVENTS | 1u << SECTION_PRESSURE },
	{ "pressure", 1u << SECTION_PRESSURE },
	{ "sched_ext", 1u << SECTION_HOST },
	{ "host_context", 1u << SECTION_HOST },
};

static bool concerns(const struct source_report *source, uint32_t sections)
{
	for (size_t i = 0; i < ARRAY_SIZE(reading_sources); i++)
		if (strcmp(reading_sources[i].name, source->name) == 0)
			return reading_sources[i].sections & sections;
	return true;
}

/* Sources that did not do their work, but for those whose reason an absence has told. */
static void append_sources(struct text *out, const struct snapshot *snapshot, uint32_t sections,
			   const struct absence *absences, size_t count)
{
	for (size_t i = 0; i < snapshot->source_count; i++) {
		const struct source_report *source = &snapshot->sources[i];
		const char *reason = source->reason ? source->reason : "no reason is known";

		if (!is_failing(source->state) || !concerns(source, sections) ||
		    is_told(absences, count, reason))
			continue;
		text_append_string(out, "source ");
		text_append_escaped(out, source->name, strlen(source->name));
		text_format(out, " is %s", source_state_name(source->state));
		append_reason(out, reason);
	}
}

static bool is_left_out(const struct source_report *source)
{
	return source->state == SOURCE_OFF && source->reason &&
	       strstr(source->reason, "--without") != NULL;
}

/* What somebody chose not to read explains gaps that no reason is kept for. */
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
	struct absence absences[METRIC_COUNT];

	for (size_t i = 0; i < selected->count; i++)
		absences[i] = absence_of(snapshot, selected->ids[i]);
	append_absences(out, absences, selected);
}

void capture_footer(const struct snapshot *snapshot, const struct selection *shown,
		    uint32_t sections, struct text *out)
{
	struct absence absences[METRIC_COUNT];

	for (size_t i = 0; i < shown->count; i++)
		absences[i] = absence_of(snapshot, shown->ids[i]);
	append_capture(out, snapshot);
	append_absences(out, absences, shown);
	append_sources(out, snapshot, sections, absences, shown->count);
	append_left_out(out, snapshot);
}
