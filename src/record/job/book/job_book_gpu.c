/* SPDX-License-Identifier: MIT */
/* What the processes of jobs use of GPUs: sums at one tick, of which the largest ones are kept. */
#include "base/collection/array.h"
#include "model/snapshot/snapshot.h"
#include "record/job/book/job_book_parts.h"

static void add_gpu(struct job_window *window, enum job_value value, uint64_t number)
{
	double sum = job_has(&window->gpu, value) ? window->gpu.values[value] : 0;

	job_set(&window->gpu, value, sum + (double)number);
}

void job_book_take_gpu(struct book_member *member, const struct snapshot *snapshot, uint32_t row)
{
	static const struct {
		enum metric_id metric;
		enum job_value value;
	} sums[] = {
		{ METRIC_gpu_memory_bytes, JOB_peak_gpu_memory_bytes },
		{ METRIC_gpu_busy_percent, JOB_peak_gpu_busy_percent },
	};
	struct book_step *step = job_book_step_of(member);
	uint64_t number;

	for (size_t i = 0; i < ARRAY_SIZE(sums) && !member->is_ours; i++) {
		if (!snapshot_get(snapshot, sums[i].metric, row, &number))
			continue;
		add_gpu(&member->job->window, sums[i].value, number);
		if (step)
			add_gpu(&step->window, sums[i].value, number);
	}
}

static bool raise_peaks(struct job_window *window, struct job_figures *figures)
{
	bool has_changed = false;

	for (int i = 0; i < JOB_VALUE_COUNT; i++)
		if (job_has(&window->gpu, (enum job_value)i))
			has_changed |= job_raise(figures, (enum job_value)i, window->gpu.values[i]);
	window->gpu.present = 0;
	return has_changed;
}

void job_book_raise_gpu(struct book_job *job)
{
	job->has_changed |= raise_peaks(&job->window, &job->row.figures);
	for (size_t i = 0; i < job->steps.count; i++) {
		struct book_step *step = job->steps.data[i];

		step->has_changed |= raise_peaks(&step->window, &step->row.figures);
	}
}
