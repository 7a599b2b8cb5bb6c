/* SPDX-License-Identifier: MIT */
/*
 * Shows a run to people: the verdict in at most ten lines, then the tables.
 */
#ifndef RENDER_RUN_TEXT_H
#define RENDER_RUN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/tree/run.h"

struct diagnosis;

struct run_text_options {
	bool color;
	size_t width; /* columns of the terminal; 0: no limit */
	size_t rows;  /* of each table */
};

/* The outcome, what limited the run, the evidence, the first thing to try: at most ten lines. */
void run_text_verdict(FILE *out, const struct run *run, const struct diagnosis *diagnosis,
		      const struct run_text_options *options);

/*
 * The whole report: verdict, phases, time ledger of the tree, processes, top waits with wakers, the system
 * calls with the columns of strace -c and wall time, losses and what could not be measured.
 */
void run_text_report(FILE *out, const struct run *run, const struct diagnosis *diagnosis,
		     const struct run_text_options *options);

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
