/* SPDX-License-Identifier: MIT */
/* The header: when and what is shown, and the host as a whole. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "render/record/record_table.h"
#include "tui/moment/moment_jobs.h"
#include "tui/screen/top_state.h"

#define HEADER_ROWS 5
#define BAR_WIDTH 10
#define PRESSURE_WIDTH 3
#define TITLE_LEAST 10
#define NARROW 60 /* the date, the uptime and bars give way to the time and figures */

/* On a low screen the table is what counts. */
int top_header_rows(const struct top *top)
{
	int rows = display_rows();
	bool has_news = top->moment.anomalies.count || moment_running_jobs(&top->moment);
	int wanted = has_news ? HEADER_ROWS : HEADER_ROWS - 1;

	return rows >= 16 ? wanted : rows >= 10 ? 3 : 1;
}

static bool value_of(const struct top *top, enum host_value value, double *ret)
{
	const struct host_sample *sample = &top->moment.sample;

	*ret = sample->values[value];
	return host_sample_has(sample, value);
}

static void append_state(const struct top *top, struct text *line)
{
	const struct moment_source_kind *kind = top->options->source->kind;

	if (kind->is_live)
		text_append_string(line, top->is_paused ? "  PAUSED" : "  live");
	else if (kind->can_move)
		text_append_string(line, top->is_paused ? "  recording" : "  playing");
	if (kind->can_move && top->moment.tasks->interval_ns && display_columns() >= NARROW) {
		text_append_string(line, "  over ");
		unit_format(line, UNIT_NS, top->moment.tasks->interval_ns);
	}
	if (top->moment.asked_unix_ns)
		text_append_string(line, "  between ticks");
	if (top->moment.tasks && top->moment.tasks->facts[FACT_resolution].present)
		text_append_string(line, "  a minute");
	if (top->moment.recorder_is_gone)
		text_append_string(line, "  recorder stopped");
	if (top->follows)
		text_append_string(line, "  following");
	if (kind->is_live && top->own_percent >= 0)
		text_format(line, "  self %.1f %%", top->own_percent);
}

/* The end of a path says which file it is, and leaves room for the time. */
static void append_title(const struct top *top, struct text *line)
{
	CLEANUP(text_free) struct text title = { 0 };
	size_t third = (size_t)display_columns() / 3,
	       most = third > TITLE_LEAST ? third : TITLE_LEAST;

	text_append_escaped(&title, top->options->title, strlen(top->options->title));
	text_append_cut_at(line, text_string(&title), most, most / 4);
	text_append_string(line, "  ");
}

static void paint_first(const struct top *top, int row)
{
	CLEANUP(text_free) struct text line = { 0 };
	const struct fact *uptime = &top->moment.read->facts[FACT_boottime_ns];
	bool is_narrow = display_columns() < NARROW;

	append_title(top, &line);
	if (is_narrow)
		top_append_time_of_day(&line, top->moment.sample.unix_ns);
	else
		record_append_time(&line, top->moment.sample.unix_ns);
	if (uptime->present && !is_narrow) {
		text_append_string(&line, "  up ");
		unit_format(&line, UNIT_NS, uptime->number / NS_PER_SECOND * NS_PER_SECOND);
	}
	append_state(top, &line);
	display_put(row, 0, display_columns(), STYLE_HEADING, false, text_string(&line));
}

/* "[|||||     ] " */
static int paint_bar(int row, int column, int width, double share)
{
	enum style style = share >= 0.9 ? STYLE_BAD : share >= 0.6 ? STYLE_WARNING : STYLE_GOOD;
	int filled = (int)(share * width + 0.5), columns = display_columns(), begin = column;
	char bar[BAR_WIDTH + 1];

	for (int i = 0; i < width; i++)
		bar[i] = i < filled ? '|' : ' ';
	bar[width] = '\0';
	column += display_put(row, column, columns, STYLE_PLAIN, false, "[");
	column += display_put(row, column, columns, style, false, bar);
	column += display_put(row, column, columns, STYLE_PLAIN, false, "] ");
	return column - begin;
}

