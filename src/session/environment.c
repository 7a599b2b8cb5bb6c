/* SPDX-License-Identifier: MIT */
#include "session/environment.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/file.h"
#include "base/text.h"
#include "collect/capture.h"
#include "collect/proc/affinity.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "model/tree/run.h"
#include "session/session.h"
#include "session/watch/watch.h"
#include "store/run/run_json.h"

#define HOSTNAME_SIZE 128

/* The sources that the capture for the host's facts uses; all others are left out. */
#define HOST_SOURCES                                                                               \
	(1u << SOURCE_HOST_CONTEXT | 1u << SOURCE_STAT | 1u << SOURCE_SCHED_EXT |                  \
	 1u << SOURCE_CGROUP)

static void set_hostname(const struct host *host, struct snapshot *snapshot)
{
	char name[HOSTNAME_SIZE];

	if (file_read(host->proc, "sys/kernel/hostname", name, sizeof(name)) <= 0)
		return;
	name[strcspn(name, "\n")] = '\0';
	if (name[0])
		snapshot_set_fact_text(snapshot, FACT_hostname, name);
}

/* The CPUs of the process that was attached to, or ours, which the command inherits. */
static void set_affinity(int32_t pid, struct snapshot *snapshot)
{
	CLEANUP(text_free) struct text list = { 0 };
	uint64_t mask[TASK_AFFINITY_WORDS_MAX];

	if (affinity_ask(pid, mask) < 0)
		return;
	cpulist_format(mask, TASK_AFFINITY_WORDS_MAX, &list);
	if (!list.failed && list.length)
		snapshot_set_fact_text(snapshot, FACT_affinity, text_string(&list));
}

int environment_write(struct watch *watch, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	struct capture_options options = {
		.lister = LIST_PROCFS,
		.without = ~HOST_SOURCES,
		.pids = &watch->self,
		.pid_count = 1,
	};
	FILE *out = lines_begin(&watch->output.lines);
	int status;

	if (!out && !watch->options->keeps_host)
		return 0;
	status = capture_take(watch->host, &options, &snapshot, error);
	if (status < 0)
		return status;
	set_hostname(watch->host, snapshot);
	set_affinity(watch->run->pid, snapshot);
	if (out) {
		run_json_env(out, snapshot);
		lines_end(&watch->output.lines);
	}
	watch->run->host = TAKE_PTR(snapshot);
	return 0;
}
