/* SPDX-License-Identifier: MIT */
#include "store/history/job/history_job_report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "store/history/job/history_jobs.h"
#include "store/json_parse.h"

void job_report_clear(struct job_report *report)
{
	array_free(&report->steps);
	array_free(&report->events);
	array_free(&report->syscalls);
	arena_clear(&report->arena);
}

/* Replaces the text by a copy that lives as long as the report. */
static int keep(struct job_report *report, const char **text)
{
	if (!*text)
		return 0;
	*text = arena_copy(&report->arena, *text, strlen(*text));
	return *text ? 0 : -ENOMEM;
}

static int take_job(void *context, const struct job *job)
{
	struct job_report *report = context;
	const char **const texts[] = {
		&report->job.name,    &report->job.boot_id, &report->job.cgroup,  &report->job.cmd,
		&report->job.watched, &report->job.absent,  &report->job.details,
	};
	int status = 0;

	report->job = *job;
	for (size_t i = 0; i < ARRAY_SIZE(texts) && status == 0; i++)
		status = keep(report, texts[i]);
	return status;
}

static int take_step(void *context, const struct job_step *step)
{
	struct job_report *report = context;
	struct job_step copy = *step;

	if (keep(report, &copy.name) < 0 || keep(report, &copy.details) < 0)
		return -ENOMEM;
	return array_append(&report->steps, copy);
}

/* What is no JSON is left out: it goes into a document as it is. */
static void check_context(const char **context)
{
	json_error_t fault;
	json_t *value;

	if (!*context)
		return;
	if (json_parse(*context, strlen(*context), 0, &value, &fault) < 0)
		*context = NULL;
	else
		json_decref(value);
}

static int take_event(void *context, const struct job_event *event)
{
	struct job_report *report = context;
	struct job_event copy = *event;

	if (report->step && (!event->step || strcmp(event->step, report->step) != 0))
		return 0;
	check_context(&copy.context);
	if (keep(report, &copy.step) < 0 || keep(report, &copy.comm) < 0 ||
	    keep(report, &copy.details) < 0 || keep(report, &copy.context) < 0)
		return -ENOMEM;
	return array_append(&report->events, copy);
}

static int take_syscall(void *context, const struct job_syscall *syscall)
{
	struct job_report *report = context;
	struct job_syscall copy = *syscall;

	return keep(report, &copy.name) < 0 ? -ENOMEM : array_append(&report->syscalls, copy);
}

static int find_job(struct history *history, const struct job_query *query,
		    struct job_report *report, struct error *error)
{
	const char *whose = query->has_uid ? " of yours" : "";
	struct job_query newest = *query;
	int status;

	newest.limit = 1;
	status = history_jobs(history, &newest, take_job, report, error);
	if (status < 0 || report->job.id)
		return status;
	if (query->name)
		return error_set(error, -ENOENT,
				 "no job called '%s'%s in the recording: `taskscope jobs` lists "
				 "them; a file needs a / or an ending, such as ./%s",
				 query->name, whose, query->name);
	if (query->id)
		return error_set(error, -ENOENT,
				 "no job #%" PRIu64
				 "%s in the recording: `taskscope jobs` lists them",
				 query->id, whose);
	return error_set(error, -ENOENT, "the recording has no jobs%s", whose);
}

static int find_step(struct job_report *report, const char *step, struct error *error)
{
	for (size_t i = 0; i < report->steps.count; i++)
		if (strcmp(report->steps.data[i].name, step) == 0) {
			report->step = report->steps.data[i].name;
			report->step_place = i;
			return 0;
		}
	return error_set(error, -ENOENT, "job %s (#%" PRIu64 ") has no step '%s'", report->job.name,
			 report->job.id, step);
}

/* Under which step calls and runs are kept: what the only step did is that of the whole job. */
static const char *kept_under(const struct job_report *report)
{
	return report->steps.count == 1 ? NULL : report->step;
}

int history_report_run(struct history *history, const struct job_report *report, void **ret,
		       size_t *ret_size, struct error *error)
{
	struct error ignored = { 0 };
	int status =
		history_job_run(history, report->job.id, report->step, ret, ret_size, &ignored);

	if (status == -ENODATA)
		return history_job_run(history, report->job.id, kept_under(report), ret, ret_size,
				       error);
	*error = ignored;
	return status;
}

static int find_run(struct history *history, struct job_report *report, struct error *error)
{
	struct error ignored = { 0 };
	size_t size;
	int status = history_report_run(history, report, NULL, &size, &ignored);

	report->has_run = status == 0;
	if (status < 0 && status != -ENODATA)
		*error = ignored;
	return status == -ENODATA ? 0 : status;
}

static int find_syscalls(struct history *history, struct job_report *report, struct error *error)
{
	int status = history_job_syscalls(history, report->job.id, report->step, 0, take_syscall,
					  report, error);

	if (status == 0 && report->syscalls.count == 0 && report->step)
		status = history_job_syscalls(history, report->job.id, kept_under(report), 0,
					      take_syscall, report, error);
	return status;
}

int history_job_report(struct history *history, const struct job_query *query, const char *step,
		       struct job_report *ret, struct error *error)
{
	int status;

	*ret = (struct job_report){ 0 };
	status = find_job(history, query, ret, error);
	if (status == 0)
		status = history_job_steps(history, ret->job.id, take_step, ret, error);
	if (status == 0 && step)
		status = find_step(ret, step, error);
	if (status == 0)
		status = history_job_events(history, ret->job.id, 0, take_event, ret, error);
	if (status == 0)
		status = find_syscalls(history, ret, error);
	if (status == 0)
		status = find_run(history, ret, error);
	return status == -ENOMEM ? error_set(error, status, "out of memory") : status;
}
