/* SPDX-License-Identifier: MIT */
#include "collect/process/process_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/collector.h"

void process_facts_clear(struct process_facts *known)
{
	for (size_t i = 0; i < known->list.count; i++) {
		free(known->list.data[i].cmdline);
		free(known->list.data[i].exe);
	}
	array_free(&known->list);
}

static int compare_tgids(const void *key, const void *element)
{
	const int32_t *tgid = key;
	const struct process_fact *fact = element;

	return (*tgid > fact->tgid) - (*tgid < fact->tgid);
}

const struct process_fact *process_facts_find(const struct process_facts *known,
					      const struct process *process,
					      const struct walked_process *walked)
{
	const struct process_fact *fact = NULL;

	if (known->list.count)
		fact = bsearch(&process->tgid, known->list.data, known->list.count, sizeof(*fact),
			       compare_tgids);
	return fact && fact->start_time_ns == process->start_time_ns &&
			       fact->exec_id == walked->exec_id &&
			       fact->arg_start == walked->arg_start ?
		       fact :
		       NULL;
}

/* Whether everything was read; what was not is read again in the next sample. */
static bool is_complete(const struct capture *capture, const struct process *process,
			const struct walked_process *walked)
{
	return walked && walked->has_memory &&
	       (process->exe || !source_wanted(capture, SOURCE_EXE)) &&
	       (process->cmdline || !source_wanted(capture, SOURCE_CMDLINE) ||
		walked->arg_start >= walked->arg_end);
}

int process_facts_keep(struct capture *capture)
{
	CLEANUP(process_facts_clear) struct process_facts kept = { 0 };
	const struct snapshot *snapshot = capture->snapshot;
	struct process_facts old = capture->sampling->facts;

	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		const struct process *process = &snapshot->processes[row];
		const struct walked_process *walked = walked_process_find(capture, process->tgid);
		struct process_fact fact = { .tgid = process->tgid,
					     .start_time_ns = process->start_time_ns };

		if (!is_complete(capture, process, walked))
			continue;
		fact.exec_id = walked->exec_id;
		fact.arg_start = walked->arg_start;
		fact.executable_pages = walked->executable_pages;
		fact.lacks_jemalloc = capture->images && capture->images[row].lacks_jemalloc;
		fact.cmdline = strdup(snapshot_text(snapshot, process->cmdline));
		fact.exe = strdup(snapshot_text(snapshot, process->exe));
		if (!fact.cmdline || !fact.exe || array_append(&kept.list, fact) < 0) {
			free(fact.cmdline);
			free(fact.exe);
			return -ENOMEM;
		}
	}
	capture->sampling->facts = kept;
	kept = old;
	return 0;
}
