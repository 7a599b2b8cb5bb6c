/* SPDX-License-Identifier: MIT */
/*
 * Shows a run to people: the verdict in at most ten lines, then the tables.  Without -v the report
 * of most runs fits on one screen.
 */
#ifndef RENDER_RUN_TEXT_H
#define RENDER_RUN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/tree/run.h"

struct diagnosis;
struct text;
struct verdict;

struct run_text_options {
	bool color;
	size_t width; /* columns of the terminal; 0: no limit */
	size_t rows;  /* of each table; 0: all */
	bool is_verbose;
};

/* Rows of each table, unless -n says otherwise. */
#define RUN_TEXT_ROWS 8
#define RUN_TEXT_ROWS_LONG 10 /* of a longer report */

/* What limited the run, in one line: "limited by lock_contention, ... (lock_bound, 90 % sure)". */
void run_text_append_limit(struct text *out, const struct verdict *verdict);

/* The outcome, what limited the run, the evidence, the first thing to try: at most ten lines. */
void run_text_verdict(FILE *out, const struct run *run, const struct diagnosis *diagnosis,
		      const struct run_text_options *options);

/*
 * The whole report: verdict, critical path, programs, processes that failed, time ledger of the
 * tree, functions, phases, losses and what could not be measured.  With -v, or where there are few, single
 * threads and processes; with -v also the longest waits with wakers, the system calls with the
 * columns of strace -c and wall time, other use and what watching cost.
 */
void run_text_report(FILE *out, const struct run *run, const struct diagnosis *diagnosis,
		     const struct run_text_options *options);

/*
 * The same for `terminal`, no line wider than that.  Where there is none, lines have at most 80
 * columns, with -v as many as they need.  0, or -ENOMEM.
 */
struct terminal;
int run_text_page(FILE *to, const struct terminal *terminal, const struct run *run,
		  const struct diagnosis *diagnosis, size_t rows, bool is_verbose);

/*
 * The live line, without a newline, at most `width` columns: elapsed,
 * processes, threads, cores busy, RSS now and peak, I/O rates, top wait, and at
 * the end, with room kept for it, the scope that a program is in.  Rates are
 * between the two samples.
 */
struct text;
void run_text_live(struct text *out, const struct run *run, const struct run_sample *before,
		   size_t width);

#endif
