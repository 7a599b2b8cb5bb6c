/* SPDX-License-Identifier: MIT */
#include "analyze/anomaly/followed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/anomaly/host_figures.h"
#include "base/cleanup.h"
#include "model/record/process_totals.h"
#include "model/snapshot/snapshot.h"

/* What a percent of a CPU weighs against memory when there are too many processes. */
#define BYTES_OF_A_PERCENT 0x1p24

static struct known read_metric(const struct snapshot *now, enum metric_id id, uint32_t row)
{
	uint64_t value;

	if (!snapshot_get(now, id, row, &value))
		return (struct known){ 0 };
	return (struct known){ true, (double)value };
}

static struct followed *find(const struct followed_processes *processes,
			     const struct process *process)
{
	struct followed *found = number_map_get(&processes->index, process->tgid);

	return found && found->key.start_ns == process->start_time_ns ? found : NULL;
}

static bool has_episode(const struct followed *process)
{
	for (int rule = 0; rule < ANOMALY_RULE_COUNT; rule++)
		if (process->episodes[rule])
			return true;
	return false;
}

static double weight_of(const struct followed_processes *processes, const struct snapshot *now,
			uint32_t row)
{
	const struct followed *followed = find(processes, &now->processes[row]);
	struct known rss = read_metric(now, METRIC_rss_bytes, row);
	double weight = rss.is_known ? rss.value : 0;

	if (followed && (has_episode(followed) || followed->zombie_since_ns))
		return 0x1p63;
	if (followed && followed->cpu_percent.is_known)
		weight += followed->cpu_percent.value * BYTES_OF_A_PERCENT;
	return weight;
}

static int compare_weights(const void *a, const void *b)
{
	const double *first = a, *second = b;

	return (*first < *second) - (*first > *second);
}

/* The weight that a process needs to be followed; those of that weight get what room is left. */
static int find_bar(const struct followed_processes *processes, const struct snapshot *now,
		    double *ret)
{
	CLEANUP(free_pointer) void *weights = calloc(now->process_count + 1, sizeof(double));
	double *list = weights;

	*ret = -1;
	if (now->process_count <= FOLLOWED_MOST)
		return 0;
	if (!list)
		return -ENOMEM;
	for (uint32_t row = 0; row < now->process_count; row++)
		list[row] = weight_of(processes, now, row);
	qsort(list, now->process_count, sizeof(*list), compare_weights);
	*ret = list[FOLLOWED_MOST];
	return 0;
}

static int follow(struct followed_processes *processes, const struct process *process,
		  struct followed **ret)
{
	struct followed *followed = find(processes, process);

	if (!followed) {
		followed = calloc(1, sizeof(*followed));
		if (!followed || number_map_reserve(&processes->index) < 0 ||
		    array_append(&processes->list, followed) < 0) {
			free(followed);
			return -ENOMEM;
		}
		followed->key =
			(struct task_key){ process->tgid, process->tgid, process->start_time_ns };
		/* The process that had the number before is in the list until it is forgotten. */
		number_map_put(&processes->index, process->tgid, followed);
	}
	*ret = followed;
	return 0;
}

static void update_cpu(const struct followed_processes *processes, struct followed *process,
		       const struct process_total *total, double hot_percent)
{
	double elapsed = (double)(processes->ns - processes->before_ns);
	struct known before = process->cpu_total_ns;

	process->cpu_percent.is_known = false;
	process->cpu_total_ns = (struct known){ total->is_known, (double)total->value };
	if (process->tick != processes->tick - 1 || !processes->before_ns || elapsed <= 0 ||
	    !before.is_known || !total->is_known || (double)total->value < before.value)
		return;
	process->cpu_percent =
		(struct known){ true, ((double)total->value - before.value) / elapsed * 100 };
	if (process->cpu_percent.value < hot_percent)
		process->hot_since_ns = 0;
	else if (!process->hot_since_ns)
		process->hot_since_ns = processes->before_ns;
}

