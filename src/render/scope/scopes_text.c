/* SPDX-License-Identifier: MIT */
#include "render/scope/scopes_view.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"
#include "model/scope/scope_survey.h"
#include "render/scope/scope_amount.h"
#include "render/table/table.h"

/*
 * Width of labels with their indentation: ages are aligned in a column, unless
 * it is too far away.
 */
#define LABEL_WIDTH_LEAST 30
#define LABEL_WIDTH_MOST 60
#define AGE_WIDTH 9
#define DEPTH_MOST SCOPE_FRAMES /* shown by indentation; the library has no deeper ones */

static void pad(struct text *out, size_t from, size_t width)
{
	size_t length = text_width(text_string(out)) - from;

	do
		text_append_string(out, " ");
	while (++length < width);
}

/* "3 threads" */
static void count_text(struct text *out, uint64_t count, const char *one, const char *many)
{
	text_format(out, "%" PRIu64 " %s", count, count == 1 ? one : many);
}

static void append_losses(struct text *out, const struct scope_losses *losses)
{
	bool is_first = true;

	for (size_t i = 0; i < SCOPE_LOSS_COUNT; i++) {
		uint64_t count = scope_loss_count(losses, i);

		if (count == 0)
			continue;
		text_append_string(out, is_first ? "  lost: " : ", ");
		count_text(out, count, scope_loss_words[i].one, scope_loss_words[i].many);
		is_first = false;
	}
	if (!is_first)
		text_append_string(out, "\n");
}

static void append_head(struct text *out, const struct scope_survey_process *process)
{
	const struct scopes *scopes = &process->scopes;
	size_t open = 0;

	for (size_t i = 0; i < scopes->tasks.count; i++)
		open += scopes->tasks.data[i].count + scopes->tasks.data[i].hidden;
	text_append_escaped(out, process->comm, strlen(process->comm));
	text_format(out, " %" PRId32 ": ", scopes->pid);
	count_text(out, scopes->tasks.count, "thread", "threads");
	text_append_string(out, ", ");
	count_text(out, open, "scope", "scopes");
	text_append_string(out, scopes->is_on ? ", on for " : ", stopped; began ");
	unit_format(out, UNIT_NS, scopes->age_ns);
	text_append_string(out, scopes->is_on ? "\n" : " ago\n");
	append_losses(out, &scopes->losses);
}

static void append_stall(struct text *out, const struct scope_task *task, bool colour)
{
	text_append_string(out, style_on(colour, STYLE_BAD));
	text_append_string(out, "STALLED ");
	unit_format(out, UNIT_NS, task->stalled_ns);
	text_format(out, " (%s)", scope_stall_words[task->stall]);
	text_append_string(out, style_off(colour, STYLE_BAD));
}

static void append_condition(struct text *out, const struct scope_task *task, bool colour)
{
	if (task->stall) {
		append_stall(out, task, colour);
	} else if (task->count == 0 && task->hidden == 0) {
		text_append_string(out, "in no scope for ");
		unit_format(out, UNIT_NS, task->changed_ns);
	} else if (task->is_idle) {
		text_append_string(out, "idle ");
		unit_format(out, UNIT_NS, task->changed_ns);
	} else {
		text_append_string(out, "changed ");
		unit_format(out, UNIT_NS, task->changed_ns);
		text_append_string(out, " ago");
	}
	if (task->is_torn)
		text_append_string(out, ", changes too fast to be seen at one moment");
	text_append_string(out, "\n");
}

static void append_thread(struct text *out, const struct scope_task *task,
			  const struct scope_survey_thread *thread, bool colour)
{
	const char *name = task->name[0] ? task->name : thread->comm;

	text_format(out, "  %" PRId32 " ", task->tid);
	text_append_escaped(out, name, strlen(name));
	text_format(out, "  %c  ", thread->state);
	append_condition(out, task, colour);
}

static void append_label(struct text *line, const struct scope *scope, size_t depth)
{
	size_t steps = 2 + (depth < DEPTH_MOST ? depth : DEPTH_MOST);

	for (size_t i = 0; i < steps; i++)
		text_append_string(line, "  ");
	scope_label_append(line, scope->label);
	text_append_string(line, " ");
}

static size_t label_width(const struct scopes *scopes, const struct scope_task *task)
{
	CLEANUP(text_free) struct text line = { 0 };
	size_t width = LABEL_WIDTH_LEAST;

	for (size_t i = 0; i < task->count; i++) {
		size_t wanted;

		text_clear(&line);
		append_label(&line, &scopes->list.data[task->first + i], i);
		wanted = text_width(text_string(&line)) + 1;
		if (wanted > width && wanted <= LABEL_WIDTH_MOST)
			width = wanted;
	}
	return width;
}

static void append_scope(struct text *out, const struct scope *scope, size_t depth, size_t width)
{
	CLEANUP(text_free) struct text line = { 0 };
	size_t start;

	append_label(&line, scope, depth);
	pad(&line, 0, width);
	start = text_width(text_string(&line));
	unit_format(&line, UNIT_NS, scope->age_ns);
	if (scope->has_progress) {
		pad(&line, start, AGE_WIDTH);
		scope_progress_text(&line, scope);
	}
	out->failed |= line.failed;
	text_append(out, text_string(&line), line.length);
}

