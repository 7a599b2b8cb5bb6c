/* SPDX-License-Identifier: MIT */
#include "model/scope/phase.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/counter.h"

#define NO_PHASE UINT32_MAX

/*
 * A label's part of the interval since the last sample: first_ns of it at the beginning (the label
 * was open then), last_ns at the end (it is open now).
 */
struct cover {
	uint32_t phase;
	uint64_t first_ns, last_ns;
	bool is_open;
};

struct covers {
	struct cover list[2 * SCOPE_FRAMES];
	size_t count;
};

static uint64_t smaller(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

static uint64_t left_of(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

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
		if (phases->list.data[i].samples || phases->list.data[i].count)
			phases->list.data[kept++] = phases->list.data[i];
	phases->list.count = kept;
}

void phases_sort(struct phases *phases)
{
	drop_unused(phases);
	if (phases->list.count)
		qsort(phases->list.data, phases->list.count, sizeof(struct phase), compare_phases);
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
		process->rows.data[i].count = process->rows.data[i].total_ns = 0;
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
	struct phase phase = { .process = process->key };

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

/* *ret is NULL when there is no room for another label. */
static int phase_get(struct phases *phases, struct phase_process *process, const char *label,
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

/* Usually the label at this depth is the one of the last sample: try that first. */
static int phase_at(struct phases *phases, struct phase_process *process,
		    const struct phase_thread *thread, size_t depth, const char *label,
		    uint32_t *ret)
{
	uint32_t before = depth < thread->depth ? thread->stack[depth] : NO_PHASE;
	struct phase_row *row;
	int status;

	if (before != NO_PHASE && strcmp(phases->list.data[before].label, label) == 0) {
		*ret = before;
		return 0;
	}
	status = phase_get(phases, process, label, &row);
	if (status == 0)
		*ret = row ? row->phase : NO_PHASE;
	return status;
}

static struct cover *cover_get(struct covers *covers, uint32_t phase)
{
	for (size_t i = 0; i < covers->count; i++)
		if (covers->list[i].phase == phase)
			return &covers->list[i];
	covers->list[covers->count] = (struct cover){ .phase = phase };
	return &covers->list[covers->count++];
}

/* For how much of the interval the scope at this depth has been as it is now. */
static uint64_t known_ns(const struct thread_sample *sample, size_t depth, size_t count,
			 uint64_t interval_ns)
{
	return smaller(depth < count ? sample->scopes[depth].age_ns : sample->changed_ns,
		       interval_ns);
}

static void cover_depth(struct covers *covers, uint32_t before, uint32_t now, uint64_t known,
			uint64_t interval_ns)
{
	struct cover *cover;

	if (before != NO_PHASE && known < interval_ns) {
		cover = cover_get(covers, before);
		counter_raise(&cover->first_ns, interval_ns - known);
	}
	if (now != NO_PHASE) {
		cover = cover_get(covers, now);
		cover->is_open = true;
		counter_raise(&cover->last_ns, known);
	}
}

static int note_seen(struct phase *phase, struct phase_thread *thread, uint32_t number)
{
	for (size_t i = 0; i < thread->seen.count; i++)
		if (thread->seen.data[i] == number)
			return 0;
	if (array_append(&thread->seen, number) < 0)
		return -ENOMEM;
	phase->threads++;
	return 0;
}

/* Assumes that CPU time is spread evenly over the interval. */
static void add_time(struct phase *phase, uint64_t covered_ns, uint64_t interval_ns,
		     const uint64_t *cpu_ns)
{
	uint64_t cpu;

	counter_add(&phase->wall_ns, covered_ns);
	if (!cpu_ns)
		return;
	cpu = interval_ns ? (uint64_t)((double)smaller(*cpu_ns, interval_ns) *
				       ((double)covered_ns / (double)interval_ns)) :
			    0;
	cpu = smaller(cpu, covered_ns);
	phase->has_cpu = true;
	counter_add(&phase->cpu_ns, cpu);
	counter_add(&phase->off_cpu_ns, covered_ns - cpu);
}

static int add_covers(struct phases *phases, struct phase_thread *thread,
		      const struct covers *covers, const struct thread_sample *sample,
		      uint64_t interval_ns)
{
	uint64_t cpu_ns = left_of(sample->cpu_ns, thread->cpu_ns);
	int status = 0;

	for (size_t i = 0; i < covers->count && status == 0; i++) {
		const struct cover *cover = &covers->list[i];
		struct phase *phase = &phases->list.data[cover->phase];
		uint64_t covered = cover->last_ns;

		counter_add(&covered, cover->first_ns);
		add_time(phase, smaller(covered, interval_ns), interval_ns,
			 sample->has_cpu ? &cpu_ns : NULL);
		phase->is_partial |= !sample->keeps_statistics;
		if (!cover->is_open)
			continue;
		phase->samples++;
		status = note_seen(phase, thread, cover->phase);
	}
	return status;
}

int phase_sample(struct phases *phases, struct phase_process *process, struct phase_thread *thread,
		 const struct thread_sample *sample)
{
	size_t count = sample->count < SCOPE_FRAMES ? sample->count : SCOPE_FRAMES;
	uint64_t interval_ns = left_of(sample->time_ns, thread->time_ns);
	struct covers covers = { .count = 0 };
	uint32_t stack[SCOPE_FRAMES];
	int status = 0;

	for (size_t i = 0; i < count && status == 0; i++)
		status = phase_at(phases, process, thread, i, sample->scopes[i].label, &stack[i]);
	if (status < 0)
		return status;
	for (size_t i = 0; i < count || i < thread->depth; i++)
		cover_depth(&covers, i < thread->depth ? thread->stack[i] : NO_PHASE,
			    i < count ? stack[i] : NO_PHASE,
			    known_ns(sample, i, count, interval_ns), interval_ns);
	status = add_covers(phases, thread, &covers, sample, interval_ns);
	memcpy(thread->stack, stack, count * sizeof(*stack));
	thread->depth = count;
	counter_raise(&thread->time_ns, sample->time_ns);
	counter_raise(&thread->cpu_ns, sample->cpu_ns);
	return status;
}

static void add_count(struct phase *phase, struct phase_row *row, const struct scope_label_use *use,
		      bool is_base)
{
	uint64_t count = counter_raise(&row->count, use->count);
	uint64_t total_ns = counter_raise(&row->total_ns, use->total_ns);

	if (is_base)
		return;
	phase->has_count = true;
	counter_add(&phase->count, count);
	counter_add(&phase->total_ns, total_ns);
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
			add_count(&phases->list.data[row->phase], row, use, is_base);
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
