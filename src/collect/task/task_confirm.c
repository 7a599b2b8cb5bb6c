/* SPDX-License-Identifier: MIT */
/* Walks once more, to find out what became of processes. */
#include <errno.h>
#include <string.h>

#include "base/collection/array.h"
#include "collect/collector.h"
#include "collect/task/task_decoder.h"
#include "collect/task/task_iterator.h"
#include "collect/task/task_iterator_parts.h"
#include "collect/task/task_record.h"
#include "host/bpf.h"

#define FEW 16 /* so many processes are walked one by one; else a walk over all tasks is filtered */

/* The processes whose identity is checked again. */
struct confirmation {
	const struct capture *capture;
	struct task_decoder decoder;
	size_t affinity_words;
	const uint32_t *rows;
	enum process_change *changes;
	size_t count;
};

static enum process_change find_change(const struct confirmation *confirmation,
				       const struct process *process,
				       const struct task_record *record)
{
	const struct walked_process *walked = walked_process_find(confirmation->capture, process);

	if (process->tgid != (int32_t)record->task->tgid ||
	    process->start_time_ns != task_decoder_start_ns(&confirmation->decoder, record))
		return PROCESS_GONE;
	return walked && walked->exec_id == record->task->exec_id ? PROCESS_SAME : PROCESS_EXECUTED;
}

static int confirm_process(void *context, struct task_record *record)
{
	struct confirmation *confirmation = context;
	const struct process *processes = confirmation->capture->snapshot->processes;
	size_t at = array_bisect(confirmation->rows, confirmation->count,
				 processes[*item].tgid < (int32_t)record->task->tgid);

	if (at < confirmation->count && confirmation->changes[at] == PROCESS_GONE)
		confirmation->changes[at] =
			find_change(confirmation, &processes[confirmation->rows[at]], record);
	return 0;
}

static ssize_t consume_identities(void *context, const void *bytes, size_t length)
{
	struct confirmation *confirmation = context;

	return task_records_each(bytes, length, confirmation->affinity_words, confirm_process,
				 confirmation);
}

int task_iterator_confirm(struct task_iterator *iterator, const struct capture *capture,
			  const uint32_t *rows, enum process_change *ret, size_t count,
			  struct error *error)
{
	int program = iterator->fd;
	struct confirmation confirmation = {
		.capture = capture,
		.decoder = { .scale = capture->scale,
			     .boottime_offset_ns = host_boottime_offset_ns(capture->host) },
		.affinity_words = task_affinity_words(capture->host),
		.rows = rows,
		.changes = ret,
		.count = count,
	};
	int status = 0;

	memset(ret, 0, count * sizeof(*ret)); /* PROCESS_GONE */
	*iterator->only_identity = 1;
	for (size_t i = 0; i < count && count <= FEW && (status == 0 || status == -ESRCH); i++)
		status = host_bpf_iterate(program, capture->snapshot->processes[rows[i]].tgid,
					  consume_identities, &confirmation);
	if (count > FEW || status == -ENOTSUP)
		status = host_bpf_iterate(program, 0, consume_identities, &confirmation);
	*iterator->only_identity = 0;
	return status < 0 && status != -ESRCH ? host_bpf_explain(status, error) : 0;
}
