/* SPDX-License-Identifier: MIT */
/* What a ctprof file says about the host, as facts, and about its capture. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "store/ctprof/ctprof_read.h"

void ctprof_read_captured(struct ctprof_reader *reader, const json_t *value)
{
	uint64_t time;

	if (!json_is_null(value) && ctprof_number(reader, value, "it", &time))
		snapshot_set_fact_number(reader->snapshot, FACT_captured_at_unix_ns, time);
}

static void read_text_fact(struct ctprof_reader *reader, const json_t *host,
			   const struct ctprof_fact *row)
{
	const char *text = ctprof_get_text(reader, host, row->key);
	struct text *copy = &reader->scratch;

	if (!text)
		return;
	text_clear(copy);
	text_append_string(copy, text);
	for (size_t i = 0; row->form == CTPROF_FACT_WORD && i < copy->length; i++)
		if (copy->data[i] == '_')
			copy->data[i] = '-';
	ctprof_check(reader, copy->failed ? -ENOMEM :
					    snapshot_set_fact_text(reader->snapshot, row->fact,
								   text_string(copy)));
}

static void read_number_fact(struct ctprof_reader *reader, const json_t *host,
			     const struct ctprof_fact *row)
{
	struct raw_scale scale = { 0 };
	uint64_t number;

	if (!ctprof_get_u64(reader, host, row->key, &number))
		return;
	if (row->form == CTPROF_FACT_KIB)
		number = metric_from_raw(number, RAW_KIB, &scale);
	if (row->form == CTPROF_FACT_CPU_COUNT)
		ctprof_check(reader, snapshot_note_number(reader->snapshot, SHEET_HOST,
							  CTPROF_CPU_COUNT, number));
	else
		snapshot_set_fact_number(reader->snapshot, row->fact, number);
}

void ctprof_read_host(struct ctprof_reader *reader, const json_t *value)
{
	const json_t *host = ctprof_need_object(reader, value);

	for (size_t i = 0; i < ctprof_fact_count && host; i++) {
		const struct ctprof_fact *row = &ctprof_facts[i];

		if (row->form == CTPROF_FACT_TEXT || row->form == CTPROF_FACT_WORD)
			read_text_fact(reader, host, row);
		else
			read_number_fact(reader, host, row);
	}
	ctprof_read_object(reader, value, CTPROF_OBJECT_HOST);
}

void ctprof_read_parse(struct ctprof_reader *reader, const json_t *value)
{
	struct capture_tally *tally = &reader->snapshot->tally;
	const json_t *summary = ctprof_need_object(reader, value);
	const char *dominant;

	if (!summary)
		return;
	ctprof_get_u64(reader, summary, "tids_walked", &tally->tids_walked);
	ctprof_get_u64(reader, summary, "negative_dotted_values", &tally->negative_dotted_values);
	ctprof_get_u64(reader, summary, "read_failures", &reader->read_failures);
	dominant = ctprof_get_text(reader, summary, "dominant_read_failure");
	if (dominant)
		ctprof_intern(reader, dominant, &reader->dominant);
	ctprof_get_bool(reader, summary, "kernel_config_dominant", &reader->lacks_kernel_option);
	ctprof_read_failures(reader, ctprof_get_object(reader, summary, "read_failures_by_file"));
}

/* Why the source is partial; NULL without memory. */
static const char *explain_failures(struct ctprof_reader *reader)
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

static void report_source(struct ctprof_reader *reader)
{
	struct source_report *source = snapshot_source(reader->snapshot, CTPROF_SOURCE);

	if (!ctprof_check(reader, source ? 0 : -ENOMEM))
		return;
	source->read = reader->threads;
	if (reader->read_failures == 0)
		return;
	source->failed = reader->read_failures;
	source->state = SOURCE_PARTIAL;
	source->reason = explain_failures(reader);
	ctprof_check(reader, source->reason ? 0 : -ENOMEM);
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
static void check_keys(struct ctprof_reader *reader, enum sheet_id id, size_t count)
{
	const struct sheet *sheet = &reader->snapshot->sheets[id];
	CLEANUP(free_pointer) uint8_t *seen = calloc(count + 1, 1);

	if (!ctprof_check(reader, seen ? 0 : -ENOMEM))
		return;
	for (size_t row = 0; row < sheet->row_count && ctprof_is_good(reader); row++)
		if (seen[sheet->keys[row]]++)
			ctprof_bad(&reader->failure, "a %s is there twice",
				   id == SHEET_CGROUPS ? "cgroup" : "process's memory");
}

void ctprof_finish_capture(struct ctprof_reader *reader)
{
	struct snapshot *snapshot = reader->snapshot;

	place_processes(reader);
	ctprof_check(reader, snapshot_set_fact_text(snapshot, FACT_task_source, CTPROF_SOURCE));
	check_keys(reader, SHEET_PROCESSES, snapshot->process_count);
	check_keys(reader, SHEET_CGROUPS, dictionary_count(snapshot->strings));
	report_source(reader);
	ctprof_check(reader, snapshot_finish_sheets(snapshot));
}
