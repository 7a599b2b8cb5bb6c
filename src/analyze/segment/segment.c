/* SPDX-License-Identifier: MIT */
/*
 * The best cuts are found by dynamic programming: for each number of stretches, those with the
 * least squared distance of the values from their mean, or for memory from a straight line.
 * Distances count in units of the noise of a series.  More stretches always fit better, so each cut
 * costs a penalty.
 */
#include "analyze/segment/segment.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/segment/segment_grid.h"
#include "base/cleanup.h"
#include "base/real.h"
#include "model/tree/run.h"

/* A stretch takes at least so many times of the grid. */
#define SHORTEST 2
/* What a cut adds to describe: six values, the slope of memory, and where it is. */
#define PARAMETERS 7.0

/*
 * Differences that nobody would call another phase, whatever the noise; and as a share of the
 * largest value.
 */
static const struct {
	double least, share;
} floors[GRID_SERIES] = {
	/* clang-format off */
	[GRID_CORES]   = { 0.1,     0.1 },
	[GRID_READ]    = { 1e6,     0.1 },
	[GRID_WRITE]   = { 1e6,     0.1 },
	[GRID_RSS]     = { 8 << 20, 0.05 },
	[GRID_THREADS] = { 0.5,     0.1 },
	/* clang-format on */
};

/* Sums over the first times, so that the fit of any stretch takes the same time. */
struct sums {
	double value[GRID_SERIES][GRID_MOST + 1];
	double square[GRID_SERIES][GRID_MOST + 1];
	double moment[GRID_MOST + 1]; /* of memory: value times place */
};

struct cuts {
	const struct grid *grid;
	struct sums sums;
	double best[RUN_SEGMENTS_MAX]
		   [GRID_MOST + 1]; /* the least distance of the first times in so many + 1 */
	uint16_t from[RUN_SEGMENTS_MAX][GRID_MOST + 1]; /* where the last of them begins */
};

/*
 * How far values are apart by chance: the mean of the differences of neighbours, without the
 * largest, where stretches may end.
 */
static double noise_of(const double *values, size_t count)
{
	double squares[GRID_MOST], sum = 0;
	size_t kept = count - 1, ends = 2 * (RUN_SEGMENTS_MAX - 1);

	for (size_t i = 1; i < count; i++)
		squares[i - 1] = (values[i] - values[i - 1]) * (values[i] - values[i - 1]);
	real_sort(squares, count - 1);
	kept -= ends < kept / 4 ? ends : kept / 4;
	for (size_t i = 0; i < kept; i++)
		sum += squares[i];
	/* A difference has the noise of two values. */
	return sqrt(sum / (double)kept / 2);
}

static double scale_of(const struct grid *grid, enum grid_series series)
{
	double most = 0, floor, noise = noise_of(grid->values[series], grid->count);

	for (size_t i = 0; i < grid->count; i++)
		most = fmax(most, grid->values[series][i]);
	floor = fmax(floors[series].least, most * floors[series].share);
	return fmax(noise, floor);
}

static void add_up(struct cuts *cuts, enum grid_series series)
{
	const struct grid *grid = cuts->grid;
	struct sums *sums = &cuts->sums;
	double scale = scale_of(grid, series);

	for (size_t i = 0; i < grid->count; i++) {
		double value = grid->values[series][i] / scale;

		sums->value[series][i + 1] = sums->value[series][i] + value;
		sums->square[series][i + 1] = sums->square[series][i] + value * value;
		if (series == GRID_RSS)
			sums->moment[i + 1] = sums->moment[i] + value * (double)i;
	}
}

/* The squared distances that a slope takes away, by least squares. */
static double slope_gain(const struct sums *sums, size_t begin, size_t end)
{
	double count = (double)(end - begin);
	double center = ((double)begin + (double)end - 1) / 2;
	double value = sums->value[GRID_RSS][end] - sums->value[GRID_RSS][begin];
	double together = sums->moment[end] - sums->moment[begin] - center * value;
	double spread = count * (count * count - 1) / 12;

	return spread > 0 ? together * together / spread : 0;
}

static double distance(const struct cuts *cuts, size_t begin, size_t end)
{
	const struct sums *sums = &cuts->sums;
	double count = (double)(end - begin), all = 0;

	for (int series = 0; series < GRID_SERIES; series++) {
		double value = sums->value[series][end] - sums->value[series][begin];
		double square = sums->square[series][end] - sums->square[series][begin];
		double part = square - value * value / count;

		if (series == GRID_RSS)
			part -= slope_gain(sums, begin, end);
		all += fmax(part, 0);
	}
	return all;
}

