/* SPDX-License-Identifier: MIT */
#include "model/counter.h"
#include "model/scope/phase_rows.h"

void phase_add_wait(struct phase *phase, const struct phase_process *process, uint64_t ns,
		    uint64_t self_ns)
{
	if (phase->is_unnumbered && phase->label[0])
		return;
	phase->has_waits |= process->following != PHASE_NOT_FOLLOWED;
	phase->lacks_waits |= process->following != PHASE_FOLLOWED;
	counter_add(&phase->waits_ns, ns);
	counter_add(&phase->self_waits_ns, self_ns);
}

/* A label counts once, however often it is on the stack. */
static void add_waits(struct phases *phases, const struct phase_process *process,
		      const uint32_t *stack, size_t count, uint64_t ns)
{
	for (size_t i = 0; i < count; i++) {
		bool is_again = false;

		for (size_t k = i + 1; k < count; k++)
			is_again |= stack[k] == stack[i];
		if (!is_again && stack[i] < NO_SCOPE)
			phase_add_wait(&phases->list.data[stack[i]], process, ns,
				       i + 1 == count ? ns : 0);
	}
}

int phase_wait(struct phases *phases, struct phase_process *process, const char *const *labels,
	       size_t count, uint64_t ns)
{
	uint32_t stack[SCOPE_FRAMES];

	for (size_t i = 0; i < count && i < SCOPE_FRAMES; i++) {
		struct phase_row *row;
		int status = phase_get(phases, process, labels[i], &row);

		if (status < 0)
			return status;
		stack[i] = row ? row->phase : NO_PHASE;
	}
	add_waits(phases, process, stack, count < SCOPE_FRAMES ? count : SCOPE_FRAMES, ns);
	return 0;
}

void phase_wait_thread(struct phases *phases, const struct phase_process *process,
		       const struct phase_thread *thread, uint64_t ns)
{
	add_waits(phases, process, thread->stack, thread->depth, ns);
}

void phase_lose_waits(struct phases *phases, struct phase_process *process)
{
	process->following = PHASE_NOT_FOLLOWED;
	for (size_t i = 0; i < process->rows.count; i++)
		phases->list.data[process->rows.data[i].phase].has_lost_waits = true;
}

/*
 * Notes which labels have waits, also those that never wait.  A label without a number has none:
 * its time off the CPU stays an estimate.
 */
void phase_note_waits(struct phases *phases, const struct phase_process *process,
		      const uint32_t *stack, const struct thread_sample *sample, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (stack[i] < NO_SCOPE && !sample->scopes[i].has_number)
			phases->list.data[stack[i]].is_unnumbered = true;
	add_waits(phases, process, stack, count, sample->wait_ns);
}

/*
 * A label whose scopes were shorter than the time between two samples may have waited for longer
 * than the estimate of its time.
 */
void phase_take_waits(struct phase *phase)
{
	phase->has_waits &= !phase->has_lost_waits;
	if (!phase->has_waits)
		return;
	phase->is_off_cpu_exact = !phase->lacks_waits;
	phase->off_cpu_ns = phase->waits_ns;
	phase->self_off_cpu_ns = phase->self_waits_ns;
	phase->waits_ns = phase->self_waits_ns = 0;
	phase->lacks_waits = false;
	phase->has_waits = !phase->samples;
	if (phase->has_waits)
		return;
	counter_raise(&phase->wall_ns, phase->off_cpu_ns);
	counter_raise(&phase->self_wall_ns, phase->self_off_cpu_ns);
	phase->has_cpu = true;
	phase->cpu_ns = phase->wall_ns - phase->off_cpu_ns;
	phase->self_cpu_ns = phase->self_wall_ns - phase->self_off_cpu_ns;
}
