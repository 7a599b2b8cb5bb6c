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

struct process_fact *process_facts_find(const struct process_facts *known,
					const struct process *process,
					const struct walked_process *walked)
{
	struct process_fact *fact = array_find(&known->list, &process->tgid, compare_tgids);

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

static int copy_texts(const struct snapshot *snapshot, const struct process *process,
		      struct process_fact *ret)
{
	ret->cmdline = strdup(snapshot_text(snapshot, process->cmdline));
	ret->exe = strdup(snapshot_text(snapshot, process->exe));
	return ret->cmdline && ret->exe ? 0 : -ENOMEM;
}

/* Takes the texts from what was known before, if the capture took them from there. */
static int keep_process(struct capture *capture, uint32_t row, const struct walked_process *walked,
			struct process_facts *kept)
{
	const struct process *process = &capture->snapshot->processes[row];
	struct process_fact *known = process_facts_find(&capture->sampling->facts, process, walked);
	struct process_fact fact = {
		.tgid = process->tgid,
		.start_time_ns = process->start_time_ns,
		.exec_id = walked->exec_id,
		.arg_start = walked->arg_start,
		.executable_pages = walked->executable_pages,
		.lacks_jemalloc = capture->images && capture->images[row].lacks_jemalloc,
	};
	int status = 0;

	if (known) {
		fact.cmdline = TAKE_PTR(known->cmdline);
		fact.exe = TAKE_PTR(known->exe);
	} else {
		status = copy_texts(capture->snapshot, process, &fact);
	}
	if (status == 0)
		status = array_append(&kept->list, fact);
	if (status < 0) {
		free(fact.cmdline);
		free(fact.exe);
	}
	return status;
}

int process_facts_keep(struct capture *capture)
{
	CLEANUP(process_facts_clear) struct process_facts kept = { 0 };
	const struct snapshot *snapshot = capture->snapshot;
	int status = 0;

	for (uint32_t row = 0; row < snapshot->process_count && status == 0; row++) {
		const struct process *process = &snapshot->processes[row];
		const struct walked_process *walked = walked_process_find(capture, process);

		if (is_complete(capture, process, walked))
			status = keep_process(capture, row, walked, &kept);
	}
	process_facts_clear(&capture->sampling->facts);
	if (status == 0) {
		capture->sampling->facts = kept;
		kept = (struct process_facts){ 0 };
	}
	return status;
}