static void find_best(struct cuts *cuts)
{
	size_t count = cuts->grid->count;

	for (size_t end = 1; end <= count; end++)
		cuts->best[0][end] = distance(cuts, 0, end);
	for (size_t n = 1; n < RUN_SEGMENTS_MAX; n++)
		for (size_t end = 0; end <= count; end++) {
			cuts->best[n][end] = INFINITY;
			for (size_t begin = n * SHORTEST; begin + SHORTEST <= end; begin++) {
				double sum = cuts->best[n - 1][begin] + distance(cuts, begin, end);

				if (sum >= cuts->best[n][end])
					continue;
				cuts->best[n][end] = sum;
				cuts->from[n][end] = (uint16_t)begin;
			}
		}
}

/* How many stretches are worth it, minus one. */
static size_t choose(const struct cuts *cuts)
{
	size_t count = cuts->grid->count, chosen = 0;
	/*
	 * Twice what the Bayesian criterion asks for: neighbouring samples are alike more often
	 * than by chance.
	 */
	double penalty = 2 * PARAMETERS * log((double)count);

	for (size_t n = 1; n < RUN_SEGMENTS_MAX; n++)
		if (cuts->best[n][count] + penalty * (double)n <
		    cuts->best[chosen][count] + penalty * (double)chosen)
			chosen = n;
	return chosen;
}

static double mean(const struct grid *grid, enum grid_series series, size_t begin, size_t end)
{
	double sum = 0;

	for (size_t i = begin; i < end; i++)
		sum += grid->values[series][i];
	return sum / (double)(end - begin);
}

static struct run_number whole(const struct grid *grid, enum grid_series series, size_t begin,
			       size_t end)
{
	double value = mean(grid, series, begin, end);

	return grid->is_known[series] ?
		       (struct run_number){ true, (uint64_t)llround(fmax(value, 0)) } :
		       (struct run_number){ 0 };
}

/* Which of these words fit; without any it is idle, or waits while it does a little, if its CPU time is known. */
static void describe(const struct grid *grid, size_t begin, size_t end, struct run_segment *segment)
{
	const double *rss = grid->values[GRID_RSS];
	double most = 0, growth = grid->is_known[GRID_RSS] ? rss[end - 1] - rss[begin] : 0;
	const char *words[4];
	size_t count = 0, length = 0;

	for (size_t i = 0; i < grid->count; i++)
		most = fmax(most, rss[i]);
	if (segment->cores.value >= 0.5)
		words[count++] = "computing";
	if (segment->read_bytes_per_s.value >= 1000000)
		words[count++] = "reading";
	if (segment->write_bytes_per_s.value >= 1000000)
		words[count++] = "writing";
	if (growth >= 16 << 20 && growth >= most / 4)
		words[count++] = "growing memory";
	if (!count && segment->cores.present)
		words[count++] = segment->cores.value >= 0.05 ? "mostly waiting" : "idle";
	for (size_t i = 0; i < count; i++)
		length += (size_t)snprintf(segment->what + length, sizeof(segment->what) - length,
					   "%s%s", i ? ", " : "", words[i]);
}

static void fill(const struct run *run, const struct grid *grid, size_t begin, size_t end,
		 struct run_segment *ret)
{
	double step = (double)(grid->end_ns - grid->begin_ns) / (double)grid->count;
	uint64_t offset = grid->begin_ns > run->begin_ns ? grid->begin_ns - run->begin_ns : 0;

	*ret = (struct run_segment){
		.begin_ns = offset + (uint64_t)llround(step * (double)begin),
		.end_ns = offset + (uint64_t)llround(step * (double)end),
		.cores = { grid->is_known[GRID_CORES],
			   round(1000 * mean(grid, GRID_CORES, begin, end)) / 1000 },
		.rss_bytes = whole(grid, GRID_RSS, begin, end),
		.read_bytes_per_s = whole(grid, GRID_READ, begin, end),
		.write_bytes_per_s = whole(grid, GRID_WRITE, begin, end),
		.threads = whole(grid, GRID_THREADS, begin, end),
	};
	describe(grid, begin, end, ret);
}

static void cut(const struct run *run, struct cuts *cuts, struct run_segments *ret)
{
	size_t end = cuts->grid->count;

	for (int series = 0; series < GRID_SERIES; series++)
		if (cuts->grid->is_known[series])
			add_up(cuts, (enum grid_series)series);
	find_best(cuts);
	ret->count = (uint32_t)choose(cuts) + 1;
	for (size_t n = ret->count; n-- > 0;) {
		size_t begin = n ? cuts->from[n][end] : 0;

		fill(run, cuts->grid, begin, end, &ret->list[n]);
		end = begin;
	}
}

int segments_find(const struct run *run, struct run_segments *ret)
{
	CLEANUP(free_pointer) struct grid *grid = calloc(1, sizeof(*grid));
	CLEANUP(free_pointer) struct cuts *cuts = calloc(1, sizeof(*cuts));
	int status = grid && cuts ? grid_fill(run, grid) : -ENOMEM;

	*ret = (struct run_segments){ 0 };
	if (status < 0 || !grid->count)
		return status;
	cuts->grid = grid;
	cut(run, cuts, ret);
	return 0;
}
