/* SPDX-License-Identifier: MIT */
/*
 * Writes the structs of a run as rows of sheets in its snapshot, and reads them back.  Tables say
 * which member of a struct is which column; writing and reading use the same tables.
 *
 * A file may come from a stranger: a column that is missing, or whose value does not fit the
 * member, leaves the member unchanged.
 */
#ifndef MODEL_RUN_RECORDS_H
#define MODEL_RUN_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "model/snapshot/snapshot.h"
#include "model/tree/run.h"

enum record_type {
	RECORD_U64,
	RECORD_U32,
	RECORD_U8,
	RECORD_I32,	 /* not negative */
	RECORD_FLAG,	 /* bool */
	RECORD_REASON,	 /* enum wait_reason, by its name */
	RECORD_KIND,	 /* enum wait_reason or path_kind, by its name; PATH_DIRECT has none */
	RECORD_REAL,	 /* struct run_real */
	RECORD_OPTIONAL, /* struct run_number */
	RECORD_CHARS,	 /* an array of `size` characters, NUL-terminated */
	RECORD_TEXT,	 /* const char *, in the arena of the run */
	RECORD_STRING,	 /* uint32_t, the number of a string of the snapshot; 0: none */
};

struct record_field {
	const char *name;
	enum record_type type;
	size_t offset;
	size_t size;
};

/* A struct that is stored as a row of a sheet.  An entry whose name is NULL ends `fields`. */
struct record_kind {
	enum sheet_id sheet;
	const struct record_field *fields;
};

extern const struct record_kind run_record, tree_record, process_record, thread_record, call_record,
	wait_record, phase_record, event_record, sample_record, path_record, part_record,
	segment_record, waiter_record, frame_record, node_record, stack_sample_record,
	stretch_record, gpu_user_record;

/* Sets the cells of a row; members that are 0, false, absent or NULL get none.  0 or -ENOMEM. */
int record_write(struct snapshot *snapshot, const struct record_kind *kind, uint32_t row,
		 const void *record);
/* Sets the members for which the row has a cell.  0 or -ENOMEM. */
int record_read(const struct snapshot *snapshot, const struct record_kind *kind, uint32_t row,
		struct arena *texts, void *record);

/* The plain numbers of run_fields.def, as columns of SHEET_RUN. */
int run_fields_write(struct snapshot *snapshot, const struct run *run);
void run_fields_read(const struct snapshot *snapshot, struct run *run);

#endif
