/* SPDX-License-Identifier: MIT */
/*
 * The samples of a run as series with a value for each of many equally long times, so that
 * stretches of it can be compared.  Private to src/analyze/segment.
 */
#ifndef ANALYZE_SEGMENT_GRID_H
#define ANALYZE_SEGMENT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run;

enum grid_series {
	GRID_CORES,
	GRID_READ,  /* bytes a second */
	GRID_WRITE, /* likewise */
	GRID_RSS,
	GRID_THREADS,
	GRID_SERIES,
};

#define GRID_MOST 256

struct grid {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	size_t count;		   /* of times; 0: there are too few samples */
	bool is_known[GRID_SERIES];
	double values[GRID_SERIES][GRID_MOST];
};

/* 0 or -ENOMEM. */
int grid_fill(const struct run *run, struct grid *ret);

#endif
