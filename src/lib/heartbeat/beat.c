/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/beat.h"

#include <stddef.h>
#include <unistd.h>

#include "lib/area.h"
#include "lib/block.h"
#include "lib/usage/process_usage.h"
#include "lib/usage/thread_usage.h"

/* A shorter window says nothing about CPU usage. */
enum { SHORTEST_WINDOW_NS = 100 * 1000 * 1000 };

int beat_init(struct beat *beat)
{
	int error = progress_init(&beat->progress);

	if (!error)
		error = burners_init(&beat->burners);
	if (error)
		beat_clear(beat);
	return error;
}

void beat_begin(struct beat *beat, uint64_t now_ns)
{
	beat->started_ns = LOAD(area.header->anchor_ns); /* readers outside use the same */
	beat->base = (struct beat_base){ .ns = now_ns, .cpu_ns = process_cpu_ns() };
	beat->previous = beat->base;
	beat->told_lost = LOAD(area.header->lost_lines);
	beat->burners.own_tid = gettid();
	burners_mark(&beat->burners, now_ns);
}

void beat_clear(struct beat *beat)
{
	progress_clear(&beat->progress);
	burners_clear(&beat->burners);
}

void beat_mark(struct beat *beat, const struct look *look)
{
	if (look->ns - beat->base.ns < SHORTEST_WINDOW_NS)
		return;
	beat->previous = beat->base;
	beat->base = (struct beat_base){ .ns = look->ns, .cpu_ns = process_cpu_ns() };
	progress_mark(&beat->progress, look);
	burners_mark(&beat->burners, look->ns);
}

static const struct look_frame *deepest(const struct look_thread *thread)
{
	return &thread->frames[thread->depth - 1];
}

/* Threads that work come before those that wait for work; then the oldest innermost scope first. */
static bool comes_before(const struct look_thread *one, const struct look_thread *other)
{
	if (one->is_idle != other->is_idle)
		return other->is_idle;
	if (deepest(one)->entered_ticks != deepest(other)->entered_ticks)
		return deepest(one)->entered_ticks < deepest(other)->entered_ticks;
	return one->slot < other->slot;
}

/* The thread after `last` in that order, or the first one; NULL: there are no more. */
static const struct look_thread *next_thread(const struct look *look,
					     const struct look_thread *last)
{
	const struct look_thread *best = NULL;

	for (uint32_t i = 0; i < look->thread_count; i++) {
		const struct look_thread *thread = &look->threads[i];

		if (!thread->depth || (last && !comes_before(last, thread)))
			continue;
		if (!best || comes_before(thread, best))
			best = thread;
	}
	return best;
}

static uint32_t count_threads(const struct look *look)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < look->thread_count; i++)
		count += look->threads[i].depth || look->threads[i].is_changing;
	return count;
}

static void add_usage(struct line *line)
{
	struct process_usage usage = process_usage_read();

	line_add_amount(line, LINE_BYTES, "rss", usage.rss);
	line_add_amount(line, LINE_BYTES, "peak_rss", usage.peak_rss);
	line_add_amount(line, LINE_COUNT, "process_threads", usage.threads);
	line_add_amount(line, LINE_BYTES, "read_bytes", usage.read_bytes);
	line_add_amount(line, LINE_BYTES, "write_bytes", usage.written_bytes);
}

/* Right after a mark there is too little time to average over: use the previous window. */
static const struct beat_base *base_of(const struct beat *beat, const struct look *look)
{
	return look->ns - beat->base.ns < SHORTEST_WINDOW_NS ? &beat->previous : &beat->base;
}

/* cpu=1.2/16 cores (avg over 1m00s) */
static void add_cpu(const struct beat *beat, const struct look *look, struct line *line)
{
	struct amount now = process_cpu_ns(), window = { 0 }, cpus = { 0 };
	const struct beat_base *base = base_of(beat, look);
	uint64_t passed = look->ns - base->ns;
	bool is_known = now.is_known && base->cpu_ns.is_known;
	double cores = 0;

	if (is_known && passed >= SHORTEST_WINDOW_NS) {
		window = amount_of(passed);
		cpus = process_cpus();
		cores = (double)(now.value - base->cpu_ns.value) / (double)passed;
	}
	line_add(line, &(struct line_field){ .type = LINE_CORES,
					     .key = "cpu_cores",
					     .before = " cpu=",
					     .missing = is_known ? "<warming-up>" : NULL,
					     .amount = { .is_known = window.is_known },
					     .real = cores });
	line_add(line, &(struct line_field){ .type = LINE_COUNT,
					     .key = "cpus",
					     .before = "/",
					     .missing = "",
					     .amount = cpus });
	line_add(line, &(struct line_field){ .type = LINE_DURATION,
					     .key = "window",
					     .before = " cores (avg over ",
					     .after = ")",
					     .missing = "",
					     .amount = window });
}

