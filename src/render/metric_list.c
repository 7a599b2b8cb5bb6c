/* SPDX-License-Identifier: MIT */
#include "render/metric_list.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "metric/metric.h"
#include "metric/reading.h"
#include "render/scdoc.h"
#include "render/snapshot/snapshot_view.h"

#define LINE_WIDTH 100
#define HELP_INDENT 6

static const char *const section_titles[SECTION_COUNT] = {
	[SECTION_IDENTITY] = "Identity",
	[SECTION_SCHEDULING] = "Scheduling",
	[SECTION_IO] = "Input and output",
	[SECTION_MEMORY] = "Memory",
	[SECTION_DELAYS] = "Delays",
	[SECTION_HEAP] = "Heap",
	[SECTION_SCOPES] = "Scopes",
	[SECTION_WAITS] = "Waits",
	[SECTION_GPU] = "GPUs",
	[SECTION_CGROUPS] = "Cgroups",
	[SECTION_LIMITS] = "Limits of cgroups",
	[SECTION_MEMORY_STAT] = "Memory of cgroups (memory.stat)",
	[SECTION_MEMORY_EVENTS] = "Limits reached by cgroups (memory.events)",
	[SECTION_PRESSURE] = "Pressure",
	[SECTION_HOST] = "Host",
	[SECTION_HOST_USAGE] = "What the host did",
	[SECTION_HOST_DETAILS] = "What the host did, in detail",
};

static const char introduction[] =
	"A metric of a thread is folded over a group's threads, a metric of a process once "
	"for each process. Derived metrics are worked out after folding. Tags: [SCHEDSTATS] "
	"and the like name the kernel option (CONFIG_...) without which there is no value; "
	"[cfs-only] is counted for the fair scheduler's tasks alone, [non-ext] not for tasks "
	"of a sched_ext scheduler, [fair-policy] exists for normal and batch tasks. A value "
	"that was not measured is absent, never 0. Readings, from their patterns, are values "
	"under names that the kernel chose, of cgroups, of a process's memory, of the host: "
	"`show --sections` and JSON have them.";

static void append_joined(struct text *out, const struct formula *formula, unsigned count,
			  const char *joint)
{
	for (unsigned i = 0; i < count; i++)
		text_format(out, "%s%s", i ? joint : "", metrics[formula->inputs[i]].name);
}

static void append_formula(struct text *out, const struct formula *formula)
{
	const char *first = metrics[formula->inputs[0]].name;
	const char *second = metrics[formula->inputs[1]].name;

	switch (formula->kind) {
	case FORMULA_RATIO:
		text_format(out, "%s / %s", first, second);
		break;
	case FORMULA_SHARE:
		text_format(out, "%s / (%s + %s)", first, first, second);
		break;
	case FORMULA_DIFFERENCE:
		text_format(out, "%s - %s", first, second);
		break;
	case FORMULA_SUM:
		append_joined(out, formula, formula->count, " + ");
		break;
	case FORMULA_SUM_AND_LARGER:
		append_joined(out, formula, formula->count - 2, " + ");
		text_format(out, " + max(%s, %s)",
			    metrics[formula->inputs[formula->count - 2]].name,
			    metrics[formula->inputs[formula->count - 1]].name);
		break;
	}
}

/* Appends where a collector finds the value: "task stat 14", "bpf task nvcsw". */
static void append_source(struct text *out, const struct metric_source *source)
{
	text_append_string(out, metric_place_name(source->place));
	if (source->key)
		text_format(out, " %s", source->key);
	else if (source->field)
		text_format(out, " %u", source->field);
}

/* Appends all sources, or the formula. */
static void append_origin(struct text *out, const struct metric *metric)
{
	text_append_string(out, metric->kind == KIND_DERIVED ? "= " : "from ");
	if (metric->kind == KIND_DERIVED)
		append_formula(out, &metric->formula);
	for (size_t i = 0; i < METRIC_SOURCES && metric->sources[i].place; i++) {
		text_append_string(out, i ? ", " : "");
		append_source(out, &metric->sources[i]);
	}
}

