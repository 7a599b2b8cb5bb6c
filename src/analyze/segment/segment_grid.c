/* SPDX-License-Identifier: MIT */
#include "analyze/segment/segment_grid.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "model/tree/run.h"

/* A value at a time; between two of them it changes steadily. */
struct point {
	uint64_t time_ns;
	double value;
};

struct points {
	struct point *list;
	size_t count;
	size_t cursor; /* the first one that is not before the time asked for last */
};

/* Counters count from the beginning of the run. */
static bool is_counter(enum grid_series series)
{
	return series == GRID_CORES || series == GRID_READ || series == GRID_WRITE;
}

static bool value_of(const struct run_sample *sample, enum grid_series series, double *ret)
{
	static const int amounts[] = {
		[GRID_READ] = AMOUNT_read_bytes, [GRID_WRITE] = AMOUNT_write_bytes
	};
	uint64_t number = 0;
	bool is_known;

	if (series == GRID_CORES) {
		is_known = run_sample_cpu(sample, &number);
	} else if (series == GRID_RSS) {
		is_known = sample->has_rss;
		number = sample->rss_bytes;
	} else if (series == GRID_THREADS) {
		is_known = true;
		number = sample->threads;
	} else {
		is_known = amounts_has(&sample->amounts, amounts[series]);
		number = amounts_get(&sample->amounts, amounts[series]);
	}
	*ret = (double)number;
	return is_known;
}

/* In a file times may go back, and counters fall: such samples are left out. */
static void add_point(struct points *points, enum grid_series series, uint64_t time_ns,
		      double value)
{
	const struct point *last = points->count ? &points->list[points->count - 1] : NULL;

	if (last && (time_ns <= last->time_ns || (is_counter(series) && value < last->value)))
		return;
	points->list[points->count++] = (struct point){ time_ns, value };
}

static void gather(const struct run *run, enum grid_series series, struct points *points)
{
	points->count = points->cursor = 0;
	if (is_counter(series) && !run->since_start && run->begin_ns)
		add_point(points, series, run->begin_ns, 0);
	for (size_t i = 0; i < run->past.samples.count; i++) {
		const struct run_sample *sample = &run->past.samples.data[i];
		double value;

		if (value_of(sample, series, &value))
			add_point(points, series, sample->time_ns, value);
	}
}

/* Times must not go back from call to call. */
static double value_at(struct points *points, double time_ns)
{
	const struct point *list = points->list;
	double share;
	size_t i;

	while (points->cursor < points->count && (double)list[points->cursor].time_ns < time_ns)
		points->cursor++;
	i = points->cursor;
	if (i == 0)
		return list[0].value;
	if (i == points->count)
		return list[i - 1].value;
	share = (time_ns - (double)list[i - 1].time_ns) /
		(double)(list[i].time_ns - list[i - 1].time_ns);
	return list[i - 1].value + share * (list[i].value - list[i - 1].value);
}

static void fill_series(struct grid *grid, enum grid_series series, struct points *points)
{
	double step = (double)(grid->end_ns - grid->begin_ns) / (double)grid->count;
	/* CPU time is in ns and becomes cores; bytes become bytes a second. */
	double per = series == GRID_CORES ? step : step / 1e9;
	double before;

	grid->is_known[series] = points->count > is_counter(series);
	if (!grid->is_known[series])
		return;
	before = value_at(points, (double)grid->begin_ns);
	for (size_t i = 0; i < grid->count; i++) {
		double end = (double)grid->begin_ns + step * (double)(i + 1);

		if (!is_counter(series)) {
			grid->values[series][i] = value_at(points, end - step / 2);
			continue;
		}
		grid->values[series][i] = (value_at(points, end) - before) / per;
		before = value_at(points, end);
	}
}

/* From the beginning of the run, or the first sample, to the last one. */
static void measure(const struct run *run, struct grid *grid)
{
	const struct run_sample *samples = run->past.samples.data;
	size_t count = run->past.samples.count;

	*grid = (struct grid){ 0 };
	if (count < 2)
		return;
	grid->begin_ns = run->begin_ns && run->begin_ns < samples[0].time_ns ? run->begin_ns :
									       samples[0].time_ns;
	grid->end_ns = samples[count - 1].time_ns;
	if (grid->end_ns > grid->begin_ns)
		grid->count = count < GRID_MOST ? count : GRID_MOST;
}

int grid_fill(const struct run *run, struct grid *ret)
{
	CLEANUP(free_pointer)
	struct point *list = calloc(run->past.samples.count + 1, sizeof(*list));
	struct points points = { .list = list };

	measure(run, ret);
	if (!list)
		return -ENOMEM;
	for (int series = 0; series < GRID_SERIES && ret->count; series++) {
		gather(run, (enum grid_series)series, &points);
		fill_series(ret, (enum grid_series)series, &points);
	}
	return 0;
}
