/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "model/counter.h"
#include "model/scope/phase_rows.h"

/*
 * A label's part of the interval since the last sample: first_ns of it at the beginning (the label
 * was open then), last_ns at the end (it is open now).
 */
struct cover {
	uint32_t phase;
	uint64_t first_ns, last_ns, self_ns;
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

	if (before < NO_SCOPE && known < interval_ns) {
		cover = cover_get(covers, before);
		counter_raise(&cover->first_ns, interval_ns - known);
	}
	if (now < NO_SCOPE) {
		cover = cover_get(covers, now);
		cover->is_open = true;
		counter_raise(&cover->last_ns, known);
	}
}

/* The times of the interval in which no deeper scope was open; they are next to each other. */
struct rest {
	uint64_t from_ns, to_ns;
};

/* Gives each label the time in which it was the innermost.  `begin_ns`: of the scope that is now. */
static void cover_self(struct covers *covers, struct rest *rest, uint32_t before, uint32_t now,
		       uint64_t begin_ns)
{
	if (now != NO_SCOPE && begin_ns < rest->to_ns) {
		uint64_t from = begin_ns > rest->from_ns ? begin_ns : rest->from_ns;

		if (now != NO_PHASE)
			cover_get(covers, now)->self_ns += rest->to_ns - from;
		rest->to_ns = from;
	}
	if (before != NO_SCOPE && begin_ns > rest->from_ns) {
		uint64_t to = smaller(begin_ns, rest->to_ns);

		if (before != NO_PHASE)
			cover_get(covers, before)->self_ns += to - rest->from_ns;
		rest->from_ns = to;
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
static uint64_t cpu_of(uint64_t covered_ns, uint64_t interval_ns, uint64_t cpu_ns)
{
	uint64_t cpu = interval_ns ? (uint64_t)((double)smaller(cpu_ns, interval_ns) *
						((double)covered_ns / (double)interval_ns)) :
				     0;

	return smaller(cpu, covered_ns);
}

static void add_time(struct phase *phase, uint64_t covered_ns, uint64_t self_ns,
		     uint64_t interval_ns, const uint64_t *cpu_ns)
{
	uint64_t cpu, self_cpu;

	counter_add(&phase->wall_ns, covered_ns);
	counter_add(&phase->self_wall_ns, self_ns);
	if (!cpu_ns)
		return;
	cpu = cpu_of(covered_ns, interval_ns, *cpu_ns);
	self_cpu = cpu_of(self_ns, interval_ns, *cpu_ns);
	phase->has_cpu = true;
	counter_add(&phase->cpu_ns, cpu);
	counter_add(&phase->self_cpu_ns, self_cpu);
	counter_add(&phase->off_cpu_ns, covered_ns - cpu);
	counter_add(&phase->self_off_cpu_ns, self_ns - self_cpu);
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
		add_time(phase, smaller(covered, interval_ns), cover->self_ns, interval_ns,
			 sample->has_cpu ? &cpu_ns : NULL);
		phase->is_partial |= !sample->keeps_statistics;
		if (!cover->is_open)
			continue;
		phase->samples++;
		status = note_seen(phase, thread, cover->phase);
	}
	return status;
}

static void cover_stacks(struct covers *covers, const struct phase_thread *thread,
			 const uint32_t *stack, const struct thread_sample *sample, size_t count,
			 uint64_t interval_ns)
{
	struct rest rest = { 0, interval_ns };

	for (size_t i = count > thread->depth ? count : thread->depth; i > 0; i--) {
		uint32_t before = i <= thread->depth ? thread->stack[i - 1] : NO_SCOPE;
		uint32_t now = i <= count ? stack[i - 1] : NO_SCOPE;
		uint64_t known = known_ns(sample, i - 1, count, interval_ns);

		cover_depth(covers, before, now, known, interval_ns);
		cover_self(covers, &rest, before, now, interval_ns - known);
	}
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
	cover_stacks(&covers, thread, stack, sample, count, interval_ns);
	status = add_covers(phases, thread, &covers, sample, interval_ns);
	phase_note_waits(phases, process, stack, sample, count);
	memcpy(thread->stack, stack, count * sizeof(*stack));
	thread->depth = count;
	counter_raise(&thread->time_ns, sample->time_ns);
	counter_raise(&thread->cpu_ns, sample->cpu_ns);
	return status;
}
