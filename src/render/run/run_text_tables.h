/* SPDX-License-Identifier: MIT */
/*
 * The tables of a run's report.  Each function prints a heading and a table, or
 * nothing when nothing of it was measured.
 */
#ifndef RENDER_RUN_TEXT_TABLES_H
#define RENDER_RUN_TEXT_TABLES_H

#include <stdio.h>

#include "model/tree/run.h"
#include "render/run/run_text.h"
#include "render/table/table.h"

void run_text_ledger(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_threads(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_waits(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_processes(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_syscalls(FILE *out, const struct run *run, const struct run_text_options *options);
/* With the processes that failed, the command itself excepted: the first line says how it ended. */
void run_text_programs(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_path(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_deadlock(FILE *out, const struct run *run, const struct run_text_options *options);
/* The functions that computed and those that waited, and what their stacks lack. */
void run_text_stacks(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_segments(FILE *out, const struct run *run, const struct run_text_options *options);
void run_text_phases(FILE *out, const struct run *run, const struct run_text_options *options);
/* Processes that used GPUs. */
void run_text_gpu_users(FILE *out, const struct run *run, const struct run_text_options *options);
/* Losses and what was not measured; with -v other use and what watching cost, below the tables. */
void run_text_notes(FILE *out, const struct run *run, const struct run_text_options *options);

void run_text_heading(FILE *out, const struct run_text_options *options, const char *heading);
/* Prints and clears the table; then prints a line about the rows that were left out. */
void run_text_table(FILE *out, struct table *table, const struct run_text_options *options,
		    size_t shown, size_t count);
/* How many of them to show. */
size_t run_text_shown(const struct run_text_options *options, size_t count);

/* Bytes of a command line, however wide the terminal is. */
#define RUN_TEXT_COMMAND_MAX 160

/* Appends the words of its command line, or its name; "..." after the first `most` bytes. */
void run_text_command(struct text *out, const struct tree_process *process, size_t most);

/* A number in the unit of its column, or absent. */
void run_cell_known(struct table *table, bool is_known, uint64_t number);

/* Hardware counters and, with -v, energy, below the tables. */
void run_text_hardware(FILE *out, const struct run *run, const struct run_text_options *options);

#endif
