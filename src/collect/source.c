/* SPDX-License-Identifier: MIT */
/* The table of sources, their tallies, and the reports that are made from these at the end. */
#include "collect/source.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/jemalloc/jemalloc.h"
#include "host/bpf.h"
#include "host/privilege.h"

#define NO_CAPABILITY 0
#define HOLDS(capability) (UINT64_C(1) << (capability))
#define NO_KERNEL "a recorded tree has no kernel to ask"

const char source_denied[] = "denied by a security module (AppArmor, SELinux, Yama) or a user "
			     "namespace, although taskscope has the capability";

/* clang-format off */
const struct source_info sources[SOURCE_COUNT] = {
#define SOURCE(id, name_, gives_, needs_, capabilities_)                                           \
	[SOURCE_##id] = { name_, gives_, needs_, capabilities_ },
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
	[PLACE_GPU] = SOURCE_GPU,
	[PLACE_TRACED] = SOURCE_COUNT, /* not a source of a capture */
};
/* clang-format on */

enum source_id source_of(enum metric_place place)
{
	return place_sources[place];
}

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

static bool is_from(const struct metric *metric, enum source_id id)
{
	for (size_t i = 0; i < METRIC_SOURCES && metric->sources[i].place; i++)
		if (place_sources[metric->sources[i].place] == id)
			return true;
	return false;
}

bool source_is_iterated(const struct metric *metric)
{
	return is_from(metric, SOURCE_TASK_ITERATOR);
}

/* Whether some of the source's metrics also come from the task iterator. */
static bool has_stand_in(enum source_id id)
{
	for (int metric = 0; metric < METRIC_STORED; metric++)
		if (is_from(&metrics[metric], id) && source_is_iterated(&metrics[metric]))
			return true;
	return false;
}

uint64_t source_iterated(const struct capture *capture, enum source_id id)
{
	return id != SOURCE_TASK_ITERATOR && has_stand_in(id) ?
		       capture->tallies[SOURCE_TASK_ITERATOR].read :
		       0;
}

/* Also says that the iterator reported `others` tasks, if there are any. */
static void failure_text(const struct capture *capture, enum source_id id, uint64_t others,
			 struct text *out)
{
	const struct source_tally *tally = &capture->tallies[id];

	text_append_string(out, tally->reason ? tally->reason :
				tally->error  ? strerror(tally->error) :
						"the kernel does not have it");
	if (!tally->failed)
		return;
	text_format(out, " (%" PRIu64 " of %" PRIu64 " reads", tally->failed,
		    tally->read + tally->failed);
	if (others)
		text_format(out, "; the task iterator reported it for %" PRIu64 " other tasks",
			    others);
	text_append_string(out, ")");
}

bool source_needs_life(enum source_id id)
{
	return id == SOURCE_TASK_ITERATOR || id == SOURCE_TASKSTATS || id == SOURCE_JEMALLOC ||
	       id == SOURCE_SCOPES;
}

static bool is_denial(int error)
{
	return error == EACCES || error == EPERM;
}

/* Whether we have all capabilities that the source needs, so a denial has another cause. */
static bool is_denied_anyway(enum source_id id)
{
	uint64_t wanted = sources[id].capabilities;

	for (uint64_t bits = wanted; bits; bits &= bits - 1)
		if (!host_has_capability(__builtin_ctzll(bits)))
			return false;
	return wanted != 0;
}

static bool begins_with(const char *text, const char *beginning)
{
	return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Reasons that have a remedy of their own, whatever the source usually needs. */
static const struct {
	const char *reason, *needs;
} remedies[] = {
	{ HOST_NO_BPF, HOST_NEEDS_BPF },
	{ NO_JEMALLOC, NEEDS_JEMALLOC },
	{ "deadline passed",
	  "another try: the process, or the host, was too busy to answer in time" },
	{ "no thread could be started",
	  "room for one more thread (ulimit -u, pids.max of the cgroup)" },
};

const char *source_needs(enum source_id id, const char *reason)
{
	bool is_denied = reason && (strstr(reason, "although taskscope has the capability") ||
				    begins_with(reason, strerror(EACCES)) ||
				    begins_with(reason, strerror(EPERM)));

	for (size_t i = 0; reason && i < ARRAY_SIZE(remedies); i++)
		if (begins_with(reason, remedies[i].reason))
			return remedies[i].needs;
	return is_denied && is_denied_anyway(id) ? source_denied : sources[id].needs;
}

const char *source_unasked(const struct capture *capture, enum source_id id)
{
	if (id == SOURCE_SMAPS && !capture->options->smaps)
		return "not asked for: --smaps reads it";
	if (id == SOURCE_GPU && !capture->options->gpu)
		return "not asked for: --gpu reads it";
	if (id == SOURCE_JEMALLOC && !source_wanted(capture, id) &&
	    !(capture->options->without >> id & 1))
		return "nothing that was shown needed it";
	return NULL;
}

static enum source_state source_outcome(const struct capture *capture, enum source_id id,
					struct text *reason)
{
	const struct source_tally *tally = &capture->tallies[id];

	if (!source_wanted(capture, id)) {
		const char *unasked = source_unasked(capture, id);

		text_append_string(reason, unasked ? unasked : "switched off by --without");
		return SOURCE_OFF;
	}
	if (source_needs_life(id) && !capture->host->live) {
		text_append_string(reason, tally->reason ? tally->reason : NO_KERNEL);
		return SOURCE_OFF;
	}
	if (tally->failed || tally->is_partial || (tally->reason && !tally->read)) {
		failure_text(capture, id, source_iterated(capture, id), reason);
		if (tally->read)
			return SOURCE_PARTIAL;
		/* What is missing in a recording may have been there on its host. */
		if (tally->error == ENOENT && capture->host->live)
			return SOURCE_MISSING;
		return source_iterated(capture, id) ? SOURCE_PARTIAL : SOURCE_UNAVAILABLE;
	}
	if (tally->read) {
		text_append_string(reason, tally->reason ? tally->reason : "");
		return SOURCE_OK;
	}
	text_append_string(reason, id == SOURCE_TASK_ITERATOR ?
					   "not asked for" :
				   capture->tallies[SOURCE_TASK_ITERATOR].read ?
					   "not needed: the task iterator gave its values" :
					   "there was nothing to read");
	return SOURCE_OFF;
}

/*
 * Processes that proc hides are neither read nor counted as failures, so this is the only note
 * about them.
 */
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

/* Adds what would help, which the errno alone does not say. */
void source_failure_text(const struct capture *capture, enum source_id id, uint64_t others,
			 struct text *out)
{
	const struct source_tally *tally = &capture->tallies[id];

	failure_text(capture, id, others, out);
	if (tally->reason)
		return;
	if (is_denial(tally->error) && capture->host->live && is_denied_anyway(id))
		text_format(out, "; %s", source_denied);
	else
		text_format(out, "; needs %s", sources[id].needs);
}
