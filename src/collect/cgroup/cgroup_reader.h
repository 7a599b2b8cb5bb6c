/* SPDX-License-Identifier: MIT */
/*
 * Reads the files of one cgroup after the other into the cgroups' sheet, and counts the reasons
 * for missing values.  Only for cgroup_files.c.
 */
#ifndef COLLECT_CGROUP_READER_H
#define COLLECT_CGROUP_READER_H

#include <stdint.h>

#include "collect/cgroup/cgroup_absence.h"
#include "collect/cgroup/cgroup_files.h"
#include "collect/cgroup/cgroup_rows.h"
#include "host/proc/proc_file.h"

struct capture;
struct source_tally;

/* Where the values of a column come from. */
struct cgroup_origin {
	bool is_v2;	/* some are from the v2 file that the column is named after */
	const char *v1; /* the first v1 file that has given one, in the snapshot's arena; or NULL */
};

/* What is being read, and where it goes. */
struct cgroup_reader {
	struct kernel_sink sink; /* must be first: it is cast back to the reader */
	struct capture *capture;
	struct source_tally *tally;
	struct hierarchies trees; /* not its own */
	struct kept_files *kept;  /* NULL: files are closed after reading */
	struct cgroup_rows rows;
	struct sheet *sheet;
	ARRAY_OF(struct cgroup_origin) origins; /* by column */
	struct cgroup_lacks lacks;
	struct proc_buffer buffer;
	uint8_t host_controllers; /* enabled for any cgroup of v2 */
	struct cgroup_row *row;
	uint32_t sheet_row;
	int directories[HIERARCHY_COUNT]; /* of the row: fds, negative errnos, or not opened yet */
	uint8_t alive;			  /* a bit for each that was seen to exist still */
	enum cgroup_file_id file;
	const struct cgroup_v1_file *v1; /* NULL: a v2 file is read */
};

/*
 * Sets a cell of the row that is being filled, unless it has one: v2 and v1 files may have the same
 * value.  `from` is the value as its file has it.  0 or -ENOMEM.
 */
int cgroup_reader_store(struct cgroup_reader *reader, const char *name,
			const struct kernel_value *value, const struct kernel_value *from);

/* Whether the row that is being filled has the cell. */
bool cgroup_reader_has(const struct cgroup_reader *reader, const char *name);

/*
 * Notes in each column with values from v1 files which files these are.  After the last row.  0 or
 * -ENOMEM.
 */
int cgroup_reader_note_origins(struct cgroup_reader *reader);

/* Fills the sheet's row `sheet_row` from the files of `row`.  0 or -ENOMEM. */
int cgroup_reader_read_row(struct cgroup_reader *reader, struct cgroup_row *row,
			   uint32_t sheet_row);

#endif
