/* SPDX-License-Identifier: MIT */
/*
 * Finds out why cells of a metric are missing: which source should have filled them, and what
 * happened to it.
 */
#include "base/cleanup.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/source.h"
#include "host/privilege.h"

static bool was_used(const struct capture *capture, enum source_id id)
{
	return id < SOURCE_COUNT && (capture->tallies[id].read || capture->tallies[id].failed);
}

/* Whether only the iterator was meant to fill the metric, and files were read for other metrics. */
static bool is_left_to_iterator(const struct capture *capture, const struct metric *metric)
{
	return was_used(capture, SOURCE_TASK_ITERATOR) && source_is_iterated(metric) &&
	       !capture->snapshot->tally.gap_filled;
}

/*
 * The source that should have filled the metric: the first one in use, else the one that replaces
 * the iterator, else the first one listed.
 */
static enum source_id responsible_source(const struct capture *capture, const struct metric *metric)
{
	enum source_id first = source_of(metric->sources[0].place);

	if (is_left_to_iterator(capture, metric))
		return SOURCE_TASK_ITERATOR;
	for (size_t i = 0; i < METRIC_SOURCES && metric->sources[i].place; i++)
		if (was_used(capture, source_of(metric->sources[i].place)))
			return source_of(metric->sources[i].place);
	if (first == SOURCE_TASK_ITERATOR && metric_source(metric, PLACE_TASKSTATS))
		return SOURCE_TASKSTATS;
	return first;
}

/* Whether all leaders were listed: a cgroup may hold threads without their leader. */
static bool has_all_leaders(const struct snapshot *snapshot)
{
	for (size_t row = 0; row < snapshot->process_count; row++) {
		const struct process *process = &snapshot->processes[row];

		if (snapshot->tasks[process->first_task].tid != process->tgid)
			return false;
	}
	return true;
}

/* Whether the metric is calculated from the files of a process and of all its threads. */
static bool is_split(const struct capture *capture, const struct metric *metric)
{
	return !(capture->tallies[SOURCE_TASK_ITERATOR].read && source_is_iterated(metric)) &&
	       (metric_source(metric, PLACE_GROUP_STAT) || metric_source(metric, PLACE_GROUP_IO));
}

/*
 * Whether the metric is a size of memory (not a count of faults), which a task without memory of
 * its own lacks.  If no task has it, although some have memory, the kernel does not report it.
 */
static bool is_memory_size(const struct snapshot *snapshot, const struct metric *metric)
{
	return metric->scope == METRIC_OF_PROCESS && metric->section == SECTION_MEMORY &&
	       metric->unit == UNIT_BYTES &&
	       (snapshot_measured(snapshot, metric_number(metric)) ||
		!snapshot_measured(snapshot, METRIC_rss_bytes));
}

/* Why cells are missing although their source was read without failure. */
static const char *silent_reason(const struct capture *capture, const struct metric *metric,
				 enum source_id id)
{
	if (id == SOURCE_TASK_ITERATOR && capture->snapshot->tally.gap_filled)
		return source_of(metric->sources[0].place) == SOURCE_TASK_ITERATOR ?
			       "some tasks were not listed by the task iterator, and procfs does "
			       "not have it" :
			       "some tasks were not listed by the task iterator, and the file "
			       "that has it was left out";
	if (id == SOURCE_TASK_ITERATOR && metric->scope == METRIC_OF_PROCESS &&
	    !has_all_leaders(capture->snapshot))
		return "the leader of the process was not listed: it is in another cgroup, or has "
		       "ended";
	if (is_split(capture, metric))
		return "the process ran while its threads were read, or not all of them were read";
	if (is_memory_size(capture->snapshot, metric))
		return capture->snapshot->tally.processes_ended ?
			       "kernel threads and zombies have no memory of their own, and some "
			       "processes ended before they were read" :
			       "kernel threads and zombies have no memory of their own";
	if (id == SOURCE_FDS || id == SOURCE_LIMITS)
		return "the process has ended";
	if (metric->class == CLASS_FAIR_POLICY)
		return "only tasks of a fair policy have it, on kernels that report it";
	return snapshot_measured(capture->snapshot, metric_number(metric)) ?
		       "the kernel does not report it for all tasks" :
		       "this kernel does not report it";
}

static bool is_task_file(enum source_id id)
{
	return id == SOURCE_STAT || id == SOURCE_STATUS || id == SOURCE_SCHEDSTAT ||
	       id == SOURCE_SCHED || id == SOURCE_IO;
}

/*
 * Tasks that the iterator listed but that ended before their files, which alone have the metric,
 * were read.
 */
static uint64_t unread_tasks(const struct capture *capture, const struct metric *metric,
			     enum source_id id)
{
	return is_task_file(id) && !source_is_iterated(metric) ? capture->tasks_ended : 0;
}

static const char *unread_reason(const struct capture *capture)
{
	return host_hides_processes(capture->host) ?
		       "proc hides the processes of others (hidepid), and their files alone have it" :
		       "some tasks ended before their files, which alone have it, were read";
}

static uint64_t missing_cells(const struct snapshot *snapshot, enum metric_id id)
{
	return snapshot_rows(snapshot, id) - snapshot_measured(snapshot, id);
}

static void silent_text(const struct capture *capture, const struct metric *metric,
			enum source_id id, struct text *out)
{
	text_append_string(out, silent_reason(capture, metric, id));
	if (unread_tasks(capture, metric, id))
		text_format(out, ", and %s", unread_reason(capture));
}

static void absent_text(const struct capture *capture, const struct metric *metric,
			struct text *out)
{
	const struct gate *gate = &capture->gates[metric->gate];
	enum source_id id = responsible_source(capture, metric);
	uint64_t missing = missing_cells(capture->snapshot, metric_number(metric));
	uint64_t unread = unread_tasks(capture, metric, id);

	if (!metric_wanted(capture, metric_number(metric)) && source_is_iterated(metric)) {
		text_append_string(out, "nothing that was shown needed it");
		return;
	}
	/* On a recording, sources that need a running kernel are missing for that reason alone. */
	if (!gate->open && (capture->host->live || !source_needs_life(id)))
		text_append_string(out, gate->reason);
	else if (source_unasked(capture, id))
		text_append_string(out, source_unasked(capture, id));
	else if (!source_wanted(capture, id))
		text_format(out, "switched off by --without %s", sources[id].name);
	else if (!was_used(capture, id) && id == SOURCE_TASK_ITERATOR)
		text_append_string(out, "procfs does not have it; the BPF task iterator "
					"does");
	else if (!capture->tallies[id].failed && unread >= missing && missing)
		text_append_string(out, unread_reason(capture));
	else if (capture->tallies[id].failed || !was_used(capture, id))
		source_failure_text(capture, id,
				    source_is_iterated(metric) ? source_iterated(capture, id) : 0,
				    out);
	else if (gate->lacking)
		text_append_string(out, gate->lacking);
	else
		silent_text(capture, metric, id, out);
}

int source_absent_reasons(struct capture *capture)
{
	CLEANUP(text_free) struct text reason = { 0 };
	struct snapshot *snapshot = capture->snapshot;

	for (int id = 0; id < METRIC_STORED; id++) {
		size_t rows = snapshot_rows(snapshot, id);

		if (snapshot->columns[id].absent || metric_is_only_traced(id) ||
		    (rows && snapshot_measured(snapshot, id) == rows))
			continue;
		text_clear(&reason);
		absent_text(capture, &metrics[id], &reason);
		if (reason.failed || snapshot_set_absent(snapshot, id, text_string(&reason)) < 0)
			return -ENOMEM;
	}
	return 0;
}
