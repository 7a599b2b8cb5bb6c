/* SPDX-License-Identifier: MIT */
/*
 * What the two halves of the writer share.
 */
#ifndef STORE_CTPROF_WRITE_H
#define STORE_CTPROF_WRITE_H

#include "store/ctprof/ctprof_output.h"

struct snapshot;

struct ctprof_writer {
	const struct snapshot *snapshot;
	struct ctprof_output output;
	uint32_t *memory_rows; /* by process: its row in the sheet plus one, or 0 */
};

/* ctprof_write_sheets.c: everything but threads and the failures of reading them. */
int ctprof_write_cgroups(struct ctprof_writer *writer); /* 0 or -ENOMEM */
void ctprof_write_host(struct ctprof_writer *writer);
void ctprof_write_probe(struct ctprof_writer *writer);
void ctprof_write_taskstats(struct ctprof_writer *writer);
void ctprof_write_pressure(struct ctprof_writer *writer);
void ctprof_write_sched_ext(struct ctprof_writer *writer);

#endif