/* "CPU [|||||     ] 45.1 %": readable without colour; "-" where it is not known.  Figures say more than bars. */
static int paint_share(int row, int column, int width, const char *name, bool is_known,
		       double share, const char *amount)
{
	int columns = display_columns();

	column += display_put(row, column, columns, STYLE_PLAIN, false, name);
	if (columns >= NARROW)
		column += paint_bar(row, column, width, is_known ? share : 0);
	column += display_put(row, column, columns, STYLE_PLAIN, false, is_known ? amount : "-");
	return column + 2;
}

static int paint_used(int row, int column, const char *name, bool is_known, double used,
		      double total)
{
	CLEANUP(text_free) struct text amount = { 0 };

	unit_format_real(&amount, UNIT_BYTES, used);
	text_append_string(&amount, " of ");
	unit_format_real(&amount, UNIT_BYTES, total);
	return paint_share(row, column, BAR_WIDTH, name, is_known, total > 0 ? used / total : 0,
			   text_string(&amount));
}

static void paint_bars(const struct top *top, int row)
{
	const struct fact *swap = &top->moment.read->facts[FACT_swap_total_bytes];
	double busy, used, total, swapped;
	bool has_cpu = value_of(top, HOST_VALUE_cpu_busy_percent, &busy);
	bool has_used = value_of(top, HOST_VALUE_memory_used_bytes, &used);
	bool has_total = value_of(top, HOST_VALUE_memory_total_bytes, &total);
	bool has_swap = value_of(top, HOST_VALUE_swap_used_bytes, &swapped) && swap->present;
	char percent[32];
	int column;

	snprintf(percent, sizeof(percent), "%.1f %%", busy);
	column = paint_share(row, 0, BAR_WIDTH, "CPU ", has_cpu, busy / 100, percent);
	column = paint_used(row, column, "Mem ", has_used && has_total, used, total);
	if (has_swap && swap->number)
		paint_used(row, column, "Swp ", true, swapped, (double)swap->number);
}

static void append_number(struct text *line, const struct top *top, const char *words,
			  enum host_value value, enum host_value scope, const char *format)
{
	double number;

	text_append_string(line, words);
	if (value_of(top, value, &number) || value_of(top, scope, &number))
		text_format(line,
			    format[0] == 'f' ? "%.2f" :
			    format[0] == '%' ? "%.1f %%" :
					       "%.0f",
			    number);
	else
		text_append_string(line, "-");
}

static int paint_pressures(const struct top *top, int row)
{
	static const struct {
		const char *words;
		enum host_value value;
	} parts[] = {
		{ "PSI cpu ", HOST_VALUE_pressure_cpu_some_percent },
		{ "mem ", HOST_VALUE_pressure_memory_some_percent },
		{ "io ", HOST_VALUE_pressure_io_some_percent },
	};
	int column = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		double percent;
		bool is_known = value_of(top, parts[i].value, &percent);
		char amount[32];

		snprintf(amount, sizeof(amount), "%.1f %%", percent);
		column = paint_share(row, column, PRESSURE_WIDTH, parts[i].words, is_known,
				     percent / 100, amount);
	}
	return column;
}

