/* SPDX-License-Identifier: MIT */
#include "collect/process/smaps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/proc/proc_file.h"
#include "collect/process/reader_pool.h"
#include "collect/process/smaps_parse.h"
#include "collect/source.h"

#define SMAPS_FILE "smaps_rollup"
#define SMAPS_PREFIX "smaps "
#define PATIENCE_NS 1000000000ll /* deadline for any process */
#define PER_GIB_NS 100000000ll	 /* plus this for its size: about three times what it takes */
#define AT_ONCE 2		 /* one gets its next process while the other reads */

static const char late_reason[] =
	"deadline passed while another thread held the process's memory map, or the host was busy";
static const char missing_reason_text[] = "the kernel has no smaps_rollup files";

struct smaps {
	struct capture *capture;
	struct proc_buffer buffer;
	uint64_t read, late;
	uint64_t empty;	  /* processes that are known to have no memory */
	uint64_t nowhere; /* no such file, or the process has ended */
	int64_t longest_ns;
	enum metric_id metrics[METRIC_STORED];
	unsigned metric_count;
};

static int begin(struct smaps *smaps)
{
	for (int id = 0; id < METRIC_STORED; id++) {
		if (!metric_source(&metrics[id], PLACE_SMAPS))
			continue;
		if (snapshot_need_column(smaps->capture->snapshot, id) < 0)
			return -ENOMEM;
		smaps->metrics[smaps->metric_count++] = id;
	}
	return 0;
}