static void add_active(const struct beat *beat, const struct look *look, struct line *line)
{
	const struct look_thread *thread = next_thread(look, NULL);
	struct amount age = { 0 };
	const char *label = NULL;

	if (thread && thread->is_idle)
		thread = NULL;
	if (thread) {
		age = amount_of(look_age_ns(look, deepest(thread)->entered_ticks));
		label = look_label(thread, deepest(thread));
	}
	line_add(line, &(struct line_field){ .type = LINE_LABEL,
					     .key = "active",
					     .missing = thread ? NULL : "<idle>",
					     .text = label });
	line_add(line, &(struct line_field){ .type = LINE_DURATION,
					     .key = "active",
					     .before = " for ",
					     .missing = "",
					     .amount = age });
	progress_add(&beat->progress, look, thread, line);
}

static void print_headline(const struct beat *beat, const struct look *look, bool is_final,
			   struct output *output)
{
	struct line line;

	line_begin(&line, is_final ? LINE_FINAL : LINE_HEARTBEAT, area.header->pid);
	line_add_duration(&line, "elapsed", look->ns - beat->started_ns);
	add_usage(&line);
	add_cpu(beat, look, &line);
	line_add_count(&line, "instrumented_threads", count_threads(look));
	add_active(beat, look, &line);
	output_line(output, &line);
}

static void print_phase(const struct beat *beat, const struct look *look,
			const struct look_thread *thread, struct output *output)
{
	char name[THREAD_WORD_SIZE];
	struct amount idle = { .is_known = thread->is_idle,
			       .value = look_age_ns(look, thread->idle_ticks) };
	struct line line;

	if (!*thread->name)
		thread_name(thread->tid, name);
	line_begin(&line, LINE_PHASE, area.header->pid);
	line_add_thread(&line, thread->tid, *thread->name ? thread->name : name);
	line_add_count(&line, "depth", thread->depth + (uint64_t)thread->hidden);
	line_add_label(&line, "deepest", look_label(thread, deepest(thread)));
	line_add_duration(&line, "in_frame", look_age_ns(look, deepest(thread)->entered_ticks));
	line_add_duration(&line, "updated_ago", look_age_ns(look, thread->changed_ticks));
	line_add(&line,
		 &(struct line_field){
			 .type = LINE_DURATION, .key = "idle", .missing = "", .amount = idle });
	progress_add(&beat->progress, look, thread, &line);
	output_line(output, &line);
}

static void print_phases_left(uint32_t left, struct output *output)
{
	struct line line;

	line_begin(&line, LINE_PHASES_LEFT, area.header->pid);
	line_add(&line, &(struct line_field){ .type = LINE_COUNT,
					      .key = "left",
					      .before = " ... and ",
					      .after = left == 1 ? " more thread" : " more threads",
					      .amount = amount_of(left) });
	output_line(output, &line);
}

static void print_phases(const struct beat *beat, const struct look *look, struct output *output)
{
	const struct look_thread *thread = NULL;
	uint32_t left = count_threads(look);

	for (uint32_t i = 0; i < beat->phase_lines; i++) {
		thread = next_thread(look, thread);
		if (!thread)
			break;
		print_phase(beat, look, thread, output);
		left--;
	}
	if (left && beat->phase_lines)
		print_phases_left(left, output);
}

/* Says how many lines the reader did not take, once it reads again. */
static void print_lost(struct beat *beat, struct output *output)
{
	uint64_t lost = LOAD(area.header->lost_lines);
	struct line line;

	if (lost == beat->told_lost)
		return;
	line_begin(&line, LINE_LOST, area.header->pid);
	line_add_count(&line, "lines", lost - beat->told_lost);
	line_add_remark(&line, "were not taken by their reader");
	output_line(output, &line);
	beat->told_lost = lost;
}

void beat_print(struct beat *beat, const struct look *look, bool is_final, struct output *output)
{
	print_lost(beat, output);
	print_headline(beat, look, is_final, output);
	if (is_final)
		return;
	print_phases(beat, look, output);
	burners_print(&beat->burners, look, output);
}
