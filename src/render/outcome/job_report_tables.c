/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"
#include "model/record/job/job_report.h"
#include "render/outcome/job_report_parts.h"
#include "render/record/record_table.h"
#include "render/style.h"
#include "render/table/table.h"

struct sections {
	FILE *out;
	const struct terminal *terminal;
	const struct job_report *report;
	size_t limit;
	bool was_empty; /* the section before: those without rows follow each other without a gap */
};

static void print_title(struct sections *to, const char *title, const char *nothing)
{
	bool colour = to->terminal->colour;

	fprintf(to->out, "%s%s%s%s%s%s\n", nothing && to->was_empty ? "" : "\n",
		style_on(colour, STYLE_HEADING), title, style_off(colour, STYLE_HEADING),
		nothing ? ": " : "", nothing ? nothing : "");
	to->was_empty = nothing != NULL;
}

static size_t least(size_t count, size_t limit)
{
	return limit && limit < count ? limit : count;
}

static int print_rows(const struct sections *to, const struct table *table, size_t hidden)
{
	int status = table->failed ? -ENOMEM : table_print(table, to->terminal, to->out);

	if (hidden)
		fprintf(to->out, "%zu more: -n 0\n", hidden);
	return status;
}

static void put_figure(struct table *table, const struct job_figures *figures, enum job_value value)
{
	if (!job_has(figures, value))
		put_absent(table, NULL);
	else if (job_values[value].unit == UNIT_LEVEL)
		put_real(table, figures->values[value]);
	else
		put_number(table, (uint64_t)figures->values[value]);
}

/* clang-format off */
static const struct table_column step_columns[] = {
	{ .title = "step", .alignment = TABLE_NAME },
	{ .title = "outcome" },
	{ .title = "took", .alignment = TABLE_RIGHT, .unit = UNIT_NS },
	{ .title = "peak memory", .alignment = TABLE_RIGHT, .unit = UNIT_BYTES },
	{ .title = "peak RSS", .alignment = TABLE_RIGHT, .unit = UNIT_BYTES },
	{ .title = "CPU time", .alignment = TABLE_RIGHT, .unit = UNIT_NS },
	{ .title = "peak CPU %", .alignment = TABLE_RIGHT, .unit = UNIT_LEVEL },
	{ .title = "processes", .alignment = TABLE_RIGHT, .priority = 1, .unit = UNIT_COUNT },
};

static const struct table_column syscall_columns[] = {
	{ .title = "call", .alignment = TABLE_NAME },
	{ .title = "share", .alignment = TABLE_RIGHT },
	{ .title = "time", .alignment = TABLE_RIGHT, .unit = UNIT_NS },
	{ .title = "calls", .alignment = TABLE_RIGHT, .unit = UNIT_COUNT },
	{ .title = "errors", .alignment = TABLE_RIGHT, .unit = UNIT_COUNT },
};

static const struct table_column what_columns[] = {
	{ .title = "after", .alignment = TABLE_RIGHT },
	{ .title = "step", .priority = 1 },
	{ .title = "event" },
	{ .title = "pid", .alignment = TABLE_RIGHT, .unit = UNIT_ID },
	{ .title = "program" },
	{ .title = "what", .alignment = TABLE_NAME },
};
/* clang-format on */

static int print_steps(struct sections *to)
{
	const struct job_report *report = to->report;
	CLEANUP(table_clear) struct table table = { 0 };
	size_t shown = least(report->steps.count, to->limit);
	CLEANUP(text_free) struct text title = { 0 };

	if (report->step)
		return 0;
	text_append_string(&title, "steps");
	if (report->job.steps)
		text_format(&title, " (%" PRIu64 " were announced)", report->job.steps);
	print_title(to, text_string(&title), report->steps.count ? NULL : "none were marked");
	if (report->steps.count == 0)
		return 0;
	table_add_columns(&table, step_columns, ARRAY_SIZE(step_columns));
	for (size_t i = 0; i < shown; i++) {
		const struct job_step *step = &report->steps.data[i];

		put_string(&table, step->name);
		put_string(&table, job_outcome_names[step->outcome]);
		put_known(&table, step->duration_ns, step->duration_ns);
		put_figure(&table, &step->figures, JOB_peak_memory_bytes);
		put_figure(&table, &step->figures, JOB_peak_rss_bytes);
		put_figure(&table, &step->figures, JOB_run_time_ns);
		put_figure(&table, &step->figures, JOB_peak_cpu_percent);
		put_figure(&table, &step->figures, JOB_processes);
	}
	return print_rows(to, &table, report->steps.count - shown);
}

