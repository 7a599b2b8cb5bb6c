/* SPDX-License-Identifier: MIT */
#include "tui/view/moment_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/group/forest.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "tui/moment/moment.h"
#include "tui/moment/moment_jobs.h"

void view_choice_usual(struct view_choice *choice, bool has_states)
{
	static const enum metric_id usual[] = {
		METRIC_run_time_ns, METRIC_wait_time_ns, METRIC_rss_bytes,   METRIC_state,
		METRIC_nr_threads,  METRIC_read_bytes,	 METRIC_write_bytes,
	};

	choice->metrics = (struct selection){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (usual[i] != METRIC_state || !has_states)
			selection_add(&choice->metrics, usual[i]);
}

static bool is_of_user(const struct snapshot *tasks, const struct task *task, const char *user)
{
	return !user ||
	       strcmp(snapshot_text(tasks, tasks->processes[task->process].user), user) == 0;
}

/* Leaves the processes of the job and the user that were chosen. */
static int keep_chosen(struct snapshot *tasks, const struct moment *moment,
		       const struct view_choice *choice)
{
	CLEANUP(free_pointer) uint32_t *jobs = NULL;
	CLEANUP(free_pointer) uint32_t *steps = NULL;
	CLEANUP(free_pointer) uint8_t *keep = calloc(tasks->task_count + 1, 1);
	int status = keep ? moment_job_processes(moment, &jobs, &steps) : -ENOMEM;

	if (status < 0)
		return status;
	for (size_t i = 0; i < tasks->task_count; i++) {
		uint32_t job = jobs[tasks->tasks[i].process];
		bool is_of_job = job && (choice->of_jobs ||
					 moment->jobs.data[job - 1].job.id == choice->job);

		keep[i] = (is_of_job || (!choice->job && !choice->of_jobs)) &&
			  is_of_user(tasks, &tasks->tasks[i], choice->user);
	}
	return snapshot_keep(tasks, keep);
}

static int filter_tasks(struct moment_view *view, const struct moment *moment,
			const struct view_choice *choice, struct error *error)
{
	bool has_filter = choice->filter && !filter_is_empty(choice->filter);
	bool is_chosen = choice->job || choice->of_jobs || choice->user;
	int status;

	if (!has_filter && !is_chosen)
		return 0;
	status = snapshot_copy_tasks(moment->tasks, &view->filtered);
	if (status == 0 && is_chosen)
		status = keep_chosen(view->filtered, moment, choice);
	if (status == 0 && has_filter)
		status = filter_apply(choice->filter, &view->filtered, 1, error);
	return status;
}

static int arrange(struct moment_view *view, const struct snapshot *tasks,
		   const struct view_choice *choice)
{
	struct group_sort usual = { .by = ORDER_METRIC, .metric = METRIC_run_time_ns };
	struct group_sorting sorting = choice->sorting;
	bool is_forest = choice->is_forest && choice->axis == AXIS_PROCESS;
	int status = grouping_make(tasks, choice->axis, &choice->grouping, &view->grouping);

	/* Below its parent a row may come from anywhere, and each key needs the order of the one before. */
	if (!is_forest && sorting.count <= 1)
		usual.first = sorting.keys[0].first = choice->ordered;
	if (status == 0)
		status = group_sorting_apply(&sorting, &usual, view->grouping);
	if (status == 0 && is_forest)
		status = forest_order(view->grouping, &view->depths);
	return status;
}

int moment_view_make(struct moment_view *ret, const struct moment *moment,
		     const struct view_choice *choice, struct error *error)
{
	const struct snapshot *tasks;
	int status;

	*ret = (struct moment_view){ 0 };
	status = filter_tasks(ret, moment, choice, error);
	tasks = ret->filtered ? ret->filtered : moment->tasks;
	if (status == 0)
		status = arrange(ret, tasks, choice);
	if (status < 0)
		return error_set(error, status, "cannot show it: %s", strerror(-status));
	ret->view = (struct snapshot_view){
		.grouping = ret->grouping,
		.metrics = choice->metrics,
		.depths = ret->depths,
		.limit = choice->limit,
	};
	return 0;
}

void moment_view_clear(struct moment_view *view)
{
	grouping_free(view->grouping);
	snapshot_free(view->filtered);
	free(view->depths);
	*view = (struct moment_view){ 0 };
}
