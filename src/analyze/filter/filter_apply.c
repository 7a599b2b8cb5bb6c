/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/compare_mode.h"
#include "analyze/filter/filter.h"
#include "analyze/filter/filter_match.h"
#include "analyze/match/exited.h"
#include "analyze/match/join.h"
#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"

/* CPU time in percent of a core, by task. */
static double *cpu_of_interval(const struct snapshot *snapshot)
{
	double *cpu = malloc((snapshot->task_count + 1) * sizeof(*cpu));
	uint64_t ran;

	for (uint32_t task = 0; cpu && task < snapshot->task_count; task++)
		cpu[task] = snapshot_get(snapshot, METRIC_run_time_ns, task, &ran) ?
				    100.0 * (double)ran / (double)snapshot->interval_ns :
				    NAN;
	return cpu;
}

static int note_absences(const struct filter *filter, struct snapshot *snapshot,
			 const uint8_t *outcomes, const uint8_t *keep)
{
	struct filter_absence *absences;
	uint64_t counts[FILTER_TERMS_MAX] = { 0 };
	size_t count = 0;

	for (uint32_t task = 0; task < snapshot->task_count; task++)
		if (!keep[task] && outcomes[task] >= FILTER_ABSENT)
			counts[outcomes[task] - FILTER_ABSENT]++;
	if (arena_array(&snapshot->arena, absences, filter->terms.count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < filter->terms.count; i++) {
		const struct filter_term *term = &filter->terms.data[i];
		const char *reason = filter_absence(term, snapshot);

		if (!counts[i])
			continue;
		absences[count] = (struct filter_absence){
			.name = arena_copy(&snapshot->arena, term->name, strlen(term->name)),
			.reason = arena_copy(&snapshot->arena, reason, strlen(reason)),
			.tasks = counts[i],
		};
		if (!absences[count].name || !absences[count].reason)
			return -ENOMEM;
		count++;
	}
	snapshot->filter.absences = absences;
	return 0;
}

static int keep_tasks(const struct filter *filter, struct snapshot *snapshot,
		      const uint8_t *outcomes, const uint8_t *keep)
{
	const char *text = text_string(filter->text);
	int status = note_absences(filter, snapshot, outcomes, keep);

	snapshot->filter.text = arena_copy(&snapshot->arena, text, strlen(text));
	if (!snapshot->filter.text)
		return -ENOMEM;
	snapshot->filter.tasks = snapshot->task_count;
	if (status == 0)
		status = snapshot_keep(snapshot, keep);
	snapshot->filter.left = snapshot->task_count;
	return status;
}

/* Paths of cgroups, sorted.  Those above them are not kept: a forged path has any number of them. */
struct paths {
	ARRAY_OF(const char *) list;
};

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How the begin of a path compares with these bytes and `next` behind them. */
static int compare_begin(const char *path, const char *start, size_t length, char next)
{
	int order = strncmp(path, start, length);

	return order ? order : (unsigned char)path[length] - (unsigned char)next;
}

/* Whether one of the paths begins with these bytes, and then has `next`. */
static bool one_begins(const struct paths *paths, const char *start, size_t length, char next)
{
	size_t at = array_bisect(paths->list.data, paths->list.count,
				 compare_begin(*item, start, length, next) < 0);

	return at < paths->list.count &&
	       compare_begin(paths->list.data[at], start, length, next) == 0;
}

/* Whether a path is one of the paths, or above one. */
static bool is_on_the_way(const struct paths *paths, const char *path)
{
	size_t length = strlen(path);

	if (strcmp(path, "/") == 0)
		return one_begins(paths, "", 0, '/');
	return length &&
	       (one_begins(paths, path, length, '\0') || one_begins(paths, path, length, '/'));
}

/* Drops the rows of cgroups that are not among the paths. */
static int keep_cgroups(struct snapshot *snapshot, const struct paths *paths)
{
	size_t strings = dictionary_count(snapshot->strings);
	CLEANUP(free_pointer) uint32_t *new_keys = malloc((strings + 1) * sizeof(*new_keys));

	if (!new_keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < strings; i++)
		new_keys[i] = is_on_the_way(paths, snapshot_text(snapshot, i)) ? i : SHEET_KEY_GONE;
	return sheet_move(&snapshot->sheets[SHEET_CGROUPS], new_keys,
			  "only cgroups that were left out have it");
}

/*
 * Leaves only the cgroups of tasks that are left in any of the snapshots, and those above them.
 * Tasks of a run do not know their cgroup.
 */
static int leave_cgroups(struct snapshot **snapshots, size_t count)
{
	struct paths paths = { 0 };
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++) {
		uint32_t last = 0;

		for (uint32_t task = 0; task < snapshots[i]->task_count && status == 0; task++) {
			uint32_t cgroup = snapshots[i]->tasks[task].cgroup;

			if (cgroup != last)
				status = array_append(&paths.list,
						      snapshot_text(snapshots[i], cgroup));
			last = cgroup;
		}
	}
	array_sort(&paths.list, compare_paths);
	for (size_t i = 0; i < count && status == 0; i++)
		if (!snapshot_is_run(snapshots[i]))
			status = keep_cgroups(snapshots[i], &paths);
	array_free(&paths.list);
	return status;
}

