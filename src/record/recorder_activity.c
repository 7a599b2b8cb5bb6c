/* SPDX-License-Identifier: MIT */
/*
 * What active threads do, each second: in the walk of a tick where both are due, else in a walk of
 * its own.  It is the first thing that is left out to stay within the budget.
 */
#include <errno.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "model/record/activity.h"
#include "model/snapshot/snapshot.h"
#include "record/recorder_state.h"
#include "store/history/history_activity.h"
#include "trace/life/lifecycle.h"

bool recorder_sheds_activity(const struct recorder *recorder)
{
	return recorder->activity_budget.shed >= SHED_ACTIVITY ||
	       recorder->budget.shed >= SHED_ACTIVITY;
}

static bool is_due(const struct recorder *recorder)
{
	return recorder->has_activity && recorder->activity_schedule.next_ns <= monotonic_ns();
}

void recorder_begin_activity(struct recorder *recorder)
{
	const char *why = sampling_lacks_activity(recorder->sampling);
	struct error error = { 0 };

	recorder->has_activity = !why;
	schedule_begin(&recorder->activity_schedule, NS_PER_SECOND, recorder->begin_ns);
	budget_begin_activity(&recorder->activity_budget);
	if (recorder->has_activity)
		recorder->activity_due.deadline_ns = recorder->activity_schedule.next_ns;
	(void)history_set_meta(recorder->history, "activity", why ? why : "each second", &error);
	/* What an earlier recorder could not do may work now. */
	(void)history_set_meta(recorder->history, "activity_stacks", NULL, &error);
}

/* The first thing that goes is what one user has too much of. */
static void limit_users(struct recorder *recorder)
{
	bool is_limited =
		recorder->activity_budget.shed >= SHED_USERS || recorder->budget.shed >= SHED_USERS;

	sampling_limit_activity(recorder->sampling, is_limited ? BUDGET_USER_THREADS : 0);
}

void recorder_plan_activity(struct recorder *recorder)
{
	if (!is_due(recorder) || recorder_sheds_activity(recorder))
		return;
	limit_users(recorder);
	sampling_plan_activity(recorder->sampling);
}

/* Drops what does not belong to the tree that is recorded. */
static void keep_tree(const struct recorder *recorder, struct activity *activity)
{
	size_t kept = 0;

	if (!recorder->options->tree_pid || !recorder->life)
		return;
	for (size_t i = 0; i < activity->samples.count; i++) {
		const struct activity_sample *sample = &activity->samples.data[i];

		if (lifecycle_is_member(recorder->life, sample->pid, sample->start_ns))
			activity->samples.data[kept++] = *sample;
	}
	activity->samples.count = kept;
}

/* Why stacks have no names is said once; it may change when the recorder begins again. */
static void note_stacks(struct recorder *recorder, const struct activity *activity)
{
	struct error error = { 0 };

	if (!activity->no_stacks || recorder->has_noted_stacks)
		return;
	recorder->has_noted_stacks = history_set_meta(recorder->history, "activity_stacks",
						      activity->no_stacks, &error) == 0;
}

static uint64_t thread_count(const struct recorder *recorder)
{
	return recorder->last.snapshot ? recorder->last.snapshot->task_count : 0;
}

int recorder_keep_activity(struct recorder *recorder, uint64_t begin_cpu_ns, bool shares_walk,
			   struct error *error)
{
	struct activity *activity = sampling_activity(recorder->sampling);
	uint64_t missed = schedule_taken(&recorder->activity_schedule, monotonic_ns());
	struct history_walk walk = { .activity = activity, .missed = recorder->activity_missed };
	int status;

	recorder->activity_due.deadline_ns = recorder->activity_schedule.next_ns;
	if (!activity) {
		recorder->activity_missed += missed + 1;
		return 0;
	}
	if (shares_walk)
		begin_cpu_ns -= activity->walk_ns / 2;
	keep_tree(recorder, activity);
	note_stacks(recorder, activity);
	walk.cost_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns;
	status = history_add_activity(recorder->history, &walk, error);
	recorder->activity_missed = missed + (status < 0 ? walk.missed + 1 : 0);
	budget_spent_activity(&recorder->activity_budget,
			      clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_ns,
			      thread_count(recorder));
	return status == -EAGAIN ? 0 : status;
}

/* While it is left out, each second counts as a cheap one. */
static void leave_out(struct recorder *recorder)
{
	(void)schedule_taken(&recorder->activity_schedule, monotonic_ns());
	recorder->activity_due.deadline_ns = recorder->activity_schedule.next_ns;
	if (recorder->activity_budget.shed >= SHED_ACTIVITY)
		budget_spent_activity(&recorder->activity_budget, 0, thread_count(recorder));
}

void recorder_take_activity(void *context)
{
	struct recorder *recorder = context;
	uint64_t begin_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct error error = { 0 };
	int status;

	if (recorder_sheds_activity(recorder)) {
		leave_out(recorder);
		return;
	}
	limit_users(recorder);
	status = sampling_take_activity(recorder->sampling, &error);
	recorder_judge(recorder, &recorder->activity_fault, status, &error,
		       "activity can be found");
	status = recorder_keep_activity(recorder, begin_cpu_ns, false, &error);
	recorder_judge(recorder, &recorder->store_fault, status, &error,
		       "the store can be written");
	recorder_note_pending(recorder);
}