/* Appends words in lines of at most `width` columns, each indented. */
static void append_wrapped(struct text *out, const char *words, size_t indent, size_t width)
{
	size_t column = 0;

	while (*words) {
		size_t length = strcspn(words, " ");

		if (column && column + 1 + length > width) {
			text_append_string(out, "\n");
			column = 0;
		}
		if (column == 0)
			text_format(out, "%*s", (int)indent, "");
		text_format(out, "%s%.*s", column ? " " : "", (int)length, words);
		column += length + (column ? 1 : indent);
		words += length + strspn(words + length, " ");
	}
	text_append_string(out, "\n");
}

static void append_metric(struct text *out, const struct metric *metric, size_t width)
{
	CLEANUP(text_free) struct text tags = { 0 };
	CLEANUP(text_free) struct text origin = { 0 };

	metric_tags(&tags, metric);
	append_origin(&origin, metric);
	text_format(out, "  %-30s  %-6s  %-8s  %-7s  ", metric->name,
		    metric_unit_name(metric->unit), metric_kind_name(metric->kind),
		    metric->kind == KIND_DERIVED ? "-" : metric_scope_name(metric->scope));
	text_format(out, tags.length ? "%-7s  %s\n" : "%s%s\n", metric_fold_name(metric->fold),
		    text_string(&tags));
	append_wrapped(out, metric->help, HELP_INDENT, width);
	append_wrapped(out, text_string(&origin), HELP_INDENT, width);
	out->failed |= tags.failed || origin.failed;
}

static void append_reading(struct text *out, const struct metric *reading, size_t width)
{
	text_format(out, "  %-30s  %-12s  %s\n", reading->name, metric_unit_name(reading->unit),
		    metric_kind_name(reading->kind));
	append_wrapped(out, reading->help, HELP_INDENT, width);
}

static int print_text(struct text *lines, FILE *out)
{
	if (lines->failed)
		return -ENOMEM;
	fwrite(text_string(lines), 1, lines->length, out);
	return 0;
}

int metric_list_text(FILE *out, size_t width)
{
	CLEANUP(text_free) struct text lines = { 0 };

	width = width && width < LINE_WIDTH ? width : LINE_WIDTH;
	append_wrapped(&lines, introduction, 0, width);
	for (int section = 0; section < SECTION_COUNT; section++) {
		if (section < SECTION_CGROUPS)
			text_format(&lines, "\n%-32s  %-6s  %-8s  %-7s  %-7s  %s\n",
				    section_titles[section], "unit", "kind", "scope", "fold",
				    "tags");
		else
			text_format(&lines, "\n%s\n", section_titles[section]);
		for (int id = 0; id < METRIC_COUNT; id++)
			if ((int)metrics[id].section == section)
				append_metric(&lines, &metrics[id], width);
		for (size_t row = 0; row < reading_count; row++)
			if ((int)readings[row].section == section)
				append_reading(&lines, &readings[row], width);
	}
	return print_text(&lines, out);
}

static const char *null_if_empty(const char *text)
{
	return text[0] ? text : NULL;
}

static void json_sources(struct json *json, const struct metric *metric)
{
	CLEANUP(text_free) struct text source = { 0 };

	json_member_array(json, "sources");
	for (size_t i = 0; i < METRIC_SOURCES && metric->sources[i].place; i++) {
		text_clear(&source);
		append_source(&source, &metric->sources[i]);
		json_string(json, text_string(&source));
	}
	json_end_array(json);
}

static void json_formula(struct json *json, const struct metric *metric)
{
	CLEANUP(text_free) struct text formula = { 0 };

	json_member_bool(json, "derived", metric->kind == KIND_DERIVED);
	json_member_array(json, "inputs");
	for (unsigned i = 0; i < metric->formula.count; i++)
		json_string(json, metrics[metric->formula.inputs[i]].name);
	json_end_array(json);
	if (metric->kind == KIND_DERIVED)
		append_formula(&formula, &metric->formula);
	json_member_text(json, "formula", null_if_empty(text_string(&formula)));
}

