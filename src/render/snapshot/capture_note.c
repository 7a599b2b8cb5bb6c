/* SPDX-License-Identifier: MIT */
#include "render/snapshot/capture_note.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/verdict/losses.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "metric/unit.h"
#include "model/run/run_snapshot.h"
#include "model/run/words.h"
#include "model/snapshot/snapshot.h"
#include "model/tree/run.h"
#include "render/run/loss_words.h"
#include "render/sheet/sheet_view.h"
#include "render/table/table.h"

/* How many bytes of a command are shown. */
#define COMMAND_SHOWN 60

/* Appends what was lost, in singular or plural, and what became of it. */
static void add_loss(struct text *out, uint64_t count, const char *one, const char *many,
		     const char *fate)
{
	if (count)
		text_format(out, "%s%" PRIu64 " %s %s", out->length ? "; " : "", count,
			    count == 1 ? one : many, fate);
}

static void append_name(struct text *out, const char *name)
{
	text_append_escaped(out, name, strlen(name));
}

/* Failed reads by file, and which file fails most. */
static void add_failures(struct text *out, const struct snapshot *snapshot,
			 const struct losses *losses)
{
	const char *before = ": ";

	if (!losses->dominant)
		return;
	add_loss(out, losses->read_failures, "read", "reads", "failed");
	if (losses->dominant->failed < losses->read_failures) {
		text_append_string(out, ", most often of ");
		append_name(out, losses->dominant->name);
	}
	for (size_t i = 0; i < snapshot->source_count; i++) {
		const struct source_report *source = &snapshot->sources[i];

		if (!source->failed)
			continue;
		text_append_string(out, before);
		append_name(out, source->name);
		text_format(out, " %" PRIu64 " of %" PRIu64, source->failed,
			    source->read + source->failed);
		before = ", ";
	}
}

/* Adds incomplete sources without a failed read: nothing else would mention them. */
static void add_partial(struct text *out, const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->source_count; i++) {
		const struct source_report *source = &snapshot->sources[i];

		if (source->state != SOURCE_PARTIAL || source->failed || !source->reason)
			continue;
		text_append_string(out, out->length ? "; " : "");
		append_name(out, source->name);
		text_append_string(out, " is partial: ");
		text_append_escaped(out, source->reason, strlen(source->reason));
	}
}

static void add_losses(const struct snapshot *snapshot, struct text *out)
{
	const struct capture_tally *tally = &snapshot->tally;
	struct losses losses = losses_of(snapshot);

	add_loss(out, tally->vanished, "task", "tasks", "ended while being read");
	add_loss(out, tally->processes_ended, "process", "processes",
		 "ended before all files were read");
	add_loss(out, tally->gap_filled, "task", "tasks",
		 "not listed by the iterator, read from procfs");
	add_loss(out, tally->discarded_values, "impossible value", "impossible values",
		 "discarded");
	add_loss(out, tally->negative_dotted_values, "negative time", "negative times",
		 "discarded");
	add_failures(out, snapshot, &losses);
	add_partial(out, snapshot);
	if (losses.kernel_config)
		text_format(out,
			    "%sschedstat or io files do not exist: the kernel was built without "
			    "CONFIG_SCHED_INFO or CONFIG_TASK_IO_ACCOUNTING",
			    out->length ? "; " : "");
}

/* How many metrics could have been measured; those that no capture has are not a loss. */
static size_t possible_metrics(const struct snapshot *snapshot)
{
	size_t count = 0;

	for (int id = 0; id < METRIC_STORED; id++)
		count += !metric_is_only_traced(id) || snapshot->columns[id].values;
	return count;
}

static size_t absent_metrics(const struct snapshot *snapshot)
{
	size_t count = 0;

	for (int id = 0; id < METRIC_STORED; id++)
		count += snapshot->columns[id].absent && snapshot_measured(snapshot, id) == 0;
	return count;
}

/* How many tasks are behind rows that stand for several. */
static uint64_t folded(const struct snapshot *snapshot, enum metric_id count)
{
	uint64_t sum = 0, several;

	for (uint32_t row = 0; row < snapshot_rows(snapshot, count); row++) {
		int32_t number = count == METRIC_process_count ? snapshot->processes[row].tgid :
								 snapshot->tasks[row].tid;

		if (!number && snapshot_get(snapshot, count, row, &several))
			sum += several;
	}
	return sum;
}

