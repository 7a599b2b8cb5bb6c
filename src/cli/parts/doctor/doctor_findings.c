/* SPDX-License-Identifier: MIT */
#include "cli/parts/doctor/doctor_findings.h"

#include <unistd.h>

#include "base/collection/array.h"
#include "base/error.h"
#include "collect/capture.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"

/*
 * Up to so many tasks, reading the files of every thread is quick; above, two
 * processes are the sample.
 */
#define PROCFS_TASKS_MAX 2000

void findings_free(struct findings *findings)
{
	snapshot_free(findings->best);
	snapshot_free(findings->procfs);
	snapshot_free(findings->memory);
	host_close(findings->host);
}

/*
 * Tries procfs on its own, with all processes or with two.  The result stays
 * NULL when those two have ended; then the result of the best way is used for
 * both.
 */
static void examine_procfs(struct findings *findings)
{
	const struct snapshot *best = findings->best;
	struct capture_options capture = { .lister = LIST_PROCFS };
	struct error ignored = { 0 };
	int32_t sample[2];

	if (best->task_count > PROCFS_TASKS_MAX) {
		sample[0] = best->processes[0].tgid;
		sample[1] = best->processes[best->process_count - 1].tgid;
		capture.pids = sample;
		capture.pid_count = best->process_count > 1 ? 2 : 1;
	}
	(void)capture_take(findings->host, &capture, &findings->procfs, &ignored);
}

/*
 * Memory in detail is slow to read for many processes.  We can read our own if
 * anyone can, and that of the first process if we may read others.
 */
static void examine_memory(struct findings *findings)
{
	const int32_t sample[] = { getpid(), 1 };
	struct capture_options capture = {
		.lister = LIST_PROCFS,
		.smaps = true,
		.gpu = true,
		.pids = sample,
		.pid_count = 2,
	};
	struct error ignored = { 0 };

	if (capture_take(findings->host, &capture, &findings->memory, &ignored) == 0)
		return;
	capture.pid_count = 1;
	(void)capture_take(findings->host, &capture, &findings->memory, &ignored);
}

/* For a recording, everything is read at once. */
int findings_make(struct findings *findings, const char *root, struct error *error)
{
	const struct capture_options capture = { .lister = LIST_AUTO,
						 .smaps = root != NULL,
						 .gpu = root != NULL };
	int status = host_open(&findings->host, root, error);

	if (status == 0)
		status = capture_take(findings->host, &capture, &findings->best, error);
	if (status < 0)
		return status;
	gates_read(findings->host, findings->gates);
	attempts_examine(findings->host, &findings->attempts);
	if (!findings->host->live)
		return 0;
	examine_procfs(findings);
	examine_memory(findings);
	return 0;
}

const struct source_report *findings_source(const struct findings *findings, size_t i)
{
	const struct source_report *best = &findings->best->sources[i];
	const struct snapshot *others[] = { findings->procfs, findings->memory };

	for (size_t other = 0; other < ARRAY_SIZE(others); other++)
		if (best->state == SOURCE_OFF && others[other] &&
		    others[other]->sources[i].state != SOURCE_OFF)
			return &others[other]->sources[i];
	return best;
}

const char *findings_needs(const struct findings *findings, const struct source_report *report)
{
	int id = source_find(report->name);

	if (id < 0 || (!findings->host->live && report->state == SOURCE_OFF))
		return NULL;
	return source_needs((enum source_id)id, report->reason);
}
