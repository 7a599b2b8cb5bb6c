/* SPDX-License-Identifier: MIT */
#include "collect/process/smaps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "collect/collector.h"
#include "collect/kernel_parse.h"
#include "host/proc/proc_file.h"
#include "collect/process/reader_pool.h"
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
	struct smaps_metric {
		enum metric_id id;
		const struct metric_source *source;
		unsigned parts; /* of its sum, "A + B + C" */
	} metrics[METRIC_STORED];
	unsigned metric_count;
};

static unsigned count_parts(const char *sum)
{
	unsigned count = 1;

	for (; (sum = strchr(sum, '+')); sum++)
		count++;
	return count;
}

static bool is_part(const char *sum, const char *key)
{
	size_t length = strlen(key);

	for (const char *found = sum; (found = strstr(found, key)); found++)
		if ((found == sum || found[-1] == ' ') &&
		    (found[length] == ' ' || found[length] == '\0'))
			return true;
	return false;
}

static int begin(struct smaps *smaps)
{
	for (int id = 0; id < METRIC_STORED; id++) {
		const struct metric_source *source = metric_source(&metrics[id], PLACE_SMAPS);

		if (!source)
			continue;
		if (snapshot_need_column(smaps->capture->snapshot, id) < 0)
			return -ENOMEM;
		smaps->metrics[smaps->metric_count++] =
			(struct smaps_metric){ id, source, count_parts(source->key) };
	}
	return 0;
}

/* The sink of one process's file. */
struct smaps_sink {
	struct kernel_sink sink; /* must be first: it is cast back */
	struct smaps *smaps;
	uint32_t row; /* of the sheet */
	uint64_t sums[METRIC_STORED];
	unsigned found[METRIC_STORED]; /* parts of each sum */
};

static int take_value(struct kernel_sink *sink, const struct kernel_value *value)
{
	struct smaps_sink *own = (struct smaps_sink *)sink;
	const struct capture *capture = own->smaps->capture;
	char name[SHEET_NAME_SIZE];
	int status;

	_Static_assert(sizeof(SMAPS_PREFIX) + KERNEL_KEY_SIZE <= sizeof(name), "a name has room");
	for (unsigned i = 0; i < own->smaps->metric_count; i++) {
		if (!is_part(own->smaps->metrics[i].source->key, value->key))
			continue;
		own->found[i]++;
		if (__builtin_add_overflow(own->sums[i], value->number, &own->sums[i]))
			own->sums[i] = UINT64_MAX;
	}
	snprintf(name, sizeof(name), SMAPS_PREFIX "%s", value->key);
	status = sheet_set(&capture->snapshot->sheets[SHEET_PROCESSES], own->row, name, CELL_NUMBER,
			   metric_from_raw(value->number, RAW_KIB, &capture->scale));
	return status == -ENOMEM ? status : 0;
}

/* A sum of which a part is missing is absent. */
static int store(struct smaps *smaps, uint32_t process, const char *text)
{
	struct snapshot *snapshot = smaps->capture->snapshot;
	struct smaps_sink sink = { .sink = { take_value }, .smaps = smaps };
	int status = snapshot_process_row(snapshot, process, &sink.row);

	smaps->read++;
	if (status == 0)
		status = kernel_parse(KERNEL_KIB, text, &sink.sink);
	for (unsigned i = 0; status == 0 && i < smaps->metric_count; i++) {
		const struct smaps_metric *metric = &smaps->metrics[i];

		if (sink.found[i] == metric->parts)
			snapshot_set(snapshot, metric->id, process,
				     metric_from_raw(sink.sums[i], metric->source->raw,
						     &smaps->capture->scale));
	}
	return status;
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

static int64_t patience_with(const struct capture *capture, uint32_t process)
{
	uint64_t held;

	if (!snapshot_get(capture->snapshot, METRIC_rss_bytes, process, &held))
		return PATIENCE_NS;
	return PATIENCE_NS + (int64_t)(held >> 30) * PER_GIB_NS;
}

static void read_process(struct smaps *smaps, struct reader_pool *pool, uint32_t process)
{
	struct pool_request request = {
		.tag = process,
		.dir = process_open(smaps->capture, process, &smaps->buffer),
		.patience_ns = patience_with(smaps->capture, process),
	};

	if (request.dir >= 0)
		reader_pool_read(pool, &request);
	else
		source_count_file(smaps->capture, &smaps->capture->tallies[SOURCE_SMAPS],
				  request.dir);
}

static ssize_t read_rollup(const struct pool_request *request, char buffer[POOL_BYTES])
{
	return pool_read_file(request, SMAPS_FILE, buffer);
}

static int read_all(struct smaps *smaps)
{
	struct capture *capture = smaps->capture;
	const struct pool_options options = {
		.read = read_rollup,
		.dir = -1,
		.is_direct = !capture->host->live,
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
		capture->tallies[SOURCE_SMAPS].reason = "no thread could be started to read it";
		return 0;
	}
	for (uint32_t row = 0; row < capture->snapshot->process_count; row++)
		if (process_lacks_memory(capture, row))
			smaps->empty++;
		else
			read_process(smaps, pool, row);
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
		text_append_string(out, "the process has ended, or the kernel does not report it");
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
		if (snapshot_measured(snapshot, smaps->metrics[i].id) < snapshot->process_count)
			status = snapshot_set_absent(snapshot, smaps->metrics[i].id,
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

/* A recording has no time to note. */
static int note_cost(const struct smaps *smaps, uint64_t elapsed_ns)
{
	bool is_live = smaps->capture->host->live;
	const struct {
		const char *name;
		uint64_t value;
		bool is_known;
	} costs[] = {
		{ "smaps_cost read", smaps->read, true },
		{ "smaps_cost late", smaps->late, true },
		{ "smaps_cost elapsed_ns", elapsed_ns, is_live },
		{ "smaps_cost longest_ns", (uint64_t)smaps->longest_ns, is_live && smaps->read },
	};
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(costs) && status == 0; i++)
		if (costs[i].is_known)
			status = snapshot_note_number(smaps->capture->snapshot, SHEET_CAPTURE,
						      costs[i].name, costs[i].value);
	return status;
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
		status = read_all(&smaps);
	host_clock(capture->host, &ended);
	proc_buffer_clear(&smaps.buffer);
	if (status < 0)
		return status;
	explain(&smaps);
	status = note_absences(&smaps);
	return status < 0 ? status : note_cost(&smaps, ended.monotonic_ns - started.monotonic_ns);
}
