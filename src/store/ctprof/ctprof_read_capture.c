/* SPDX-License-Identifier: MIT */
/* What a ctprof file says about the host, as facts, and about its capture. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/dictionary.h"
#include "store/ctprof/ctprof_read.h"

int ctprof_read_captured(struct ctprof_reader *reader, const json_t *value)
{
	uint64_t time;
	int status = 0;

	if (json_is_null(value))
		return 0;
	status = ctprof_number(reader, value, "it", &time);
	if (status == 0)
		snapshot_set_fact_number(reader->snapshot, FACT_captured_at_unix_ns, time);
	return status;
}

int ctprof_read_probe(struct ctprof_reader *reader, const json_t *value)
{
	return ctprof_read_object(reader, value, SHEET_CAPTURE, CTPROF_OBJECT_PROBE);
}

int ctprof_read_taskstats(struct ctprof_reader *reader, const json_t *value)
{
	return ctprof_read_object(reader, value, SHEET_CAPTURE, CTPROF_OBJECT_TASKSTATS);
}

int ctprof_read_sched_ext(struct ctprof_reader *reader, const json_t *value)
{
	return ctprof_read_object(reader, value, SHEET_HOST, CTPROF_OBJECT_SCHED_EXT);
}

static int read_text_fact(struct ctprof_reader *reader, const json_t *host,
			  const struct ctprof_fact *row)
{
	const char *text = NULL;
	int status = ctprof_get_text(reader, host, row->key, &text);

	if (status < 0 || !text)
		return status;
	text_clear(&reader->scratch);
	text_append_string(&reader->scratch, text);
	if (reader->scratch.failed)
		return -ENOMEM;
	for (size_t i = 0; row->form == CTPROF_FACT_WORD && i < reader->scratch.length; i++)
		if (reader->scratch.data[i] == '_')
			reader->scratch.data[i] = '-';
	return snapshot_set_fact_text(reader->snapshot, row->fact, text_string(&reader->scratch));
}

static int read_number_fact(struct ctprof_reader *reader, const json_t *host,
			    const struct ctprof_fact *row)
{
	struct raw_scale scale = { 0 };
	uint64_t number = 0;
	bool given;
	int status = ctprof_get_u64(reader, host, row->key, &given, &number);

	if (status < 0 || !given)
		return status;
	if (row->form == CTPROF_FACT_CPU_COUNT)
		return snapshot_note_number(reader->snapshot, SHEET_HOST, CTPROF_CPU_COUNT, number);
	if (row->form == CTPROF_FACT_KIB)
		number = metric_from_raw(number, RAW_KIB, &scale);
	snapshot_set_fact_number(reader->snapshot, row->fact, number);
	return 0;
}

int ctprof_read_host(struct ctprof_reader *reader, const json_t *value)
{
	const json_t *host = NULL;
	int status = ctprof_need_object(reader, value, &host);

	for (size_t i = 0; i < ctprof_fact_count && status == 0 && host; i++) {
		const struct ctprof_fact *row = &ctprof_facts[i];
		bool is_text = row->form == CTPROF_FACT_TEXT || row->form == CTPROF_FACT_WORD;

		status = is_text ? read_text_fact(reader, host, row) :
				   read_number_fact(reader, host, row);
	}
	return status < 0 ? status :
			    ctprof_read_object(reader, value, SHEET_HOST, CTPROF_OBJECT_HOST);
}

int ctprof_read_parse(struct ctprof_reader *reader, const json_t *value)
{
	struct capture_tally *tally = &reader->snapshot->tally;
	const json_t *summary = NULL, *files = NULL;
	const char *dominant = NULL;
	bool given;
	int status = ctprof_need_object(reader, value, &summary);

	if (status < 0 || !summary)
		return status;
	status = ctprof_get_u64(reader, summary, "tids_walked", &given, &tally->tids_walked);
	if (status == 0)
		status = ctprof_get_u64(reader, summary, "negative_dotted_values", &given,
					&tally->negative_dotted_values);
	if (status == 0)
		status = ctprof_get_u64(reader, summary, "read_failures", &given,
					&reader->read_failures);
	if (status == 0)
		status = ctprof_get_text(reader, summary, "dominant_read_failure", &dominant);
	if (status == 0)
		status = ctprof_intern(reader, dominant ? dominant : "", &reader->dominant);
	if (status == 0)
		status = ctprof_get_bool(reader, summary, "kernel_config_dominant", &given,
					 &reader->lacks_kernel_option);
	if (status == 0)
		status = ctprof_get_object(reader, summary, "read_failures_by_file", &files);
	return status < 0 || !files ?
		       status :
		       ctprof_read_numbers(reader, SHEET_CAPTURE, CTPROF_FAILURES_PREFIX, files);
}

/* Why the source is partial; NULL without memory. */
static const char *tell_failures(struct ctprof_reader *reader)
{
	struct text *reason = &reader->scratch;

	text_clear(reason);
	text_format(reason, "%" PRIu64 " reads failed when it was captured", reader->read_failures);
	if (reader->dominant)
		text_format(reason, ", most often of %s",
			    snapshot_text(reader->snapshot, reader->dominant));
	if (reader->lacks_kernel_option)
		text_append_string(reason, "; the kernel may be built without CONFIG_SCHED_INFO "
					   "or CONFIG_TASK_IO_ACCOUNTING");
	return reason->failed ?
		       NULL :
		       arena_copy(&reader->snapshot->arena, text_string(reason), reason->length);
}

