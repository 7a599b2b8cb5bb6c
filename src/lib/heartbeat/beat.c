/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/beat.h"

#include <stddef.h>
#include <unistd.h>

#include "lib/scope/area.h"
#include "lib/scope/block.h"
#include "lib/usage/own_usage.h"

/* A shorter window says nothing about CPU usage. */
enum { SHORTEST_WINDOW_NS = 100 * 1000 * 1000 };

void beat_begin(struct beat *beat, uint64_t now_ns)
{
	beat->started_ns = LOAD(area.header->anchor_ns); /* readers outside use the same */
	beat->base = (struct beat_base){ .ns = now_ns, .cpu_ns = process_cpu_ns() };
	beat->previous = beat->base;
	beat->reported_lost = LOAD(area.header->lost_lines);
	beat->burners.own_tid = gettid();
	burners_mark(&beat->burners, now_ns);
}

void beat_mark(struct beat *beat, const struct stacks *stacks)
{
	if (stacks->ns - beat->base.ns < SHORTEST_WINDOW_NS)
		return;
	beat->previous = beat->base;
	beat->base = (struct beat_base){ .ns = stacks->ns, .cpu_ns = process_cpu_ns() };
	progress_mark(&beat->progress, stacks);
	burners_mark(&beat->burners, stacks->ns);
}

static const struct scope_frame *deepest(const struct stack *thread)
{
	return &thread->frames[thread->depth - 1];
}

/* Threads that work come before those that wait for work; then the oldest innermost scope first. */
static bool comes_before(const struct stack *one, const struct stack *other)
{
	if (one->is_idle != other->is_idle)
		return other->is_idle;
	if (deepest(one)->entered_ticks != deepest(other)->entered_ticks)
		return deepest(one)->entered_ticks < deepest(other)->entered_ticks;
	return one->slot < other->slot;
}

/* The thread after `last` in that order, or the first one; NULL: there are no more. */
static const struct stack *next_thread(const struct stacks *stacks, const struct stack *last)
{
	const struct stack *best = NULL;

	for (uint32_t i = 0; i < stacks->thread_count; i++) {
		const struct stack *thread = &stacks->threads[i];

		if (!thread->depth || (last && !comes_before(last, thread)))
			continue;
		if (!best || comes_before(thread, best))
			best = thread;
	}
	return best;
}

static uint32_t count_threads(const struct stacks *stacks)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < stacks->thread_count; i++)
		count += stacks->threads[i].depth || stacks->threads[i].is_changing;
	return count;
}

static void add_usage(struct line *line)
{
	struct process_usage usage = process_usage_read();

	line_add(line, "rss", line_amount(LINE_BYTES, usage.rss));
	line_add(line, "peak_rss", line_amount(LINE_BYTES, usage.peak_rss));
	line_add(line, "process_threads", line_amount(LINE_COUNT, usage.threads));
	line_add(line, "read_bytes", line_amount(LINE_BYTES, usage.read_bytes));
	line_add(line, "write_bytes", line_amount(LINE_BYTES, usage.written_bytes));
}

/* Right after a mark there is too little time to average over: use the previous window. */
static const struct beat_base *base_of(const struct beat *beat, const struct stacks *stacks)
{
	return stacks->ns - beat->base.ns < SHORTEST_WINDOW_NS ? &beat->previous : &beat->base;
}

/* cpu=1.2/16 cores (avg over 1m00s) */
static void add_cpu(const struct beat *beat, const struct stacks *stacks, struct line *line)
{
	struct amount now = process_cpu_ns(), window = { 0 }, cpus = { 0 };
	const struct beat_base *base = base_of(beat, stacks);
	uint64_t passed = stacks->ns - base->ns;
	bool is_known = now.is_known && base->cpu_ns.is_known;
	double cores = 0;

	if (is_known && passed >= SHORTEST_WINDOW_NS) {
		window = amount_of(passed);
		cpus = process_cpus();
		cores = (double)(now.value - base->cpu_ns.value) / (double)passed;
	}
	line_add_as(line, "cpu_cores", " cpu=*", is_known ? "<warming-up>" : NULL,
		    line_real(LINE_CORES, window.is_known, cores));
	line_add_as(line, "cpus", "/*", "", line_amount(LINE_COUNT, cpus));
	line_add_as(line, "window", " cores (avg over *)", "", line_amount(LINE_DURATION, window));
}

