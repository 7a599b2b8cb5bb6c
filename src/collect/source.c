/* SPDX-License-Identifier: MIT */
/*
 * The table of sources, their tallies, and what both say at the end: how each
 * source did, and why a metric's cells are missing.
 */
#include "collect/source.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/collector.h"
#include "host/privilege.h"

#define NOT_ASKED_SMAPS "not asked for: --smaps reads it"
#define NO_CAPABILITY (-1)
#define NO_KERNEL "a recorded tree has no kernel to ask"
#define DENIED_ANYWAY                                                                              \
	"a security module or a user namespace that does not deny it: the capability is there"

/* clang-format off */
const struct source_info sources[SOURCE_COUNT] = {
#define SOURCE(id, name_, gives_, needs_, capability_)                                             \
	[SOURCE_##id] = { name_, gives_, needs_, capability_ },
#include "collect/sources.def"
};

static const enum source_id place_sources[PLACE_COUNT] = {
	[PLACE_STAT] = SOURCE_STAT,             [PLACE_STATUS] = SOURCE_STATUS,
	[PLACE_SCHEDSTAT] = SOURCE_SCHEDSTAT,   [PLACE_SCHED] = SOURCE_SCHED,
	[PLACE_IO] = SOURCE_IO,                 [PLACE_STATM] = SOURCE_STATM,
	[PLACE_SMAPS] = SOURCE_SMAPS,
	[PLACE_GROUP_STAT] = SOURCE_STAT,       [PLACE_GROUP_IO] = SOURCE_IO,
	[PLACE_AFFINITY] = SOURCE_AFFINITY,     [PLACE_FD_DIRECTORY] = SOURCE_FDS,
	[PLACE_FD_LIMIT] = SOURCE_LIMITS,       [PLACE_EACH] = SOURCE_STAT,
	[PLACE_TASK] = SOURCE_TASK_ITERATOR,    [PLACE_GROUP] = SOURCE_TASK_ITERATOR,
	[PLACE_DELAY] = SOURCE_TASK_ITERATOR,   [PLACE_STATS] = SOURCE_TASK_ITERATOR,
	[PLACE_DECODED] = SOURCE_TASK_ITERATOR, [PLACE_TASKSTATS] = SOURCE_TASKSTATS,
	[PLACE_JEMALLOC] = SOURCE_JEMALLOC,     [PLACE_SCOPE] = SOURCE_SCOPES,
};
/* clang-format on */

int source_find(const char *name)
{
	for (int id = 0; id < SOURCE_COUNT; id++)
		if (strcmp(sources[id].name, name) == 0)
			return id;
	return -1;
}

enum metric_id source_metric(const struct capture *capture, enum source_id id,
			     enum metric_place place)
{
	for (int metric = 0; source_wanted(capture, id) && metric < METRIC_STORED; metric++)
		if (metric_source(&metrics[metric], place))
			return metric;
	return METRIC_STORED;
}

void source_count(struct source_tally *tally, int64_t status)
{
	if (status >= 0) {
		tally->read++;
	} else if (!is_vanished((int)status)) {
		tally->failed++;
		tally->error = (int)-status;
	}
}

void source_count_file(const struct capture *capture, struct source_tally *tally, int64_t status)
{
	source_count(tally, status);
	if (capture->host->live || !is_vanished((int)status))
		return;
	tally->failed++;
	tally->error = (int)-status;
	tally->reason = NOT_RECORDED;
}

void source_add_tallies(struct source_tally *into, const struct source_tally *from)
{
	for (int id = 0; id < SOURCE_COUNT; id++) {
		into[id].read += from[id].read;
		into[id].failed += from[id].failed;
		if (from[id].error)
			into[id].error = from[id].error;
		if (from[id].reason)
			into[id].reason = from[id].reason;
		into[id].is_partial |= from[id].is_partial;
	}
}

void source_set_missing(struct source_tally *tally, const char *reason)
{
	tally->reason = reason;
	tally->error = ENOENT;
}

void source_set_unseen(const struct host *host, struct source_tally *tally, const char *reason)
{
	source_set_missing(tally, reason);
	if (proc_has_only_processes(host))
		tally->error = EACCES;
}

bool capture_reads_cgroups(struct capture *capture)
{
	const struct host *host = capture->host;

	if (!host->cgroup.version)
		source_set_missing(&capture->tallies[SOURCE_CGROUP],
				   host->live ? "no cgroup hierarchy is mounted" : NOT_RECORDED);
	return host->cgroup.version && !capture->proc_is_foreign &&
	       source_wanted(capture, SOURCE_CGROUP);
}

/* Whether some of the source's metrics also come from the task iterator. */
static bool has_stand_in(enum source_id id)
{
	for (int metric = 0; metric < METRIC_STORED; metric++) {
		bool is_here = false, is_iterated = false;

		for (size_t i = 0; i < METRIC_SOURCES && metrics[metric].sources[i].place; i++) {
			enum source_id source = place_sources[metrics[metric].sources[i].place];

			is_here |= source == id;
			is_iterated |= source == SOURCE_TASK_ITERATOR;
		}
		if (is_here && is_iterated)
			return true;
	}
	return false;
}

/* Tasks that the iterator told all of, so that their files were not read. */
static uint64_t iterated(const struct capture *capture, enum source_id id)
{
	return id != SOURCE_TASK_ITERATOR && has_stand_in(id) ?
		       capture->tallies[SOURCE_TASK_ITERATOR].read :
		       0;
}

static void failure_text(const struct capture *capture, enum source_id id, struct text *out)
{
	const struct source_tally *tally = &capture->tallies[id];
	uint64_t others = iterated(capture, id);

	text_append_string(out, tally->reason ? tally->reason :
				tally->error  ? strerror(tally->error) :
						"the kernel does not have it");
	if (!tally->failed)
		return;
	text_format(out, " (%" PRIu64 " of %" PRIu64 " reads", tally->failed,
		    tally->read + tally->failed);
	if (others)
		text_format(out, "; the task iterator told it of %" PRIu64 " other tasks", others);
	text_append_string(out, ")");
}

/* Whether the source asks a running kernel or a living process, which a recording is not. */
static bool needs_life(enum source_id id)
{
	return id == SOURCE_TASK_ITERATOR || id == SOURCE_TASKSTATS || id == SOURCE_JEMALLOC ||
	       id == SOURCE_SCOPES;
}

static bool is_denial(int error)
{
	return error == EACCES || error == EPERM;
}

/* Whether what is denied is not for want of the capability. */
static bool is_denied_anyway(enum source_id id)
{
	return sources[id].capability >= 0 && host_has_capability(sources[id].capability);
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

const char *source_needs(enum source_id id, const char *reason)
{
	bool is_denied = reason && (strstr(reason, "the capability is there") ||
				    begins_with(reason, strerror(EACCES)) ||
				    begins_with(reason, strerror(EPERM)));

	return is_denied && is_denied_anyway(id) ? DENIED_ANYWAY : sources[id].needs;
}

/* Whether the source is one that is read only when it is asked for, and was not. */
static bool is_unasked(const struct capture *capture, enum source_id id)
{
	return id == SOURCE_SMAPS && !capture->options->smaps;
}

static enum source_state source_outcome(const struct capture *capture, enum source_id id,
					struct text *reason)
{
	const struct source_tally *tally = &capture->tallies[id];

	if (!source_wanted(capture, id)) {
		text_append_string(reason, is_unasked(capture, id) ? NOT_ASKED_SMAPS :
								     "switched off by --without");
		return SOURCE_OFF;
	}
	if (needs_life(id) && !capture->host->live) {
		text_append_string(reason, tally->reason ? tally->reason : NO_KERNEL);
		return SOURCE_OFF;
	}
	if (tally->failed || tally->is_partial || (tally->reason && !tally->read)) {
		failure_text(capture, id, reason);
		if (tally->read)
			return SOURCE_PARTIAL;
		/* What a recording lacks, its host may well have had. */
		if (tally->error == ENOENT && capture->host->live)
			return SOURCE_MISSING;
		return iterated(capture, id) ? SOURCE_PARTIAL : SOURCE_UNAVAILABLE;
	}
	if (tally->read) {
		text_append_string(reason, tally->reason ? tally->reason : "");
		return SOURCE_OK;
	}
	text_append_string(reason, id == SOURCE_TASK_ITERATOR ?
					   "not asked for" :
					   "not needed: the task iterator gave its values");
	return SOURCE_OFF;
}

/* Processes that proc does not show are neither read nor missed: nothing else would tell. */
static void note_hidden(struct capture *capture)
{
	struct source_tally *tally = &capture->tallies[SOURCE_STAT];

	if (tally->reason || !host_hides_processes(capture->host))
		return;
	tally->is_partial = true;
	tally->reason = capture->tallies[SOURCE_TASK_ITERATOR].read ?
				"proc hides the processes of others (hidepid), and so their files" :
				"proc hides the processes of others (hidepid): they are not in the "
				"capture, and not counted";
}

int source_reports(struct capture *capture)
{
	CLEANUP(text_free) struct text reason = { 0 };

	note_hidden(capture);

	for (int id = 0; id < SOURCE_COUNT; id++) {
		struct source_report *report = snapshot_source(capture->snapshot, sources[id].name);

		if (!report)
			return -ENOMEM;
		text_clear(&reason);
		report->state = source_outcome(capture, id, &reason);
		report->read = capture->tallies[id].read;
		report->failed = capture->tallies[id].failed;
		if (reason.length)
			report->reason =
				arena_copy(&capture->snapshot->arena, reason.data, reason.length);
		if (reason.failed || (reason.length && !report->reason))
			return -ENOMEM;
	}
	return 0;
}

static bool was_used(const struct capture *capture, enum source_id id)
{
	return capture->tallies[id].read || capture->tallies[id].failed;
}

/*
 * The source that was to fill the metric: the first one in use, else the one that
 * was to stand in for the iterator, else the first one listed.
 */
static enum source_id responsible_source(const struct capture *capture, const struct metric *metric)
{
	enum source_id first = place_sources[metric->sources[0].place];

	for (size_t i = 0; i < METRIC_SOURCES && metric->sources[i].place; i++)
		if (was_used(capture, place_sources[metric->sources[i].place]))
			return place_sources[metric->sources[i].place];
	if (first == SOURCE_TASK_ITERATOR && metric_source(metric, PLACE_TASKSTATS))
		return SOURCE_TASKSTATS;
	return first;
}

/* Whether all leaders were listed: a cgroup may have threads without them. */
static bool has_all_leaders(const struct snapshot *snapshot)
{
	for (size_t row = 0; row < snapshot->process_count; row++) {
		const struct process *process = &snapshot->processes[row];

		if (snapshot->tasks[process->first_task].tid != process->tgid)
			return false;
	}
	return true;
}

/* Whether the metric is worked out from the files of a process and all its threads. */
static bool is_split(const struct capture *capture, const struct metric *metric)
{
	return !capture->tallies[SOURCE_TASK_ITERATOR].read &&
	       (metric_source(metric, PLACE_GROUP_STAT) || metric_source(metric, PLACE_GROUP_IO));
}

/* Sizes, not counts of faults: what a task without memory of its own lacks. */
static bool is_memory_size(const struct metric *metric)
{
	return metric->scope == SCOPE_PROCESS && metric->section == SECTION_MEMORY &&
	       metric->unit == UNIT_BYTES;
}

/* Why cells are missing although their source was read without failure. */
static const char *silent_reason(const struct capture *capture, const struct metric *metric,
				 enum source_id id)
{
	if (id == SOURCE_TASK_ITERATOR && capture->snapshot->tally.gap_filled)
		return place_sources[metric->sources[0].place] == SOURCE_TASK_ITERATOR ?
			       "some tasks were not listed by the task iterator, and procfs does "
			       "not have it" :
			       "some tasks were not listed by the task iterator, and the file "
			       "that has it was left out";
	if (id == SOURCE_TASK_ITERATOR && metric->scope == SCOPE_PROCESS &&
	    !has_all_leaders(capture->snapshot))
		return "the leader of the process was not listed: it is in another cgroup, or has "
		       "ended";
	if (is_split(capture, metric))
		return "the process ran while its threads were read, or not all of them were read";
	if (is_memory_size(metric))
		return capture->snapshot->tally.processes_ended ?
			       "kernel threads and zombies have no memory of their own, and some "
			       "processes ended before they were read" :
			       "kernel threads and zombies have no memory of their own";
	if (id == SOURCE_FDS || id == SOURCE_LIMITS)
		return "the process has ended";
	if (metric->class == CLASS_FAIR_POLICY)
		return "only tasks of a fair policy have it, on kernels that report it";
	return "this kernel does not report it";
}

/* What the errno alone does not tell is what would help. */
void source_failure_text(const struct capture *capture, enum source_id id, struct text *out)
{
	const struct source_tally *tally = &capture->tallies[id];

	failure_text(capture, id, out);
	if (!tally->reason)
		text_format(out, "; needs %s",
			    is_denial(tally->error) && capture->host->live && is_denied_anyway(id) ?
				    DENIED_ANYWAY :
				    sources[id].needs);
}

static void absent_text(const struct capture *capture, const struct metric *metric,
			struct text *out)
{
	const struct gate *gate = &capture->gates[metric->gate];
	enum source_id id = responsible_source(capture, metric);

	/* What only a running kernel tells is missing for that alone. */
	if (!gate->open && (capture->host->live || !needs_life(id)))
		text_append_string(out, gate->reason);
	else if (is_unasked(capture, id))
		text_append_string(out, NOT_ASKED_SMAPS);
	else if (!source_wanted(capture, id))
		text_format(out, "switched off by --without %s", sources[id].name);
	else if (!was_used(capture, id) && id == SOURCE_TASK_ITERATOR)
		text_append_string(out, "procfs does not have it; the BPF task iterator "
					"does");
	else if (capture->tallies[id].failed || !was_used(capture, id))
		source_failure_text(capture, id, out);
	else if (gate->lacking)
		text_append_string(out, gate->lacking);
	else
		text_append_string(out, silent_reason(capture, metric, id));
}

int source_absent_reasons(struct capture *capture)
{
	CLEANUP(text_free) struct text reason = { 0 };
	struct snapshot *snapshot = capture->snapshot;

	for (int id = 0; id < METRIC_STORED; id++) {
		size_t rows = snapshot_rows(snapshot, id);

		if (snapshot->absent[id] || (rows && snapshot_measured(snapshot, id) == rows))
			continue;
		text_clear(&reason);
		absent_text(capture, &metrics[id], &reason);
		if (reason.failed || snapshot_set_absent(snapshot, id, text_string(&reason)) < 0)
			return -ENOMEM;
	}
	return 0;
}