static int apply_one(const struct filter *filter, struct snapshot *snapshot, struct error *error)
{
	CLEANUP(free_pointer) uint8_t *outcomes = NULL;
	CLEANUP(free_pointer) uint8_t *keep = malloc(snapshot->task_count + 1);
	CLEANUP(free_pointer)
	double *cpu = snapshot->interval_ns ? cpu_of_interval(snapshot) : NULL;
	int status = keep && (cpu || !snapshot->interval_ns) ? 0 : -ENOMEM;

	if (status == 0)
		status = filter_match(filter, snapshot, cpu, &outcomes, error);
	if (status < 0)
		return status;
	for (uint32_t task = 0; task < snapshot->task_count; task++)
		keep[task] = outcomes[task] == FILTER_YES;
	return keep_tasks(filter, snapshot, outcomes, keep);
}

static int no_memory(int status, struct error *error)
{
	return status == -ENOMEM ? error_set(error, status, "cannot filter: out of memory") :
				   status;
}

int filter_apply(const struct filter *filter, struct snapshot **snapshots, size_t count,
		 struct error *error)
{
	int status = 0;

	if (filter_is_empty(filter))
		return 0;
	for (size_t i = 0; i < count && status == 0; i++)
		status = apply_one(filter, snapshots[i], error);
	if (status == 0)
		status = leave_cgroups(snapshots, count);
	return no_memory(status, error);
}

/* Two moments of one boot while they are filtered. */
struct pair {
	struct snapshot *before, *after;
	struct arena arena;
	struct join join;
	double *cpu[2]; /* NULL when no time is between them */
	uint8_t *outcomes[2], *keep[2];
	uint8_t *is_left, *is_split; /* by process of `after` */
};

static void pair_clear(struct pair *pair)
{
	for (int side = 0; side < 2; side++)
		free(pair->outcomes[side]);
	arena_clear(&pair->arena);
}

/* What a task used in between; what one that ended used is not known. */
static int measure_cpu(struct pair *pair)
{
	const struct fact *from = &pair->before->facts[FACT_boottime_ns];
	const struct fact *to = &pair->after->facts[FACT_boottime_ns];
	double elapsed = (double)to->number - (double)from->number;

	if (!from->present || !to->present || elapsed <= 0)
		return 0;
	if (arena_array(&pair->arena, pair->cpu[0], pair->before->task_count) < 0 ||
	    arena_array(&pair->arena, pair->cpu[1], pair->after->task_count) < 0)
		return -ENOMEM;
	for (uint32_t task = 0; task < pair->before->task_count; task++)
		pair->cpu[0][task] = NAN;
	for (uint32_t task = 0; task < pair->after->task_count; task++) {
		uint32_t old = pair->join.before_of_task[task];
		uint64_t was = 0, is;

		pair->cpu[1][task] = NAN;
		if (old == JOIN_MISSED ||
		    !snapshot_get(pair->after, METRIC_run_time_ns, task, &is) ||
		    (join_is_row(old) &&
		     !snapshot_get(pair->before, METRIC_run_time_ns, old, &was)) ||
		    is < was)
			continue;
		pair->cpu[1][task] = 100.0 * (double)(is - was) / elapsed;
		if (join_is_row(old))
			pair->cpu[0][old] = pair->cpu[1][task];
	}
	return 0;
}

/* A task stays in both if it matches in either. */
static void join_keeps(struct pair *pair)
{
	for (uint32_t task = 0; task < pair->before->task_count; task++)
		pair->keep[0][task] = pair->outcomes[0][task] == FILTER_YES;
	for (uint32_t task = 0; task < pair->after->task_count; task++) {
		uint32_t old = pair->join.before_of_task[task];

		pair->keep[1][task] = pair->outcomes[1][task] == FILTER_YES ||
				      (join_is_row(old) && pair->keep[0][old]);
		if (join_is_row(old))
			pair->keep[0][old] = pair->keep[1][task];
	}
}