static int report_source(struct ctprof_reader *reader)
{
	struct source_report *source = snapshot_source(reader->snapshot, CTPROF_SOURCE);

	if (!source)
		return -ENOMEM;
	source->read = reader->threads;
	if (reader->read_failures == 0)
		return 0;
	source->failed = reader->read_failures;
	source->state = SOURCE_PARTIAL;
	source->reason = tell_failures(reader);
	return source->reason ? 0 : -ENOMEM;
}

/* Memory of processes was stored by tgid, since the rows were not sorted yet. */
static void place_processes(struct ctprof_reader *reader)
{
	const struct snapshot *snapshot = reader->snapshot;
	struct sheet *sheet = &reader->snapshot->sheets[SHEET_PROCESSES];

	for (size_t row = 0; row < sheet->row_count; row++)
		sheet->keys[row] =
			(uint32_t)snapshot_find_process(snapshot, (int32_t)sheet->keys[row]);
}

/* Checks that no two rows have the same key; all keys are below `count`. */
static int check_keys(struct ctprof_reader *reader, enum sheet_id id, size_t count)
{
	const struct sheet *sheet = &reader->snapshot->sheets[id];
	CLEANUP(free_pointer) uint8_t *seen = calloc(count + 1, 1);

	if (!seen)
		return -ENOMEM;
	for (size_t row = 0; row < sheet->row_count; row++)
		if (seen[sheet->keys[row]]++)
			return ctprof_bad(reader, "a %s is there twice",
					  id == SHEET_CGROUPS ? "cgroup" : "process's memory");
	return 0;
}

int ctprof_finish_capture(struct ctprof_reader *reader)
{
	struct snapshot *snapshot = reader->snapshot;
	int status;

	place_processes(reader);
	status = snapshot_set_fact_text(snapshot, FACT_task_source, CTPROF_SOURCE);
	if (status == 0)
		status = check_keys(reader, SHEET_PROCESSES, snapshot->process_count);
	if (status == 0)
		status = check_keys(reader, SHEET_CGROUPS, dictionary_count(snapshot->strings));
	if (status == 0)
		status = report_source(reader);
	for (int id = 0; id < SHEET_COUNT && status == 0; id++)
		status = sheet_finish(&snapshot->sheets[id]);
	return status;
}