static int store_readings(const struct capture *capture, uint32_t process, const char *text)
{
	struct snapshot *snapshot = capture->snapshot;
	struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];
	char name[SHEET_NAME_SIZE];
	struct smaps_value value;
	uint32_t row;

	_Static_assert(sizeof(SMAPS_PREFIX) + SMAPS_KEY_MAX <= sizeof(name), "a name has room");
	if (snapshot_process_row(snapshot, process, &row) < 0)
		return -ENOMEM;
	while (smaps_next(&text, &value)) {
		snprintf(name, sizeof(name), SMAPS_PREFIX "%.*s", (int)value.key_length, value.key);
		if (sheet_set(sheet, row, name, CELL_NUMBER,
			      metric_from_raw(value.kib, RAW_KIB, &capture->scale)) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

static int store(struct smaps *smaps, uint32_t process, const char *text)
{
	struct snapshot *snapshot = smaps->capture->snapshot;

	smaps->read++;
	for (unsigned i = 0; i < smaps->metric_count; i++) {
		enum metric_id id = smaps->metrics[i];
		const struct metric_source *source = metric_source(&metrics[id], PLACE_SMAPS);
		uint64_t kib;

		if (smaps_sum(text, source->key, &kib))
			snapshot_set(snapshot, id, process,
				     metric_from_raw(kib, source->raw, &smaps->capture->scale));
	}
	return store_readings(smaps->capture, process, text);
}

static int take_answer(void *context, const struct pool_answer *answer)
{
	struct smaps *smaps = context;
	struct source_tally *tally = &smaps->capture->tallies[SOURCE_SMAPS];

	source_count_file(smaps->capture, tally, answer->length);
	smaps->nowhere += answer->length == -ENOENT;
	smaps->late += answer->length == -ETIMEDOUT;
	if (answer->took_ns > smaps->longest_ns)
		smaps->longest_ns = answer->took_ns;
	return answer->length < 0 ? 0 : store(smaps, answer->tag, answer->text);
}

/* A recorded tree has no locks: its files are read directly. */
static int read_recorded(struct smaps *smaps, uint32_t process)
{
	CLEANUP(close_fd) int dir = process_open(smaps->capture, process, &smaps->buffer);
	struct pool_answer answer = { .tag = process, .length = dir };

	if (dir >= 0)
		answer.length = proc_read(dir, SMAPS_FILE, &smaps->buffer);
	answer.text = smaps->buffer.data;
	return take_answer(smaps, &answer);
}

static int read_all_recorded(struct smaps *smaps)
{
	int status = 0;

	for (uint32_t row = 0; status == 0 && row < smaps->capture->snapshot->process_count; row++)
		if (process_lacks_memory(smaps->capture, row))
			smaps->empty++;
		else
			status = read_recorded(smaps, row);
	return status;
}

static int64_t patience_with(const struct capture *capture, uint32_t process)
{
	uint64_t held;

	if (!snapshot_get(capture->snapshot, METRIC_rss_bytes, process, &held))
		return PATIENCE_NS;
	return PATIENCE_NS + (int64_t)(held >> 30) * PER_GIB_NS;
}

static void read_live(struct smaps *smaps, struct reader_pool *pool, uint32_t process)
{
	struct pool_request request = {
		.tag = process,
		.dir = process_open(smaps->capture, process, &smaps->buffer),
		.patience_ns = patience_with(smaps->capture, process),
	};

	if (request.dir >= 0)
		reader_pool_read(pool, &request);
	else
		source_count(&smaps->capture->tallies[SOURCE_SMAPS], request.dir);
}

static ssize_t read_rollup(const struct pool_request *request, char buffer[POOL_BYTES])
{
	return pool_read_file(request->dir, SMAPS_FILE, buffer);
}

static int read_all_live(struct smaps *smaps)
{
	struct capture *capture = smaps->capture;
	const struct pool_options options = {
		.read = read_rollup,
		.at_once = AT_ONCE,
		.room = AT_ONCE,
		.help_ns = INT64_MAX,
		.budget_ns = INT64_MAX,
		.answer = take_answer,
		.context = smaps,
	};
	struct reader_pool *pool;
	int status = reader_pool_new(&options, &pool);

	if (status < 0) {
		source_count(&capture->tallies[SOURCE_SMAPS], status);
		capture->tallies[SOURCE_SMAPS].reason =
			"no thread could be started to read it aside";
		return 0;
	}
	for (uint32_t row = 0; row < capture->snapshot->process_count; row++)
		if (process_lacks_memory(capture, row))
			smaps->empty++;
		else
			read_live(smaps, pool, row);
	return reader_pool_finish(pool);
}

static void explain(const struct smaps *smaps)
{
	struct source_tally *tally = &smaps->capture->tallies[SOURCE_SMAPS];
	bool nothing = !tally->read && !tally->failed;

	if (smaps->late && smaps->late * 2 >= tally->failed)
		tally->reason = late_reason;
	else if (nothing && smaps->nowhere)
		source_set_missing(tally, missing_reason_text);
	else if (nothing)
		tally->read = smaps->empty; /* having no memory is a valid result */
}

/* Names processes without memory separately from those that could not be read. */
static void append_absence(const struct smaps *smaps, struct text *out)
{
	const struct source_tally *tally = &smaps->capture->tallies[SOURCE_SMAPS];
	size_t processes = smaps->capture->snapshot->process_count;

	bool is_failing = tally->failed || (tally->reason && !tally->read);

	if (smaps->empty)
		text_append_string(out, "kernel threads and zombies have no memory of their own");
	if (smaps->empty && is_failing)
		text_format(out, " (%" PRIu64 " of %zu processes); ", smaps->empty, processes);
	if (is_failing)
		source_failure_text(smaps->capture, SOURCE_SMAPS, 0, out);
	if (!out->length)
		text_append_string(out, "the process has ended, or the kernel does not tell it");
}

/* Why some processes have no row or no cells. */
static int note_absences(const struct smaps *smaps)
{
	struct snapshot *snapshot = smaps->capture->snapshot;
	struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];
	CLEANUP(text_free) struct text reason = { 0 };
	int status = 0;

	append_absence(smaps, &reason);
	if (reason.failed)
		return -ENOMEM;
	for (unsigned i = 0; status == 0 && i < smaps->metric_count; i++)
		if (snapshot_measured(snapshot, smaps->metrics[i]) < snapshot->process_count)
			status = snapshot_set_absent(snapshot, smaps->metrics[i],
						     text_string(&reason));
	for (size_t i = 0; status == 0 && i < sheet->columns.count; i++) {
		const struct column *column = &sheet->columns.data[i];

		if (strncmp(column->metric->name, SMAPS_PREFIX, strlen(SMAPS_PREFIX)) == 0 &&
		    column_measured(column, sheet->row_count) < snapshot->process_count)
			status =
				sheet_set_absent(sheet, column->metric->name, text_string(&reason));
	}
	return status;
}

static int note_cost(const struct smaps *smaps, uint64_t elapsed_ns)
{
	struct snapshot *snapshot = smaps->capture->snapshot;

	if (snapshot_note_number(snapshot, SHEET_CAPTURE, "smaps_cost read", smaps->read) < 0 ||
	    snapshot_note_number(snapshot, SHEET_CAPTURE, "smaps_cost late", smaps->late) < 0)
		return -ENOMEM;
	if (!smaps->capture->host->live)
		return 0;
	if (snapshot_note_number(snapshot, SHEET_CAPTURE, "smaps_cost elapsed_ns", elapsed_ns) < 0)
		return -ENOMEM;
	if (!smaps->read)
		return 0;
	return snapshot_note_number(snapshot, SHEET_CAPTURE, "smaps_cost longest_ns",
				    (uint64_t)smaps->longest_ns);
}

int smaps_collect(struct capture *capture)
{
	struct smaps smaps = { .capture = capture };
	struct host_clock started = { 0 }, ended = { 0 };
	int status;

	if (!source_wanted(capture, SOURCE_SMAPS))
		return 0;
	status = begin(&smaps);
	host_clock(capture->host, &started);
	if (status == 0)
		status = capture->host->live ? read_all_live(&smaps) : read_all_recorded(&smaps);
	host_clock(capture->host, &ended);
	proc_buffer_clear(&smaps.buffer);
	if (status < 0)
		return status;
	explain(&smaps);
	status = note_absences(&smaps);
	return status < 0 ? status : note_cost(&smaps, ended.monotonic_ns - started.monotonic_ns);
}