static void json_metric(struct json *json, const struct metric *metric)
{
	json_begin_object(json);
	json_member_string(json, "name", metric->name);
	json_member_string(json, "unit", metric_unit_name(metric->unit));
	json_member_string(json, "kind", metric_kind_name(metric->kind));
	json_member_string(json, "scope", metric_scope_name(metric->scope));
	json_member_string(json, "fold", metric_fold_name(metric->fold));
	json_member_string(json, "section", metric_section_name(metric->section));
	json_member_text(json, "gate", null_if_empty(metric_gate_name(metric->gate)));
	json_member_text(json, "class", null_if_empty(metric_class_name(metric->class)));
	json_sources(json, metric);
	json_formula(json, metric);
	json_member_string(json, "help", metric->help);
	json_end_object(json);
}

static void json_reading(struct json *json, const struct metric *reading)
{
	json_begin_object(json);
	json_member_string(json, "pattern", reading->name);
	json_member_string(json, "unit", metric_unit_name(reading->unit));
	json_member_string(json, "kind", metric_kind_name(reading->kind));
	json_member_string(json, "section", metric_section_name(reading->section));
	json_member_string(json, "help", reading->help);
	json_end_object(json);
}

void metric_list_json(FILE *out)
{
	struct json json = json_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "format", "taskscope-metrics");
	json_member_u64(&json, "version", 1);
	json_member_array(&json, "metrics");
	for (int id = 0; id < METRIC_COUNT; id++)
		json_metric(&json, &metrics[id]);
	json_end_array(&json);
	json_member_array(&json, "readings");
	for (size_t row = 0; row < reading_count; row++)
		json_reading(&json, &readings[row]);
	json_end_array(&json);
	json_end_object(&json);
}

static void append_man_reading(struct text *out, const struct metric *reading)
{
	text_append_string(out, "*");
	scdoc_append(out, reading->name);
	text_format(out, "* (%s, %s)\n\t", metric_unit_name(reading->unit),
		    metric_kind_name(reading->kind));
	scdoc_append(out, reading->help);
	text_append_string(out, "\n\n");
}

static void append_man_metric(struct text *out, const struct metric *metric)
{
	CLEANUP(text_free) struct text tags = { 0 };
	CLEANUP(text_free) struct text origin = { 0 };

	metric_tags(&tags, metric);
	append_origin(&origin, metric);
	text_append_string(out, "*");
	scdoc_append(out, metric->name);
	text_format(out, "* (%s, %s", metric_unit_name(metric->unit),
		    metric_kind_name(metric->kind));
	if (metric->kind != KIND_DERIVED)
		text_format(out, ", of a %s, %s", metric_scope_name(metric->scope),
			    metric_fold_name(metric->fold));
	text_append_string(out, tags.length ? ") " : ")");
	scdoc_append(out, text_string(&tags));
	text_append_string(out, "\n\t");
	scdoc_append(out, metric->help);
	text_append_string(out, " (");
	scdoc_append(out, text_string(&origin));
	text_append_string(out, ")\n\n");
	out->failed |= tags.failed || origin.failed;
}

static void append_upper(struct text *out, const char *words)
{
	for (; *words; words++) {
		char upper = *words >= 'a' && *words <= 'z' ? (char)(*words - 'a' + 'A') : *words;

		text_append(out, &upper, 1);
	}
}

int metric_list_man(FILE *out)
{
	CLEANUP(text_free) struct text lines = { 0 };

	text_append_string(&lines, "taskscope-metrics(7)\n\n# NAME\n\ntaskscope-metrics - what "
				   "taskscope measures\n\n# DESCRIPTION\n\n");
	scdoc_append(&lines, introduction);
	text_append_string(&lines, "\n\n");
	for (int section = 0; section < SECTION_COUNT; section++) {
		text_append_string(&lines, "# ");
		append_upper(&lines, section_titles[section]);
		text_append_string(&lines, "\n\n");
		for (int id = 0; id < METRIC_COUNT; id++)
			if ((int)metrics[id].section == section)
				append_man_metric(&lines, &metrics[id]);
		for (size_t row = 0; row < reading_count; row++)
			if ((int)readings[row].section == section)
				append_man_reading(&lines, &readings[row]);
	}
	text_append_string(&lines, "# SEE ALSO\n\n*taskscope*(1), *taskscope-show*(1)\n");
	return print_text(&lines, out);
}
