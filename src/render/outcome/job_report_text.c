/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/kernel_names.h"
#include "base/text.h"
#include "metric/unit.h"
#include "model/record/job/job_report.h"
#include "render/outcome/job_report_parts.h"
#include "render/outcome/job_report_view.h"
#include "render/record/record_table.h"
#include "render/style.h"
#include "render/terminal.h"

#define LABEL_WIDTH 14

static const enum style outcome_styles[JOB_OUTCOME_COUNT] = {
	[JOB_RUNNING] = STYLE_HEADING,
	[JOB_SUCCESS] = STYLE_GOOD,
	[JOB_FAILURE] = STYLE_BAD,
	[JOB_UNKNOWN] = STYLE_WARNING,
};

static const char *const memory_words[JOB_MEMORY_COUNT] = {
	[JOB_MEMORY_CGROUP] = "the kernel's peak of its cgroup",
	[JOB_MEMORY_PSS] = "sum of PSS at one instant",
	[JOB_MEMORY_RSS] = "sum of RSS at one instant, shared pages counted in each",
};

static enum job_outcome outcome_of(const struct job_report *report)
{
	return report->step ? report->steps.data[report->step_place].outcome : report->job.outcome;
}

static uint64_t duration_of(const struct job_report *report)
{
	return report->step ? report->steps.data[report->step_place].duration_ns :
			      report->duration_ns;
}

/* "job nightly, #12: failure, exit status 1, after 12m 05s" */
static void append_head(struct text *out, const struct job_report *report, bool colour)
{
	const struct job *job = &report->job;
	enum style style = outcome_styles[outcome_of(report)];
	char name[KERNEL_NAME_SIZE];

	text_append_string(out, "job ");
	text_append_escaped(out, job->name, strlen(job->name));
	text_format(out, ", #%" PRIu64, job->id);
	if (report->step) {
		text_append_string(out, ", step ");
		text_append_escaped(out, report->step, strlen(report->step));
	}
	text_format(out, ": %s%s%s", style_on(colour, style), job_outcome_names[outcome_of(report)],
		    style_off(colour, style));
	if (job->has_status && !report->step && WIFSIGNALED(job->status))
		text_format(out, ", ended by %s", signal_name(WTERMSIG(job->status), name));
	else if (job->has_status && !report->step)
		text_format(out, ", exit status %d", WEXITSTATUS(job->status));
	if (duration_of(report)) {
		text_append_string(out, outcome_of(report) == JOB_RUNNING ? ", for " : ", after ");
		unit_format(out, UNIT_NS, duration_of(report));
	}
	text_append_string(out, "\n");
}

static void append_label(struct text *out, const char *label)
{
	text_format(out, "%-*s", LABEL_WIDTH, label);
}

static void append_text(struct text *out, const char *label, const char *value)
{
	if (!value)
		return;
	append_label(out, label);
	text_append_escaped(out, value, strlen(value));
	text_append_string(out, "\n");
}

static void append_whose(struct text *out, const struct job_report *report)
{
	const struct job *job = &report->job;
	const struct job_step *step = report->step ? &report->steps.data[report->step_place] : NULL;
	uint64_t end_ns = step ? step->end_unix_ns : job->end_unix_ns;
	int32_t root_pid = step && step->root.pid ? step->root.pid : job->root.pid;

	append_label(out, "time");
	record_append_time(out, step ? step->begin_unix_ns : job->begin_unix_ns);
	text_append_string(out, " to ");
	if (end_ns)
		record_append_time(out, end_ns);
	else
		text_append_string(out, outcome_of(report) == JOB_RUNNING ? "now: it runs" :
									    "nobody saw its end");
	text_append_string(out, "\n");
	append_text(out, "command", job->cmd);
	append_text(out, "cgroup", job->cgroup);
	append_text(out, "watched", job->watched);
	append_label(out, "first process");
	if (root_pid)
		text_format(out, "%d, ", (int)root_pid);
	text_format(out, "user %" PRIu32 "\n", job->uid);
	append_text(out, "verdict", step ? step->details : job->details);
}