static void update_past(const struct followed_processes *processes, struct followed *process,
			const double *settings)
{
	double spike = settings[ANOMALY_SETTING_memory_spike_window];
	double leak = settings[ANOMALY_SETTING_memory_leak_window];
	double threads = settings[ANOMALY_SETTING_thread_leak_window];

	if (process->rss.is_known) {
		uint64_t rss = (uint64_t)process->rss.value;

		past_add(&process->memory, processes->ns, rss,
			 spike > LAST_MINUTE_NS ? spike : LAST_MINUTE_NS);
		past_add(&process->memory_long, processes->ns, rss, leak);
	}
	if (process->threads.is_known)
		past_add(&process->thread_counts, processes->ns, (uint64_t)process->threads.value,
			 threads);
}

static void update(const struct followed_processes *processes, struct followed *process,
		   const struct snapshot *now, uint32_t row, const struct process_total *total,
		   const double *settings)
{
	update_cpu(processes, process, total, settings[ANOMALY_SETTING_runaway_cpu_percent]);
	process->row = row;
	process->tick = processes->tick;
	snprintf(process->comm, sizeof(process->comm), "%s",
		 snapshot_text(now, now->processes[row].pcomm));
	process->uid = read_metric(now, METRIC_uid, row);
	process->rss = read_metric(now, METRIC_rss_bytes, row);
	process->threads = read_metric(now, METRIC_nr_threads, row);
	process->fds = read_metric(now, METRIC_open_fds, row);
	process->fd_limit = read_metric(now, METRIC_fd_limit, row);
	process->stall_ns.is_known = process->stuck_ns.is_known = false;
	if (!process_is_zombie(now, row))
		process->zombie_since_ns = 0;
	else if (!process->zombie_since_ns)
		process->zombie_since_ns = processes->ns;
	update_past(processes, process, settings);
}

static void raise_to(struct known *longest, double value)
{
	if (!longest->is_known || longest->value < value)
		*longest = (struct known){ true, value };
}

static int compare_sleepers(const void *a, const void *b)
{
	const struct sleeper *first = a, *second = b;

	return (first->key.tid > second->key.tid) - (first->key.tid < second->key.tid);
}

/* Since when the thread sleeps, if it was asleep at the tick before and has not run since. */
static uint64_t asleep_since(const struct followed_processes *processes,
			     const struct sleeper *before, size_t count,
			     const struct sleeper *sleeper)
{
	const struct sleeper *found =
		before ? bsearch(sleeper, before, count, sizeof(*before), compare_sleepers) : NULL;

	return found && found->key.pid == sleeper->key.pid &&
			       found->key.start_ns == sleeper->key.start_ns &&
			       found->switches == sleeper->switches ?
		       found->since_ns :
		       processes->ns;
}

/* A thread whose switches are not known may have run in between: it is not judged. */
static bool read_sleeper(const struct snapshot *now, uint32_t row, struct sleeper *ret)
{
	const struct task *task = &now->tasks[row];
	uint64_t state, voluntary, other;

	if (!snapshot_get(now, METRIC_state, row, &state) || state != 'D' ||
	    !snapshot_get(now, METRIC_voluntary_csw, row, &voluntary) ||
	    !snapshot_get(now, METRIC_nonvoluntary_csw, row, &other))
		return false;
	*ret = (struct sleeper){ .key = { now->processes[task->process].tgid, task->tid,
					  task->start_time_ns },
				 .switches = voluntary + other };
	return true;
}

static int take_sleepers(struct followed_processes *processes, const struct snapshot *now)
{
	struct sleeper *before = processes->sleepers.data;
	size_t count = processes->sleepers.count;
	int status = 0;

	memset(&processes->sleepers, 0, sizeof(processes->sleepers));
	for (uint32_t row = 0; row < now->task_count && status == 0; row++) {
		struct followed *process;
		struct sleeper sleeper;

		if (processes->sleepers.count == SLEEPERS_MOST || !read_sleeper(now, row, &sleeper))
			continue;
		sleeper.since_ns = asleep_since(processes, before, count, &sleeper);
		status = array_append(&processes->sleepers, sleeper);
		process = number_map_get(&processes->index, sleeper.key.pid);
		if (process && !followed_has_ended(processes, process))
			raise_to(&process->stuck_ns, (double)(processes->ns - sleeper.since_ns));
	}
	free(before);
	array_sort(&processes->sleepers, compare_sleepers);
	return status;
}