static void append_scopes(struct text *out, const struct scopes *scopes,
			  const struct scope_task *task)
{
	size_t width = label_width(scopes, task);

	for (size_t i = 0; i < task->count; i++) {
		append_scope(out, &scopes->list.data[task->first + i], i, width);
		if (task->stall && task->stalled_scope == i)
			text_append_string(out, "  <- no progress");
		text_append_string(out, "\n");
	}
	if (task->hidden) {
		text_append_string(out, "    and ");
		count_text(out, task->hidden, "deeper scope", "deeper scopes");
		text_append_string(out, "\n");
	}
}

void scopes_statistics_columns(struct table *table)
{
	static const struct table_column columns[] = {
		/* clang-format off */
		{ "scope",         TABLE_NAME,  .id = "label", .is_nullable = true },
		{ "count",         TABLE_RIGHT, .id = "count", .unit = UNIT_COUNT },
		{ "total",         TABLE_RIGHT, .id = "total_ns", .unit = UNIT_NS },
		{ "self",          TABLE_RIGHT, 3, .id = "self_ns", .unit = UNIT_NS },
		{ "mean",          TABLE_RIGHT, .id = "mean_ns", .unit = UNIT_NS, .is_nullable = true },
		{ "p50",           TABLE_RIGHT, 2, .id = "p50_ns", .unit = UNIT_NS, .is_nullable = true },
		{ "p99",           TABLE_RIGHT, 1, .id = "p99_ns", .unit = UNIT_NS, .is_nullable = true },
		{ "max",           TABLE_RIGHT, .id = "max_ns", .unit = UNIT_NS, .is_nullable = true },
		{ "cpu (sampled)", TABLE_RIGHT, 3, .id = "sampled_cpu_ns", .unit = UNIT_NS, .is_nullable = true },
		/* clang-format on */
	};

	table_add_columns(table, columns, ARRAY_SIZE(columns));
}

static void put_use(struct table *table, const struct scope_label_use *use)
{
	if (use->label[0])
		put_text(table, use->label);
	else
		put_word(table, "<other>");
	put_number(table, use->count);
	put_number(table, use->total_ns);
	put_number(table, use->self_ns);
	put_known(table, use->count, use->count ? use->total_ns / use->count : 0);
	put_known(table, use->count, use->p50_ns);
	put_known(table, use->count, use->p99_ns);
	put_known(table, use->count, use->longest_ns);
	put_known(table, use->has_cpu, use->cpu_ns);
}

void scopes_statistics_put(struct table *table, const struct scopes *scopes)
{
	for (size_t i = 0; i < scopes->labels.count; i++)
		put_use(table, &scopes->labels.data[i]);
}

static int print_statistics(FILE *out, const struct scopes *scopes, const struct terminal *terminal)
{
	CLEANUP(table_clear) struct table table = { 0 };

	if (!scopes->has_statistics) {
		fputs("  no statistics: the program does not take them "
		      "(TASKSCOPE_STATISTICS=on turns them on)\n",
		      out);
		return 0;
	}
	if (scopes->labels.count == 0) {
		fputs("  no statistics yet: no scope was closed\n", out);
		return 0;
	}
	fputc('\n', out);
	scopes_statistics_columns(&table);
	scopes_statistics_put(&table, scopes);
	return table_print(&table, terminal, out);
}

static int print_process(FILE *out, const struct scope_survey_process *process,
			 bool with_statistics, const struct terminal *terminal)
{
	CLEANUP(text_free) struct text text = { 0 };

	append_head(&text, process);
	for (size_t i = 0; i < process->scopes.tasks.count; i++) {
		const struct scope_task *task = &process->scopes.tasks.data[i];

		append_thread(&text, task, &process->threads.data[i], terminal->colour);
		append_scopes(&text, &process->scopes, task);
	}
	if (text.failed)
		return -ENOMEM;
	fputs(text_string(&text), out);
	return with_statistics ? print_statistics(out, &process->scopes, terminal) : 0;
}

/* "3 processes may not be looked into: ..." */
static void print_count(FILE *out, size_t count, const char *what)
{
	if (count)
		fprintf(out, "%zu %s %s\n", count, count == 1 ? "process" : "processes", what);
}

static void print_rest(FILE *out, const struct scope_survey *survey)
{
	if (survey->processes.count == 0)
		fputs("no process that may be read here has scopes\n", out);
	print_count(
		out, survey->hidden,
		"with scopes may not be read: that takes the owner, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH");
	print_count(
		out, survey->denied - survey->hidden,
		"may not be looked into: that takes the owner, or CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH");
	print_count(out, survey->broken, "with scopes cannot be understood: -p PID says why");
}

int scopes_text(FILE *out, const struct scope_survey *survey, bool with_statistics,
		const struct terminal *terminal)
{
	int status = 0;

	for (size_t i = 0; i < survey->processes.count && status == 0; i++) {
		if (i)
			fputc('\n', out);
		status = print_process(out, &survey->processes.data[i], with_statistics, terminal);
	}
	print_rest(out, survey);
	return status;
}