/* Appends the figure, or that there is none; true if there is. */
static bool append_figure(struct text *out, const struct job_figures *figures, enum job_value value)
{
	if (!job_has(figures, value)) {
		text_append_string(out, "no data");
		return false;
	}
	unit_format_real(out, job_values[value].unit, figures->values[value]);
	return true;
}

static void append_memory(struct text *out, const struct job_report *report,
			  const struct job_figures *figures)
{
	enum job_memory memory =
		report->step ? report->steps.data[report->step_place].memory : report->job.memory;

	append_label(out, "peak memory");
	if (append_figure(out, figures, JOB_peak_memory_bytes) && memory_words[memory])
		text_format(out, " (%s)", memory_words[memory]);
	text_append_string(out, "\n");
	append_label(out, "");
	text_append_string(out, "of its largest process: ");
	append_figure(out, figures, JOB_peak_rss_bytes);
	text_append_string(out, "\n");
}

static void append_cpu(struct text *out, const struct job_report *report,
		       const struct job_figures *figures)
{
	append_label(out, "CPU time");
	if (append_figure(out, figures, JOB_run_time_ns) && duration_of(report))
		text_format(out, ", %.2g of a core on average",
			    figures->values[JOB_run_time_ns] / (double)duration_of(report));
	if (job_has(figures, JOB_peak_cpu_percent))
		text_format(out, ", at most %.0f %% of a core",
			    figures->values[JOB_peak_cpu_percent]);
	text_append_string(out, "\n");
}

/* Counts that belong together, on a line: "12 different, 11 began in it". */
static const struct count_line {
	const char *label;
	bool is_rare; /* not shown where nothing is known */
	struct {
		enum job_value value;
		const char *words;
	} parts[4];
} count_lines[] = {
	/* clang-format off */
	{ "GPUs", true, { { JOB_peak_gpu_memory_bytes, " held at most" }, { JOB_peak_gpu_busy_percent, " % used at most" } } },
	{ "processes", false, { { JOB_processes, " different" }, { JOB_spawns, " spawned" }, { JOB_exits, " exited" },
			 { JOB_failed_exits, " with a failure" } } },
	{ "disks", false, { { JOB_read_bytes, " read" }, { JOB_write_bytes, " written" } } },
	{ "signals", false, { { JOB_signals, "" }, { JOB_kills, " SIGKILL" } } },
	{ "OOM kills", false, { { JOB_ooms, "" } } },
	{ "anomalies", false, { { JOB_anomalies, "" } } },
	/* clang-format on */
};

static void append_line(struct text *out, const struct count_line *line,
			const struct job_figures *figures)
{
	const char *comma = "";

	for (size_t i = 0; i < ARRAY_SIZE(line->parts) && line->parts[i].words; i++) {
		if (!job_has(figures, line->parts[i].value))
			continue;
		if (!*comma)
			append_label(out, line->label);
		text_append_string(out, comma);
		append_figure(out, figures, line->parts[i].value);
		text_append_string(out, line->parts[i].words);
		comma = ", ";
	}
	if (!*comma && line->is_rare)
		return;
	if (!*comma)
		append_label(out, line->label);
	text_append_string(out, *comma ? "\n" : "no data\n");
}

static void append_counts(struct text *out, const struct job_figures *figures)
{
	for (size_t i = 0; i < ARRAY_SIZE(count_lines); i++)
		append_line(out, &count_lines[i], figures);
}

int job_report_text(FILE *out, const struct terminal *terminal, const struct job_report *report,
		    size_t limit)
{
	CLEANUP(text_free) struct text text = { 0 };
	const struct job_figures *figures = job_report_figures(report);
	int status;

	append_head(&text, report, terminal->colour);
	append_text(&text, "no data", report->job.absent);
	append_whose(&text, report);
	text_append_string(&text, "\n");
	append_memory(&text, report, figures);
	append_cpu(&text, report, figures);
	append_counts(&text, figures);
	fputs(text_string(&text), out);
	status = job_report_tables(out, terminal, report, limit);
	return text.failed ? -ENOMEM : status;
}