static void paint_pressure(const struct top *top, int row)
{
	CLEANUP(text_free) struct text line = { 0 };
	static const struct {
		const char *words;
		enum host_value value;
		const char *format;
	} parts[] = {
		{ "load ", HOST_VALUE_load1, "f" },
		{ " ", HOST_VALUE_load5, "f" },
		{ " ", HOST_VALUE_load15, "f" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		append_number(&line, top, parts[i].words, parts[i].value, parts[i].value,
			      parts[i].format);
	display_put(row, paint_pressures(top, row), display_columns(), STYLE_PLAIN, false,
		    text_string(&line));
}

/* The job whose processes are shown; it may have gone from the list meanwhile. */
static void append_job(const struct top *top, struct text *line)
{
	if (!top->choice.job)
		return;
	text_format(line, "  job #%" PRIu64, top->choice.job);
	for (size_t i = 0; i < top->moment.jobs.count; i++) {
		const struct job *job = &top->moment.jobs.data[i].job;

		if (job->id != top->choice.job)
			continue;
		text_append_string(line, " ");
		text_append_escaped(line, job->name, strlen(job->name));
	}
}

static void paint_counts(const struct top *top, int row)
{
	CLEANUP(text_free) struct text line = { 0 };

	append_number(&line, top, "processes ", HOST_VALUE_processes, HOST_VALUE_scope_processes,
		      "d");
	append_number(&line, top, "  threads ", HOST_VALUE_threads, HOST_VALUE_scope_threads, "d");
	append_number(&line, top, ": running ", HOST_VALUE_running_threads,
		      HOST_VALUE_scope_running_threads, "d");
	append_number(&line, top, ", blocked ", HOST_VALUE_blocked_threads,
		      HOST_VALUE_scope_blocked_threads, "d");
	append_number(&line, top, "  zombies ", HOST_VALUE_zombies, HOST_VALUE_scope_zombies, "d");
	if (top->filter.text && top->filter.text->length) {
		text_append_string(&line, "  filter ");
		text_append_escaped(&line, top->filter.text->data, top->filter.text->length);
	}
	if (top->choice.user) {
		text_append_string(&line, "  user ");
		text_append_escaped(&line, top->choice.user, strlen(top->choice.user));
	}
	append_job(top, &line);
	display_put(row, 0, display_columns(), STYLE_PLAIN, false, text_string(&line));
}

/* "2 jobs: nightly 2/5, build"; returns where the line goes on. */
static int paint_running(const struct top *top, int row)
{
	size_t count = moment_running_jobs(&top->moment);
	CLEANUP(text_free) struct text line = { 0 };

	if (!count)
		return 0;
	text_format(&line, "%zu job%s: ", count, count == 1 ? "" : "s");
	for (size_t i = 0; i < count; i++) {
		const struct moment_job *job = &top->moment.jobs.data[i];
		struct job_progress progress = moment_job_progress(&top->moment, job);

		text_append_string(&line, i ? ", " : "");
		text_append_escaped(&line, job->job.name, strlen(job->job.name));
		if (progress.total)
			text_format(&line, " %" PRIu64 "/%" PRIu64, progress.done, progress.total);
	}
	/* Anomalies have half of the line. */
	return 2 +
	       display_put(row, 0,
			   top->moment.anomalies.count ? display_columns() / 2 : display_columns(),
			   STYLE_PLAIN, false, text_string(&line));
}

static void paint_news(const struct top *top, int row)
{
	size_t count = top->moment.anomalies.count;
	CLEANUP(text_free) struct text line = { 0 };
	int column = paint_running(top, row);

	if (!count)
		return;
	text_format(&line, "%zu anomal%s: ", count, count == 1 ? "y" : "ies");
	for (size_t i = 0; i < count; i++) {
		const struct anomaly *anomaly = &top->moment.anomalies.data[i];

		text_format(&line, "%s%s", i ? ", " : "", anomaly_rules[anomaly->rule].name);
		if (!anomaly->task.pid)
			continue;
		text_append_string(&line, " ");
		text_append_escaped(&line, anomaly->comm, strlen(anomaly->comm));
		text_format(&line, "[%" PRId32 "]", anomaly->task.pid);
	}
	display_put(row, column, display_columns(), STYLE_BAD, false, text_string(&line));
}

void top_paint_header(struct top *top, int rows)
{
	void (*const lines[])(const struct top *, int) = { paint_first, paint_bars, paint_pressure,
							   paint_counts, paint_news };

	if (!top->moment.read)
		return;
	for (int i = 0; i < rows; i++)
		lines[i](top, i);
}