uint64_t capture_count(const struct snapshot *snapshot, enum metric_id count)
{
	size_t rows = snapshot_rows(snapshot, count);
	uint64_t sum = 0, value;

	/* In an interval, rows without a tid stand for threads that ended. */
	for (uint32_t row = 0; snapshot->interval_ns && count == METRIC_thread_count && row < rows;
	     row++)
		sum += snapshot->tasks[row].tid != 0;
	if (!snapshot_is_run(snapshot))
		return sum ? sum : rows;
	for (uint32_t row = 0; row < rows; row++)
		sum += snapshot_get(snapshot, count, row, &value) ? value : 0;
	return sum;
}

void capture_size(const struct snapshot *snapshot, struct text *out)
{
	uint64_t threads = capture_count(snapshot, METRIC_thread_count);
	uint64_t processes = capture_count(snapshot, METRIC_process_count);

	text_format(out, "%s%" PRIu64 " thread%s of %" PRIu64 " process%s",
		    run_snapshot_bounds(snapshot) & RUN_BOUND_PROCESSES ? "at least " : "", threads,
		    threads == 1 ? "" : "s", processes, processes == 1 ? "" : "es");
}

/* What the run missed, under the names in its sheet: "losses events". */
static void add_run_losses(struct text *out, const struct sheet *sheet)
{
	static const char prefix[] = "losses ";
	const char *before = "; lost: ";

	for (size_t i = 0; i < sheet->columns.count && sheet->row_count; i++) {
		const struct column *column = &sheet->columns.data[i];
		uint64_t count = 0;

		if (strncmp(column->metric->name, prefix, strlen(prefix)) != 0 ||
		    column_get(column, 0, &count) != CELL_NUMBER || !count)
			continue;
		text_format(out, "%s%" PRIu64 " %s", before, count,
			    loss_words(column->metric->name + strlen(prefix), count));
		before = ", ";
	}
}

/* No row has the time of processes that began and ended between two looks: their parents tell it. */
static void add_unseen(struct text *out, const struct sheet *sheet)
{
	const struct column *column = sheet_find(sheet, "counts unseen_cpu_ns");
	uint64_t unseen = 0;

	if (!column || !sheet->row_count || column_get(column, 0, &unseen) != CELL_NUMBER ||
	    !unseen)
		return;
	text_append_string(out, "; ");
	unit_format(out, UNIT_NS, unseen);
	text_append_string(out, " of CPU time more are of processes that were not seen");
}

/*
 * Appends it as a person would read it, without the file's escapes, and only
 * the start of a script.
 */
static void append_command(struct text *out, const char *command)
{
	CLEANUP(text_free) struct text word = { 0 };
	CLEANUP(text_free) struct text line = { 0 };
	size_t length;

	while (line.length <= COMMAND_SHOWN && words_next(&command, &word)) {
		text_append_string(&line, line.length ? " " : "");
		text_append(&line, text_string(&word), word.length);
	}
	length = line.length <= COMMAND_SHOWN ? line.length : COMMAND_SHOWN;
	while (length && length < line.length && (line.data[length] & 0xc0) == 0x80)
		length--;
	text_append(out, text_string(&line), length);
	text_append_string(out, length < line.length || command ? "…" : "");
}

static bool is_since_start(const struct snapshot *snapshot)
{
	const struct fact *since = &snapshot->facts[FACT_counters_since];

	return since->present && strcmp(since->text, "process_start") == 0;
}

/* What was run, how long, how it ended; which rows stand for several tasks. */
static void run_note(const struct snapshot *snapshot, struct text *out)
{
	bool is_attach = strcmp(snapshot->facts[FACT_recording].text, "attach") == 0;
	uint64_t processes = folded(snapshot, METRIC_process_count);
	uint64_t threads = folded(snapshot, METRIC_thread_count);
	const struct fact *known = snapshot->facts;

	text_append_string(out, is_attach ? "attached to " : "run of ");
	if (known[FACT_command].present)
		append_command(out, known[FACT_command].text);
	text_append_string(out, ": ");
	capture_size(snapshot, out);
	if (known[FACT_duration_ns].present) {
		text_append_string(out, " in ");
		unit_format(out, UNIT_NS, known[FACT_duration_ns].number);
	}
	if (known[FACT_outcome].present)
		text_format(out, ", %s", known[FACT_outcome].text);
	if (known[FACT_task_source].present)
		text_format(out, ", followed by %s", known[FACT_task_source].text);
	if (is_attach)
		text_format(out, "; counters count from %s",
			    is_since_start(snapshot) ? "the start of each process" : "attaching");
	if (processes || threads)
		text_format(out,
			    "; %" PRIu64 " process%s and %" PRIu64
			    " thread%s that used little are in rows that add them up",
			    processes, processes == 1 ? "" : "es", threads,
			    threads == 1 ? "" : "s");
	add_unseen(out, &snapshot->sheets[SHEET_RUN]);
	add_run_losses(out, &snapshot->sheets[SHEET_RUN]);
}