static int print_syscalls(struct sections *to)
{
	const struct job_report *report = to->report;
	CLEANUP(table_clear) struct table table = { 0 };
	size_t count = report->syscalls.count, shown = least(count, to->limit);
	double all_ns = 0;

	print_title(to, "system calls",
		    count ? NULL : "no data; BPF counts them for `run --job`, `record --syscalls`");
	if (count == 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		all_ns += (double)report->syscalls.data[i].time_ns;
	table_add_columns(&table, syscall_columns, ARRAY_SIZE(syscall_columns));
	for (size_t i = 0; i < shown; i++) {
		const struct job_syscall *syscall = &report->syscalls.data[i];

		put_string(&table, syscall->name);
		put_share(&table, (double)syscall->time_ns, all_ns);
		put_number(&table, syscall->time_ns);
		put_number(&table, syscall->calls);
		put_number(&table, syscall->errors);
	}
	return print_rows(to, &table, count - shown);
}

#define KIND(id) (1u << JOB_EVENT_##id)

/* Events by what they are about; `figure` says whether they were looked for. */
static const struct event_section {
	const char *title;
	unsigned kinds;
	int figure; /* -1: there is none */
	const char *absent;
} event_sections[] = {
	{ "signals and kills", KIND(SIGNAL) | KIND(KILL), JOB_signals, "no data" },
	{ "OOM kills", KIND(OOM), JOB_ooms, "no data" },
	{ "anomalies", KIND(ANOMALY), JOB_anomalies, "no data; only a recorder looks for them" },
	{ "failed exits", KIND(EXIT), JOB_failed_exits, "no data" },
	{ "files", KIND(FILE_CREATED) | KIND(FILE_CHANGED) | KIND(FILE_DELETED), -1, NULL },
	{ "marks", KIND(START) | KIND(STEP) | KIND(END) | KIND(LOST), -1, NULL },
};

static void put_job_event(struct table *table, const struct job_report *report,
			  const struct job_event *event)
{
	uint64_t begin_ns = report->job.begin_unix_ns;

	if (event->unix_ns >= begin_ns)
		unit_format(put_begin(table), UNIT_NS, event->unix_ns - begin_ns);
	else
		record_append_time(put_begin(table), event->unix_ns);
	put_end(table);
	put_string(table, event->step);
	put_string(table, job_event_names[event->kind]);
	put_known(table, event->task.pid, (uint64_t)event->task.pid);
	put_string(table, event->comm);
	if (event->count > 1)
		text_format(put_begin(table), "%" PRIu64 " %s", event->count,
			    event->details ? event->details : "times");
	else
		text_append_string(put_begin(table), event->details ? event->details : "");
	put_end(table);
}

/* Counts may come from who does not note when things happen. */
static void append_nothing(struct text *out, const struct event_section *section,
			   const struct job_report *report)
{
	const struct job_figures *figures = job_report_figures(report);
	enum job_value value = (enum job_value)section->figure;

	if (section->kinds & KIND(FILE_CREATED) && !report->job.watched)
		text_append_string(out, "no data; `job start --watch DIR` notes them");
	else if (section->kinds & KIND(FILE_CREATED) &&
		 !job_has(&report->job.figures, JOB_anomalies))
		text_append_string(out, "no data; only a recorder watches directories");
	else if (section->figure < 0)
		text_append_string(out, "none");
	else if (!job_has(figures, value))
		text_append_string(out, section->absent);
	else if (figures->values[value] > 0)
		text_format(out, "%.0f, but nobody noted when; a recorder does",
			    figures->values[value]);
	else
		text_append_string(out, "none");
}

static int print_section(struct sections *to, const struct event_section *section)
{
	const struct job_report *report = to->report;
	CLEANUP(table_clear) struct table table = { 0 };
	CLEANUP(text_free) struct text nothing = { 0 };
	size_t count = 0, shown;

	for (size_t i = 0; i < report->events.count; i++)
		count += section->kinds >> report->events.data[i].kind & 1;
	append_nothing(&nothing, section, report);
	print_title(to, section->title, count ? NULL : text_string(&nothing));
	if (count == 0)
		return 0;
	shown = least(count, to->limit);
	table_add_columns(&table, what_columns, ARRAY_SIZE(what_columns));
	for (size_t i = 0; i < report->events.count && shown; i++) {
		const struct job_event *event = &report->events.data[i];

		if (!(section->kinds >> event->kind & 1))
			continue;
		put_job_event(&table, report, event);
		shown--;
	}
	return print_rows(to, &table, count - least(count, to->limit));
}

int job_report_tables(FILE *out, const struct terminal *terminal, const struct job_report *report,
		      size_t limit)
{
	struct sections to = { out, terminal, report, limit, false };
	int status = print_steps(&to);

	if (status == 0)
		status = print_syscalls(&to);
	for (size_t i = 0; i < ARRAY_SIZE(event_sections) && status == 0; i++)
		status = print_section(&to, &event_sections[i]);
	print_title(&to, "whole run",
		    report->has_run ? "kept; -v shows its report, -o x.html makes a page of it" :
				      "none; `run --job` keeps one as long as there is room");
	return status;
}
