/* SPDX-License-Identifier: MIT */
#include "collect/cgroup/cgroup_files.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "collect/cgroup/cgroup_reader.h"
#include "collect/collector.h"

/* clang-format off */
const struct cgroup_file cgroup_files[CGROUP_FILE_COUNT] = {
#define CGROUP_FILE(id, name_, controller_, format_, root_)                                        \
	[CGROUP_FILE_##id] = { name_, CONTROLLER_##controller_, KERNEL_##format_, root_ },
#include "collect/cgroup/cgroup_files.def"
};
/* clang-format on */

static int add_rows(struct cgroup_reader *reader, struct sheet *sheet)
{
	struct cgroup_rows *rows = &reader->rows;
	uint32_t row, key;

	for (size_t i = 0; i < rows->list.count; i++) {
		const char *path = rows->list.data[rows->order[i]].path;

		if (snapshot_intern(reader->capture->snapshot, path, strlen(path), &key) < 0 ||
		    sheet_add_row(sheet, key, &row) < 0)
			return -ENOMEM;
	}
	reader->sheet = sheet;
	return 0;
}

static int read_rows(struct cgroup_reader *reader, struct sheet *sheet)
{
	int status = add_rows(reader, sheet);

	for (uint32_t i = 0; status == 0 && i < reader->rows.list.count; i++)
		status = cgroup_reader_read_row(reader,
						&reader->rows.list.data[reader->rows.order[i]], i);
	if (status == 0)
		status = cgroup_reader_note_origins(reader);
	if (status == 0)
		status = cgroup_lacks_explain(&reader->lacks, sheet);
	return status;
}

/* Adds to the tally what no read of a file shows. */
static void complete_tally(const struct cgroup_reader *reader)
{
	struct source_tally *tally = reader->tally;

	if (reader->rows.dropped) {
		tally->failed += reader->rows.dropped;
		tally->error = E2BIG;
		tally->reason = "too many cgroups, or paths that are too long";
	}
	if (tally->read || tally->failed)
		return;
	if (!reader->capture->host->cgroup.version)
		source_set_missing(tally, reader->capture->host->live ?
						  "no cgroup hierarchy is mounted" :
						  NOT_RECORDED);
	else if (reader->rows.list.count == 0)
		tally->reason = "the path of no cgroup is known";
	else
		source_set_missing(tally, reader->capture->host->live ?
						  "no cgroup has files that can be read" :
						  NOT_RECORDED);
}

static void reader_clear(struct cgroup_reader *reader)
{
	cgroup_rows_clear(&reader->rows);
	array_free(&reader->origins);
	proc_buffer_clear(&reader->buffer);
}

void cgroup_sampling_clear(struct cgroup_sampling *sampling)
{
	if (sampling->is_open)
		hierarchies_close(&sampling->trees);
	kept_files_clear(&sampling->files);
	*sampling = (struct cgroup_sampling){ 0 };
}

static int open_trees(const struct host *host, struct cgroup_sampling *sampling)
{
	int status = sampling->is_open ? 0 : hierarchies_open(host, &sampling->trees);

	sampling->is_open = status == 0;
	return status;
}

static int collect(struct capture *capture)
{
	CLEANUP(cgroup_sampling_clear) struct cgroup_sampling own = { 0 };
	struct cgroup_sampling *open = capture->sampling ? &capture->sampling->cgroups : &own;
	CLEANUP(reader_clear)
	struct cgroup_reader reader = {
		.capture = capture,
		.tally = &capture->tallies[SOURCE_CGROUP_FILES],
		.kept = capture->host->live ? &open->files : NULL,
	};
	int status = open_trees(capture->host, open);

	if (status < 0)
		return status;
	reader.trees = open->trees;
	status = cgroup_rows_find(capture, &reader.trees, &reader.rows);
	if (status == 0 && reader.rows.list.count)
		status = read_rows(&reader, &capture->snapshot->sheets[SHEET_CGROUPS]);
	if (status == 0)
		complete_tally(&reader);
	kept_files_sweep(&open->files);
	return status;
}

int cgroup_files_collect(struct capture *capture)
{
	return source_wanted(capture, SOURCE_CGROUP_FILES) ? collect(capture) : 0;
}

int cgroup_files_read(const struct host *host, const struct hierarchies *trees, const char *places,
		      struct snapshot *snapshot)
{
	struct capture capture = { .host = host, .snapshot = snapshot };
	CLEANUP(reader_clear)
	struct cgroup_reader reader = {
		.capture = &capture,
		.tally = &capture.tallies[SOURCE_CGROUP_FILES],
		.trees = *trees,
	};
	struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];
	int status = cgroup_rows_of_process(places, trees, &reader.rows);

	if (status == 0 && reader.rows.list.count)
		status = read_rows(&reader, sheet);
	return status;
}
