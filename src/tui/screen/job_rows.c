/* SPDX-License-Identifier: MIT */
/* Jobs as rows, each with its steps below. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "tui/moment/moment_jobs.h"
#include "tui/screen/top_state.h"

#define BAR_WIDTH 10

/* Steps of jobs that are over give way to other jobs. */
static bool shows_steps(const struct moment_job *job)
{
	return job->job.outcome == JOB_RUNNING || job->step_count <= 5;
}

size_t top_job_rows(const struct top *top)
{
	size_t rows = 0;

	for (size_t i = 0; i < top->moment.jobs.count; i++) {
		const struct moment_job *job = &top->moment.jobs.data[i];

		rows += 1 + (shows_steps(job) ? job->step_count : 0);
	}
	return rows;
}

const struct moment_job *top_job_at(const struct top *top, size_t row,
				    const struct job_step **ret_step)
{
	*ret_step = NULL;
	for (size_t i = 0; i < top->moment.jobs.count; i++) {
		const struct moment_job *job = &top->moment.jobs.data[i];
		size_t steps = shows_steps(job) ? job->step_count : 0;

		if (row == 0)
			return job;
		if (row <= steps) {
			*ret_step = &top->moment.steps.data[job->first_step + row - 1];
			return job;
		}
		row -= steps + 1;
	}
	return NULL;
}

const struct moment_job *top_selected_job(const struct top *top)
{
	const struct job_step *step;

	return top->shows_jobs ? top_job_at(top, top->selected, &step) : NULL;
}

/* "[||||      ] 2/5", "[||||      ] ~41 %" by the time that it takes mostly; readable without colour. */
void top_append_progress(struct text *out, double share, uint64_t done, uint64_t total)
{
	int filled = share < 1 ? (int)(share * BAR_WIDTH + 0.5) : BAR_WIDTH;

	text_append_string(out, "[");
	for (int i = 0; i < BAR_WIDTH; i++)
		text_append_string(out, i < filled ? "|" : " ");
	text_append_string(out, "] ");
	if (total)
		text_format(out, "%" PRIu64 "/%" PRIu64, done, total);
	else
		text_format(out, "~%.0f %%", 100 * share);
}

static void append_duration(struct text *out, bool is_known, uint64_t ns)
{
	if (is_known)
		unit_format(out, UNIT_NS, ns);
	else
		text_append_string(out, "-");
}

static void append_figure(struct text *out, const struct job_figures *figures, enum job_value value)
{
	if (job_has(figures, value))
		unit_format_real(out, job_values[value].unit, figures->values[value]);
	else
		text_append_string(out, "-");
}

static enum style outcome_style(enum job_outcome outcome)
{
	return outcome == JOB_FAILURE ? STYLE_BAD :
	       outcome == JOB_SUCCESS ? STYLE_GOOD :
	       outcome == JOB_UNKNOWN ? STYLE_WARNING :
					STYLE_HEADING;
}

/* The cells of a line, in the order of the columns below. */
enum {
	JOB_ID,
	JOB_STATE,
	JOB_PROGRESS,
	JOB_TIME,
	JOB_LEFT,
	JOB_CPU,
	JOB_MEM,
	JOB_PROCS,
	JOB_CELLS
};

static const struct {
	const char *title;
	int width;
	int from; /* shown when the screen is at least so wide */
	bool is_left;
} columns[JOB_CELLS] = {
	[JOB_ID] = { "ID", 5, 40, false },
	[JOB_STATE] = { "STATE", 7, 0, true },
	[JOB_PROGRESS] = { "PROGRESS", 18, 60, true },
	[JOB_TIME] = { "TIME", 7, 30, false },
	[JOB_LEFT] = { "ETA", 7, 50, false },
	[JOB_CPU] = { "CPU", 7, 70, false },
	[JOB_MEM] = { "MEM", 8, 80, false },
	[JOB_PROCS] = { "PROCS", 5, 90, false },
};

/* What it uses now; of one that is over what it used in all: CPU time, peak, number of processes. */
static void fill_use(const struct top *top, struct text cells[JOB_CELLS], enum job_outcome outcome,
		     const struct job_figures *figures, const struct job_use *use)
{
	uint64_t interval_ns = top->moment.tasks->interval_ns;

	if (outcome != JOB_RUNNING) {
		append_figure(&cells[JOB_CPU], figures, JOB_run_time_ns);
		append_figure(&cells[JOB_MEM], figures, JOB_peak_memory_bytes);
		append_figure(&cells[JOB_PROCS], figures, JOB_processes);
		return;
	}
	if (use && use->has_run_time && interval_ns)
		text_format(&cells[JOB_CPU], "%.1f%%",
			    100 * (double)use->run_time_ns / (double)interval_ns);
	else
		text_append_string(&cells[JOB_CPU], "-");
	if (use && use->has_rss)
		unit_format(&cells[JOB_MEM], UNIT_BYTES, use->rss_bytes);
	else
		text_append_string(&cells[JOB_MEM], "-");
	if (use && use->processes)
		text_format(&cells[JOB_PROCS], "%" PRIu64, use->processes);
	else
		text_append_string(&cells[JOB_PROCS], "-");
}