void capture_note(const struct snapshot *snapshot, struct text *out)
{
	const struct fact *source = &snapshot->facts[FACT_task_source];
	const struct fact *duration = &snapshot->facts[FACT_duration_ns];
	CLEANUP(text_free) struct text losses = { 0 };

	if (snapshot_is_run(snapshot)) {
		run_note(snapshot, out);
		return;
	}
	capture_size(snapshot, out);
	text_format(out, ", %" PRIu64 " tid%s walked", snapshot->tally.tids_walked,
		    snapshot->tally.tids_walked == 1 ? "" : "s");
	if (source->present)
		text_format(out, " by %s", source->text);
	if (duration->present) {
		text_append_string(out, " in ");
		unit_format(out, UNIT_NS, duration->number);
	}
	if (absent_metrics(snapshot))
		text_format(out, "; %zu of %zu metrics absent", absent_metrics(snapshot),
			    possible_metrics(snapshot));
	add_losses(snapshot, &losses);
	if (losses.length)
		text_format(out, "; %s", text_string(&losses));
}

void filter_note(const struct filter_report *report, struct text *out)
{
	const struct filter_absence *absent = report->absences;

	text_append_string(out, "only tasks that match ");
	append_name(out, report->text);
	text_format(out, ": %" PRIu64 " of %" PRIu64, report->left, report->tasks);
	for (; absent && absent->tasks; absent++) {
		text_format(out, "; %" PRIu64 " left out because %s is absent: ", absent->tasks,
			    absent->name);
		append_name(out, absent->reason);
	}
}

void filter_json(struct json *json, const struct filter_report *report)
{
	const struct filter_absence *absent = report->absences;

	if (!report->text)
		return;
	json_member_object(json, "filter");
	json_member_string(json, "text", report->text);
	json_member_u64(json, "tasks", report->tasks);
	json_member_u64(json, "left", report->left);
	json_member_array(json, "absent");
	for (; absent && absent->tasks; absent++) {
		json_begin_object(json);
		json_member_string(json, "name", absent->name);
		json_member_u64(json, "tasks", absent->tasks);
		json_member_string(json, "reason", absent->reason);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

void capture_json(struct json *json, const struct snapshot *snapshot)
{
	static const struct table_column columns[] = {
		{ .id = "tids_walked" },
		{ .id = "vanished" },
		{ .id = "read_failures" },
		{ .id = "dominant_read_failure", .is_nullable = true },
		{ .id = "kernel_config_dominant" },
		{ .id = "negative_dotted_values" },
		{ .id = "discarded_values" },
		{ .id = "processes_ended" },
		{ .id = "gap_filled" },
	};
	const struct sheet *sheet = &snapshot->sheets[SHEET_CAPTURE];
	const struct capture_tally *tally = &snapshot->tally;
	struct losses losses = losses_of(snapshot);
	CLEANUP(table_clear) struct table table = { 0 };

	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	if (sheet->row_count)
		sheet_add_columns(&table, sheet, UINT32_MAX);
	table_stream_json(&table, json);
	put_number(&table, tally->tids_walked);
	put_number(&table, tally->vanished);
	put_number(&table, losses.read_failures);
	put_string(&table, losses.dominant ? losses.dominant->name : NULL);
	put_flag(&table, losses.kernel_config);
	put_number(&table, tally->negative_dotted_values);
	put_number(&table, tally->discarded_values);
	put_number(&table, tally->processes_ended);
	put_number(&table, tally->gap_filled);
	if (sheet->row_count)
		sheet_put_row(&table, snapshot, sheet, 0, UINT32_MAX);
}

void source_json_members(struct json *json, const struct source_report *source)
{
	json_member_string(json, "name", source->name);
	json_member_string(json, "state", source_state_name(source->state));
	json_member_text(json, "reason", source->reason);
	json_member_u64(json, "read", source->read);
	json_member_u64(json, "failed", source->failed);
}