/*
 * A thread that ended stays with a process that lives on and is left, unless it does not match
 * itself.  A process of which only some threads are left is split.
 */
static int judge_ended(const struct filter *filter, struct pair *pair, struct error *error)
{
	CLEANUP(free_pointer) uint8_t *outcomes = NULL;
	const struct join *join = &pair->join;
	int status = filter_match_threads(filter, pair->before, pair->cpu[0], &outcomes, error);

	for (uint32_t task = 0; status == 0 && task < pair->after->task_count; task++) {
		uint32_t process = pair->after->tasks[task].process;

		pair->is_left[process] |= pair->keep[1][task];
		pair->is_split[process] |= !pair->keep[1][task];
	}
	for (uint32_t process = 0; status == 0 && process < pair->after->process_count; process++) {
		uint32_t old = join->before_of_process[process];

		if (!join_is_row(old) || !join->ended_in_process[old] || !pair->is_left[process])
			continue;
		for (size_t i = join_first_ended(join, old);
		     i < join->ended_count &&
		     pair->before->tasks[join->ended_tasks[i]].process == old;
		     i++) {
			uint32_t task = join->ended_tasks[i];

			pair->keep[0][task] |= outcomes[task] == FILTER_YES;
			pair->is_split[process] |= !pair->keep[0][task];
		}
	}
	return status;
}

/* What the exited threads of a split process did is not known of those that match. */
static int clear_totals(struct pair *pair)
{
	static const char reason[] = "the filter left only some threads of a process";
	int status = 0;

	for (int id = 0; id < METRIC_STORED && status == 0; id++) {
		int total = exited_total_of((enum metric_id)id);
		bool cleared = false;

		for (uint32_t row = 0; total >= 0 && row < pair->after->process_count; row++) {
			uint32_t old = pair->join.before_of_process[row];

			if (!pair->is_left[row] || !pair->is_split[row])
				continue;
			snapshot_clear(pair->after, (enum metric_id)total, row);
			if (join_is_row(old))
				snapshot_clear(pair->before, (enum metric_id)total, old);
			cleared = true;
		}
		if (cleared &&
		    (snapshot_set_absent(pair->before, (enum metric_id)total, reason) < 0 ||
		     snapshot_set_absent(pair->after, (enum metric_id)total, reason) < 0))
			status = -ENOMEM;
	}
	return status;
}

static int judge_pair(const struct filter *filter, struct pair *pair, struct error *error)
{
	int status = join_init(&pair->join, &pair->arena, pair->before, pair->after);

	if (status == 0)
		status = measure_cpu(pair);
	if (status == 0)
		status =
			filter_match(filter, pair->before, pair->cpu[0], &pair->outcomes[0], error);
	if (status == 0)
		status = filter_match(filter, pair->after, pair->cpu[1], &pair->outcomes[1], error);
	if (status == 0 &&
	    (arena_array(&pair->arena, pair->keep[0], pair->before->task_count) < 0 ||
	     arena_array(&pair->arena, pair->keep[1], pair->after->task_count) < 0 ||
	     arena_array(&pair->arena, pair->is_left, pair->after->process_count) < 0 ||
	     arena_array(&pair->arena, pair->is_split, pair->after->process_count) < 0))
		status = -ENOMEM;
	if (status < 0)
		return status;
	join_keeps(pair);
	status = judge_ended(filter, pair, error);
	return status < 0 ? status : clear_totals(pair);
}

int filter_apply_pair(const struct filter *filter, struct snapshot *before, struct snapshot *after,
		      struct error *error)
{
	CLEANUP(pair_clear) struct pair pair = { .before = before, .after = after };
	struct snapshot *both[] = { before, after };
	int status = 0;

	if (filter_is_empty(filter))
		return 0;
	if (before->interval_ns || after->interval_ns || compare_mode_refusal(before, after))
		return filter_apply(filter, both, 2, error);
	status = judge_pair(filter, &pair, error);
	for (int side = 0; side < 2 && status == 0; side++)
		status = keep_tasks(filter, both[side], pair.outcomes[side], pair.keep[side]);
	if (status == 0)
		status = leave_cgroups(both, 2);
	return no_memory(status, error);
}
