/* SPDX-License-Identifier: MIT */
#include "lib/heartbeat/progress.h"

enum { SHORTEST_WINDOW_NS = 50 * 1000 * 1000 };

void progress_mark(struct progress *progress, const struct stacks *stacks)
{
	progress->marked_ns = stacks->ns;
	for (uint32_t i = 0; i < stacks->thread_count; i++) {
		const struct stack *thread = &stacks->threads[i];
		struct progress_mark *marks = progress->marks[thread->slot];

		for (uint32_t frame = 0; frame < thread->depth; frame++)
			marks[frame] = (struct progress_mark){
				.generation = thread->frames[frame].generation,
				.count = thread->frames[frame].count,
			};
	}
}

static bool measure(const struct progress *progress, const struct stacks *stacks,
		    const struct stack *thread, const struct scope_frame *frame,
		    double *ret_per_second)
{
	const struct progress_mark *mark = &progress->marks[thread->slot][frame - thread->frames];
	uint64_t window = stacks->ns - progress->marked_ns;
	uint64_t steps = frame->count;

	if (mark->generation == frame->generation && mark->count <= frame->count &&
	    window >= SHORTEST_WINDOW_NS)
		steps -= mark->count;
	else
		window = stacks_age_ns(stacks, frame->entered_ticks);
	if (!window)
		return false;
	*ret_per_second = (double)steps / (double)window * 1e9;
	return true;
}

static struct amount time_left(const struct scope_frame *frame, double per_second)
{
	double nanoseconds;

	if (!frame->total || !(per_second > 0))
		return (struct amount){ 0 };
	if (frame->count >= frame->total)
		return amount_of(0);
	nanoseconds = (double)(frame->total - frame->count) / per_second * 1e9;
	return nanoseconds < 9e18 ? amount_of((uint64_t)nanoseconds) : (struct amount){ 0 };
}

void progress_add_count(const struct scope_frame *frame, struct line *line)
{
	struct amount count = { .is_known = frame, .value = frame ? frame->count : 0 };
	struct amount total = { .is_known = frame && frame->total };
	struct amount percent = { .is_known = total.is_known };

	if (total.is_known) {
		total.value = frame->total;
		percent.value = (uint64_t)((double)frame->count / (double)frame->total * 100);
	}
	line_add_as(line, "progress", NULL, "", line_amount(LINE_COUNT, count));
	line_add_as(line, "progress_total", "/*", frame ? "?" : "", line_amount(LINE_COUNT, total));
	line_add_as(line, NULL, " (*%)", "", line_amount(LINE_COUNT, percent));
}

void progress_add(const struct progress *progress, const struct stacks *stacks,
		  const struct stack *thread, struct line *line)
{
	const struct scope_frame *frame = thread ? stack_progress(thread) : NULL;
	double per_second = 0;
	bool has_rate = frame && measure(progress, stacks, thread, frame, &per_second);
	struct amount left = has_rate ? time_left(frame, per_second) : (struct amount){ 0 };

	progress_add_count(frame, line);
	line_add_as(line, "rate", " rate=*/s", "", line_real(LINE_REAL, has_rate, per_second));
	line_add_as(line, "eta", NULL, "", line_amount(LINE_DURATION, left));
}
