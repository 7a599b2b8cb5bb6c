/* SPDX-License-Identifier: MIT */
/*
 * Calculates the share of a process's ended threads: the kernel's sum over the process minus the
 * sum over its living threads.
 */
#include <string.h>

#include "collect/proc/proc_task.h"

void proc_group_add(struct proc_reader *reader, enum proc_file file)
{
	const struct proc_plan *plan = &reader->context->plans[file];
	const struct proc_values *values = &reader->values;
	struct proc_sums *sums = &reader->sums[file];

	for (uint64_t bits = values->present & plan->group; bits; bits &= bits - 1) {
		int i = __builtin_ctzll(bits);

		sums->sum[i] += values->raw[i];
		sums->measured[i]++;
	}
}

/*
 * Reads the kernel's own sums over a process.  If `before` is given, reads only what could be read
 * then.
 */
static void read_group(struct proc_reader *reader, int dir, const struct proc_group *before,
		       struct proc_group *ret)
{
	ret->threads = 0;
	for (int file = 0; file < PROC_FILES; file++) {
		const struct proc_plan *plan = &reader->context->plans[file];
		struct proc_identity identity;

		ret->values[file].present = 0;
		if (file != PROC_STAT && (!plan->group || !proc_is_read(reader->context, file) ||
					  (before && !before->values[file].present)))
			continue;
		if (proc_read(dir, proc_files[file].name, &reader->buffer) < 0)
			continue;
		proc_files[file].parse(reader->buffer.data, plan, &ret->values[file]);
		if (file == PROC_STAT && proc_parse_identity(reader->buffer.data, &identity))
			ret->threads = identity.threads;
	}
}

/*
 * The share of the dead threads is the process's sum minus that of its living threads.  The
 * threads run on while they are read one after the other.  If the kernel's sum is the same before
 * and after, nothing changed meanwhile, and the share is exact.
 */
static void store_dead(struct proc_reader *reader, const struct proc_job *job, enum proc_file file)
{
	const struct proc_plan *plan = &reader->context->plans[file];
	const struct proc_values *before = &reader->before.values[file];
	const struct proc_values *after = &reader->after.values[file];
	const struct proc_sums *sums = &reader->sums[file];

	for (uint64_t bits = before->present & after->present & plan->group; bits;
	     bits &= bits - 1) {
		int i = __builtin_ctzll(bits);

		if (before->raw[i] == after->raw[i] && sums->measured[i] == job->task_count &&
		    after->raw[i] >= sums->sum[i])
			proc_store_item(reader, &plan->items[i], after->raw[i] - sums->sum[i],
					job->process);
	}
}

void proc_group_begin(struct proc_reader *reader, int process)
{
	memset(reader->sums, 0, sizeof(reader->sums));
	read_group(reader, process, NULL, &reader->before);
}

void proc_group_end(struct proc_reader *reader, const struct proc_job *job, int process)
{
	read_group(reader, process, &reader->before, &reader->after);
	if (reader->before.threads != job->task_count || reader->after.threads != job->task_count)
		return;
	for (int file = 0; file < PROC_FILES; file++)
		store_dead(reader, job, file);
}
