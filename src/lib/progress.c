/* SPDX-License-Identifier: MIT */
#include "lib/progress.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

enum { SHORTEST_WINDOW_NS = 50 * 1000 * 1000 };

#define MARKS_SIZE (SCOPE_THREADS * SCOPE_FRAMES * sizeof(struct progress_mark))

int progress_init(struct progress *progress)
{
	void *memory = mmap(NULL, MARKS_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -ENOMEM;
	*progress = (struct progress){ .marks = memory };
	return 0;
}

void progress_clear(struct progress *progress)
{
	if (progress->marks)
		munmap(progress->marks, MARKS_SIZE);
	progress->marks = NULL;
}

static struct progress_mark *marks_of(const struct progress *progress, uint32_t slot)
{
	return progress->marks + (size_t)slot * SCOPE_FRAMES;
}

void progress_mark(struct progress *progress, const struct look *look)
{
	progress->marked_ns = look->ns;
	for (uint32_t i = 0; i < look->thread_count; i++) {
		const struct look_thread *thread = &look->threads[i];
		struct progress_mark *marks = marks_of(progress, thread->slot);

		for (uint32_t frame = 0; frame < thread->depth; frame++)
			marks[frame] = (struct progress_mark){
				.generation = thread->frames[frame].generation,
				.count = thread->frames[frame].count,
			};
	}
}

static bool measure(const struct progress *progress, const struct look *look,
		    const struct look_thread *thread, const struct look_frame *frame,
		    double *ret_per_second)
{
	const struct progress_mark *mark =
		marks_of(progress, thread->slot) + (frame - thread->frames);
	uint64_t window = look->ns - progress->marked_ns;
	uint64_t steps = frame->count;

	if (mark->generation == frame->generation && mark->count <= frame->count &&
	    window >= SHORTEST_WINDOW_NS)
		steps -= mark->count;
	else
		window = look_age_ns(look, frame->entered_ticks);
	if (!window)
		return false;
	*ret_per_second = (double)steps / (double)window * 1e9;
	return true;
}

static struct amount time_left(const struct look_frame *frame, double per_second)
{
	double nanoseconds;

	if (!frame->total || !(per_second > 0))
		return (struct amount){ 0 };
	if (frame->count >= frame->total)
		return amount_of(0);
	nanoseconds = (double)(frame->total - frame->count) / per_second * 1e9;
	return nanoseconds < 9e18 ? amount_of((uint64_t)nanoseconds) : (struct amount){ 0 };
}

static struct amount percent(const struct look_frame *frame)
{
	if (!frame || !frame->total)
		return (struct amount){ 0 };
	return amount_of((uint64_t)((double)frame->count / (double)frame->total * 100));
}

void progress_add_count(const struct look_frame *frame, struct line *line)
{
	struct amount total = { .is_known = frame && frame->total,
				.value = frame ? frame->total : 0 };

	line_add(line, &(struct line_field){ .type = LINE_COUNT,
					     .key = "progress",
					     .missing = "",
					     .amount = { .is_known = frame,
							 .value = frame ? frame->count : 0 } });
	line_add(line, &(struct line_field){ .type = LINE_COUNT,
					     .key = "progress_total",
					     .before = "/",
					     .missing = frame ? "?" : "",
					     .amount = total });
	line_add(line, &(struct line_field){ .type = LINE_COUNT,
					     .before = " (",
					     .after = "%)",
					     .missing = "",
					     .amount = percent(frame) });
}

void progress_add(const struct progress *progress, const struct look *look,
		  const struct look_thread *thread, struct line *line)
{
	const struct look_frame *frame = thread ? look_progress(thread) : NULL;
	double per_second = 0;
	bool has_rate = frame && measure(progress, look, thread, frame, &per_second);
	struct amount left = has_rate ? time_left(frame, per_second) : (struct amount){ 0 };

	progress_add_count(frame, line);
	line_add(line, &(struct line_field){ .type = LINE_REAL,
					     .key = "rate",
					     .after = "/s",
					     .missing = "",
					     .amount = { .is_known = has_rate },
					     .real = per_second });
	line_add(line,
		 &(struct line_field){
			 .type = LINE_DURATION, .key = "eta", .missing = "", .amount = left });
}