static void take_stalls(struct followed_processes *processes, const struct snapshot *now)
{
	for (uint32_t row = 0; row < now->task_count; row++) {
		struct known stall = read_metric(now, METRIC_scope_stall_ns, row);
		struct followed *process;

		if (!stall.is_known)
			continue;
		process = number_map_get(&processes->index,
					 now->processes[now->tasks[row].process].tgid);
		if (process && !followed_has_ended(processes, process))
			raise_to(&process->stall_ns, stall.value);
	}
}

int followed_take(struct followed_processes *processes, const struct snapshot *now,
		  const struct anomaly_settings *settings)
{
	struct process_total *totals = NULL;
	CLEANUP(free_pointer) void *owned = NULL;
	double bar;
	size_t room = FOLLOWED_MOST, level = 0;
	int status = process_totals(now, METRIC_run_time_ns, &totals);

	owned = totals;
	if (status == 0)
		status = find_bar(processes, now, &bar);
	processes->lost = 0;
	for (uint32_t row = 0; status == 0 && bar >= 0 && row < now->process_count; row++)
		room -= weight_of(processes, now, row) > bar;
	for (uint32_t row = 0; status == 0 && row < now->process_count; row++) {
		double weight = bar < 0 ? 0 : weight_of(processes, now, row);
		struct followed *process;

		if (bar >= 0 && (weight < bar || (weight == bar && level++ >= room))) {
			processes->lost++;
			continue;
		}
		status = follow(processes, &now->processes[row], &process);
		if (status == 0)
			update(processes, process, now, row, &totals[row], settings->values);
	}
	if (status == 0)
		status = take_sleepers(processes, now);
	take_stalls(processes, now);
	return status;
}

void followed_forget(struct followed_processes *processes)
{
	size_t kept = 0;

	for (size_t i = 0; i < processes->list.count; i++) {
		struct followed *process = processes->list.data[i];

		if (!followed_has_ended(processes, process)) {
			processes->list.data[kept++] = process;
			continue;
		}
		number_map_forget(&processes->index, process->key.pid, process);
		free(process);
	}
	processes->list.count = kept;
}

void followed_clear(struct followed_processes *processes)
{
	for (size_t i = 0; i < processes->list.count; i++)
		free(processes->list.data[i]);
	array_free(&processes->list);
	array_free(&processes->sleepers);
	number_map_clear(&processes->index);
}

double followed_growth(const struct followed_processes *processes, const struct followed *process)
{
	const struct past_point *then = past_begin(&process->memory, processes->ns, LAST_MINUTE_NS);

	return process->rss.is_known && then ? process->rss.value - (double)then->value : 0;
}

static double size_of(const struct followed_processes *processes, const struct followed *process)
{
	(void)processes;
	return process->rss.is_known ? process->rss.value : 0;
}

/* The first `most` by a positive value, the largest first. */
static size_t pick(const struct followed_processes *processes, size_t most,
		   double (*value_of)(const struct followed_processes *, const struct followed *),
		   const struct followed **ret)
{
	size_t count = 0;

	for (size_t i = 0; i < processes->list.count; i++) {
		const struct followed *process = processes->list.data[i];
		double value = value_of(processes, process);
		size_t place = count;

		if (value <= 0)
			continue;
		while (place > 0 && value_of(processes, ret[place - 1]) < value)
			place--;
		if (place == most)
			continue;
		count += count < most;
		memmove(&ret[place + 1], &ret[place], (count - place - 1) * sizeof(*ret));
		ret[place] = process;
	}
	return count;
}

size_t followed_largest(const struct followed_processes *processes, size_t most,
			const struct followed **ret)
{
	return pick(processes, most, size_of, ret);
}

size_t followed_growing(const struct followed_processes *processes, size_t most,
			const struct followed **ret)
{
	return pick(processes, most, followed_growth, ret);
}