static void fill_job(const struct top *top, struct text cells[JOB_CELLS],
		     const struct moment_job *job, const struct job_use *use)
{
	struct job_progress progress = moment_job_progress(&top->moment, job);
	uint64_t left_ns = 0;
	bool has_left = moment_job_time_left(&top->moment, job, &left_ns);

	text_format(&cells[JOB_ID], "%" PRIu64, job->job.id);
	text_append_string(&cells[JOB_STATE], job_outcome_names[job->job.outcome]);
	if (progress.is_known)
		top_append_progress(&cells[JOB_PROGRESS], progress.share, progress.done,
				    progress.total);
	append_duration(&cells[JOB_TIME], job->elapsed_ns, job->elapsed_ns);
	if (job->job.outcome == JOB_RUNNING)
		append_duration(&cells[JOB_LEFT], has_left, left_ns);
	fill_use(top, cells, job->job.outcome, &job->job.figures, use);
}

static void fill_step(const struct top *top, struct text cells[JOB_CELLS],
		      const struct job_step *step, const struct job_use *use)
{
	text_append_string(&cells[JOB_STATE], job_outcome_names[step->outcome]);
	append_duration(&cells[JOB_TIME], step->duration_ns, step->duration_ns);
	fill_use(top, cells, step->outcome, &step->figures, use);
}

static int paint_cell(int row, int column, int i, enum style style, bool is_marked,
		      const char *text)
{
	int width = columns[i].width, taken = (int)text_width(text);

	if (display_columns() < columns[i].from)
		return column;
	display_put(row, column + (columns[i].is_left || taken > width ? 0 : width - taken), width,
		    style, is_marked, text);
	return column + width + 1;
}

static void append_job_name(const struct moment_job *job, const struct job_step *step,
			    struct text *out)
{
	const char *name = step ? step->name : job->job.name;

	if (step)
		text_append_string(out, "  step ");
	text_append_escaped(out, name, strlen(name));
}

static void append_command(const struct moment_job *job, struct text *out)
{
	if (job->job.cmd)
		text_append_escaped(out, job->job.cmd, strlen(job->job.cmd));
}

void top_job_name(const struct top *top, size_t row, struct text *out)
{
	const struct job_step *step;
	const struct moment_job *job = top_job_at(top, row, &step);

	if (!job)
		return;
	append_job_name(job, step, out);
	text_append_string(out, step ? "" : "  ");
	if (!step)
		append_command(job, out);
}

#define COMMAND_LEAST 8 /* less of a command says nothing */

/* What it is called comes first; its command has the room that is left. */
static void paint_names(int row, int column, bool is_marked, const struct moment_job *job,
			const struct job_step *step)
{
	CLEANUP(text_free) struct text name = { 0 };
	CLEANUP(text_free) struct text command = { 0 };

	append_job_name(job, step, &name);
	column += 2 + display_put_name(row, column, display_columns() - column, is_marked,
				       text_string(&name));
	if (!step)
		append_command(job, &command);
	if (column + COMMAND_LEAST <= display_columns())
		display_put_name(row, column, display_columns() - column, is_marked,
				 text_string(&command));
}

static void paint_job(struct top *top, int row, size_t number, const struct job_use *jobs,
		      const struct job_use *steps)
{
	struct text cells[JOB_CELLS] = { 0 };
	bool is_marked = number == top->selected;
	const struct job_step *step;
	const struct moment_job *job = top_job_at(top, number, &step);
	enum job_outcome outcome;
	int column = 0;

	if (!job)
		return;
	outcome = step ? step->outcome : job->job.outcome;
	if (step)
		fill_step(top, cells, step, steps ? &steps[step - top->moment.steps.data] : NULL);
	else
		fill_job(top, cells, job, jobs ? &jobs[job - top->moment.jobs.data] : NULL);
	display_put(row, 0, 1, STYLE_PLAIN, is_marked, " ");
	display_fill(row, 0, is_marked);
	for (int i = 0; i < JOB_CELLS; i++) {
		column = paint_cell(row, column, i,
				    i == JOB_STATE ? outcome_style(outcome) : STYLE_PLAIN,
				    is_marked, text_string(&cells[i]));
		text_free(&cells[i]);
	}
	paint_names(row, column, is_marked, job, step);
}

void top_paint_jobs(struct top *top, int row, int rows)
{
	CLEANUP(free_pointer) struct job_use *jobs = NULL;
	CLEANUP(free_pointer) struct job_use *steps = NULL;
	size_t count = top_job_rows(top);
	int column = 0;

	top->painted_count = 0;
	top_keep_selected(top, rows);
	for (int i = 0; i < JOB_CELLS; i++)
		column = paint_cell(row, column, i, STYLE_TITLES, false, columns[i].title);
	display_put(row, column, display_columns(), STYLE_TITLES, false, "JOB");
	if (!count) {
		display_put(row + 1, 0, display_columns(), STYLE_PLAIN, false,
			    top->moment.no_jobs ? top->moment.no_jobs :
						  "no job ran in the hour before");
		return;
	}
	if (moment_job_uses(&top->moment, &jobs, &steps) < 0)
		return;
	for (size_t line = 0; line < top->page && top->first + line < count; line++)
		paint_job(top, row + 1 + (int)line, top->first + line, jobs, steps);
}
