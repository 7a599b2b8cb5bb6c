/* SPDX-License-Identifier: MIT */
#include "model/scope/phase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/counter.h"
#include "model/scope/phase_rows.h"

static uint64_t time_of(const struct phase *phase)
{
	return phase->has_count && phase->total_ns > phase->wall_ns ? phase->total_ns :
								      phase->wall_ns;
}

static int compare_phases(const void *one, const void *other)
{
	const struct phase *first = one, *second = other;
	uint64_t time = time_of(first), others = time_of(second);

	if (time != others)
		return time < others ? 1 : -1;
	if (first->process.pid != second->process.pid)
		return first->process.pid < second->process.pid ? -1 : 1;
	if (first->process.start_ns != second->process.start_ns)
		return first->process.start_ns < second->process.start_ns ? -1 : 1;
	return strcmp(first->label, second->label);
}

/* Drops labels of a program that was already running that no thread entered while watched. */
static void drop_unused(struct phases *phases)
{
	size_t kept = 0;

	for (size_t i = 0; i < phases->list.count; i++)
		if (phases->list.data[i].samples || phases->list.data[i].count ||
		    phases->list.data[i].waits_ns)
			phases->list.data[kept++] = phases->list.data[i];
	phases->list.count = kept;
}

void phases_sort(struct phases *phases)
{
	drop_unused(phases);
	for (size_t i = 0; i < phases->list.count; i++)
		phase_take_waits(&phases->list.data[i]);
	array_sort(&phases->list, compare_phases);
}

void phases_free(struct phases *phases)
{
	array_free(&phases->list);
}

static void thread_free(struct phase_thread *thread)
{
	array_free(&thread->seen);
	free(thread);
}

void phase_process_free(struct phase_process *process)
{
	for (size_t i = 0; i < process->threads.count; i++)
		thread_free(process->threads.data[i]);
	array_free(&process->threads);
	number_map_clear(&process->numbers);
	array_free(&process->rows);
}

void phase_process_forget(struct phase_process *process)
{
	for (size_t i = 0; i < process->threads.count; i++)
		process->threads.data[i]->depth = 0;
	for (size_t i = 0; i < process->rows.count; i++)
		process->rows.data[i] = (struct phase_row){ .phase = process->rows.data[i].phase };
}

struct phase_thread *phase_thread_find(const struct phase_process *process, int32_t own_tid)
{
	return number_map_get(&process->numbers, own_tid);
}

struct phase_thread *phase_thread_add(struct phase_process *process, int32_t own_tid,
				      uint64_t since_ns)
{
	struct phase_thread *thread = calloc(1, sizeof(*thread));

	if (!thread || number_map_reserve(&process->numbers) < 0 ||
	    array_append(&process->threads, thread) < 0) {
		free(thread);
		return NULL;
	}
	thread->own_tid = own_tid;
	thread->slot = process->threads.count - 1;
	thread->time_ns = since_ns;
	number_map_put(&process->numbers, own_tid, thread);
	return thread;
}

void phase_thread_remove(struct phase_process *process, struct phase_thread *thread)
{
	struct phase_thread *last = process->threads.data[--process->threads.count];

	process->threads.data[thread->slot] = last;
	last->slot = thread->slot;
	number_map_forget(&process->numbers, thread->own_tid, thread);
	thread_free(thread);
}

static int phase_add(struct phases *phases, struct phase_process *process, const char *label,
		     struct phase_row **ret)
{
	struct phase_row row = { .phase = (uint32_t)phases->list.count };
	struct phase phase = { .process = process->key, .has_self = true };

	*ret = NULL;
	if (phases->list.count == PHASES_MAX || process->rows.count == PHASES_OF_PROCESS) {
		counter_add(&phases->omitted, 1);
		return 0;
	}
	memcpy(phase.comm, process->comm, sizeof(phase.comm));
	memcpy(phase.label, label, strnlen(label, sizeof(phase.label) - 1));
	if (array_reserve(&process->rows, process->rows.count + 1) < 0 ||
	    array_append(&phases->list, phase) < 0)
		return -ENOMEM;
	process->rows.data[process->rows.count] = row;
	*ret = &process->rows.data[process->rows.count++];
	return 0;
}

int phase_get(struct phases *phases, struct phase_process *process, const char *label,
	      struct phase_row **ret)
{
	for (size_t i = 0; i < process->rows.count; i++) {
		struct phase_row *row = &process->rows.data[i];

		if (strcmp(phases->list.data[row->phase].label, label) == 0) {
			*ret = row;
			return 0;
		}
	}
	return phase_add(phases, process, label, ret);
}

static void add_count(struct phase *phase, const struct phase_process *process,
		      struct phase_row *row, const struct scope_label_use *use, bool is_base)
{
	uint64_t count = counter_raise(&row->count, use->count);
	uint64_t total_ns = counter_raise(&row->total_ns, use->total_ns);
	uint64_t self_ns = counter_raise(&row->self_total_ns, use->self_ns);

	if (is_base)
		return;
	phase->has_count = true;
	phase_add_wait(phase, process, 0, 0);
	counter_add(&phase->count, count);
	counter_add(&phase->total_ns, total_ns);
	counter_add(&phase->self_total_ns, self_ns);
}

int phase_count(struct phases *phases, struct phase_process *process, const struct scopes *scopes,
		bool is_base)
{
	for (size_t i = 0; i < scopes->labels.count; i++) {
		const struct scope_label_use *use = &scopes->labels.data[i];
		struct phase_row *row;
		int status = use->count ? phase_get(phases, process, use->label, &row) : 0;

		if (status < 0)
			return status;
		if (use->count && row)
			add_count(&phases->list.data[row->phase], process, row, use, is_base);
	}
	return 0;
}

void phase_now_set(struct phase_now *now, const struct scopes *scopes)
{
	const struct scope_task *task = scopes_oldest(scopes);
	const struct scope *innermost = task ? scopes_innermost(scopes, task) : NULL;
	const struct scope *outer = task ? scopes_progress(scopes, task) : NULL;

	if (!innermost || (now->present && innermost->age_ns <= now->innermost.age_ns))
		return;
	*now = (struct phase_now){ .present = true, .innermost = *innermost };
	now->has_outer = outer && outer != innermost;
	if (now->has_outer)
		now->outer = *outer;
}