static void add_active(const struct beat *beat, const struct stacks *stacks, struct line *line)
{
	const struct stack *thread = next_thread(stacks, NULL);
	struct amount age = { 0 };
	const char *label = NULL;

	if (thread && thread->is_idle)
		thread = NULL;
	if (thread) {
		age = amount_of(stacks_age_ns(stacks, deepest(thread)->entered_ticks));
		label = stack_label(thread, deepest(thread));
	}
	line_add_as(line, "active", NULL, thread ? NULL : "<idle>", line_text(LINE_LABEL, label));
	line_add_as(line, "active", " for *", "", line_amount(LINE_DURATION, age));
	progress_add(&beat->progress, stacks, thread, line);
}

static void print_headline(const struct beat *beat, const struct stacks *stacks, bool is_final,
			   struct output *output)
{
	struct line line;

	line_begin(&line, is_final ? LINE_FINAL : LINE_HEARTBEAT, area.header->pid);
	line_add_duration(&line, "elapsed", stacks->ns - beat->started_ns);
	add_usage(&line);
	add_cpu(beat, stacks, &line);
	line_add_count(&line, "instrumented_threads", count_threads(stacks));
	add_active(beat, stacks, &line);
	output_line(output, &line);
}

static void print_phase(const struct beat *beat, const struct stacks *stacks,
			const struct stack *thread, struct output *output)
{
	char name[THREAD_WORD_SIZE];
	struct amount idle = { .is_known = thread->is_idle,
			       .value = stacks_age_ns(stacks, thread->idle_ticks) };
	struct line line;

	stack_name(thread, name);
	line_begin(&line, LINE_PHASE, area.header->pid);
	line_add_thread(&line, thread->tid, name);
	line_add_count(&line, "depth", thread->depth + (uint64_t)thread->hidden);
	line_add(&line, "deepest", line_text(LINE_LABEL, stack_label(thread, deepest(thread))));
	line_add_duration(&line, "in_frame", stacks_age_ns(stacks, deepest(thread)->entered_ticks));
	line_add_duration(&line, "updated_ago", stacks_age_ns(stacks, thread->changed_ticks));
	line_add_as(&line, "idle", NULL, "", line_amount(LINE_DURATION, idle));
	progress_add(&beat->progress, stacks, thread, &line);
	output_line(output, &line);
}

static void print_phases(const struct beat *beat, const struct stacks *stacks,
			 struct output *output)
{
	const struct stack *thread = NULL;
	uint32_t left = count_threads(stacks);

	for (uint32_t i = 0; i < beat->phase_lines; i++) {
		thread = next_thread(stacks, thread);
		if (!thread)
			break;
		print_phase(beat, stacks, thread, output);
		left--;
	}
	if (left && beat->phase_lines)
		output_left(output, LINE_PHASES_LEFT,
			    left == 1 ? " ... and * more thread" : " ... and * more threads", left);
}

/* Says how many lines the reader did not take, once it reads again. */
static void print_lost(struct beat *beat, struct output *output)
{
	uint64_t lost = LOAD(area.header->lost_lines);
	struct line line;

	if (lost == beat->reported_lost)
		return;
	line_begin(&line, LINE_LOST, area.header->pid);
	line_add_as(&line, "lines", " lines=* were not taken by their reader", NULL,
		    line_amount(LINE_COUNT, amount_of(lost - beat->reported_lost)));
	output_line(output, &line);
	beat->reported_lost = lost;
}

void beat_print(struct beat *beat, const struct stacks *stacks, bool is_final,
		struct output *output)
{
	print_lost(beat, output);
	print_headline(beat, stacks, is_final, output);
	if (is_final)
		return;
	print_phases(beat, stacks, output);
	burners_print(&beat->burners, stacks, output);
}
