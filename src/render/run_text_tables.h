/* SPDX-License-Identifier: MIT */
/*
 * The tables of a run's report.  Each prints a heading and itself, or nothing when nothing of it
 * was measured.
 */
#ifndef RENDER_RUN_TEXT_TABLES_H
#define RENDER_RUN_TEXT_TABLES_H

#include <stdio.h>

#include "model/run.h"
#include "render/run_text.h"
#include "render/table.h"

void run_text_ledger(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_threads(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_waits(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_processes(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_syscalls(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_phases(FILE *out, const struct run *run, const struct run_text_options *options);
/* Losses, what was not measured, what watching cost: lines below the tables. */
void run_text_notes(FILE *out, const struct run *run, const struct run_text_options *options);

void run_text_heading(FILE *out, const struct run_text_options *options, const char *heading);
/* Prints and clears it; then a line about those that were left out. */
void run_text_table(FILE *out, struct table *table, const struct run_text_options *options,
		    size_t shown, size_t count);
/* How many of them to show. */
size_t run_text_shown(const struct run_text_options *options, size_t count);

/* Cells. */
void run_cell_time(struct table *table, uint64_t ns);
void run_cell_share(struct table *table, uint64_t part, uint64_t whole);
void run_cell_number(struct table *table, uint64_t number);
void run_cell_name(struct table *table, const char *name); /* of strangers */

#endif
