/* SPDX-License-Identifier: MIT */
/*
 * What the two halves of the writer share.
 */
#ifndef STORE_CTPROF_WRITE_H
#define STORE_CTPROF_WRITE_H

#include "base/json.h"
#include "store/compression.h"
#include "store/ctprof/ctprof_table.h"

struct ctprof_writer {
	const struct snapshot *snapshot;
	struct json json;	      /* goes to the compressor */
	struct compressor compressor; /* a failure is remembered here */
	uint32_t *memory_rows;	      /* by process: its row in the sheet plus one, or 0 */
};

/* ctprof_write_sheets.c: everything but threads and the failures of reading them. */
void ctprof_write_cgroups(struct ctprof_writer *writer);
void ctprof_write_host(struct ctprof_writer *writer);
void ctprof_write_pressure(struct ctprof_writer *writer, enum sheet_id id, uint32_t row);
/* Writes an object of the host or the capture, or null when none of its readings is there. */
void ctprof_write_object(struct ctprof_writer *writer, enum ctprof_object object);
/*
 * Writes the members of an object: one for each cell of the row, in that state, of the readings
 * whose name begins so.  Numbers are divided by `unit`.
 */
void ctprof_write_cells_of(struct ctprof_writer *writer, const struct sheet *sheet, uint32_t row,
			   const char *prefix, enum cell_state state, uint64_t unit);

#endif
