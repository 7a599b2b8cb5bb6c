/* SPDX-License-Identifier: MIT */
#include "model/run/run_sheets.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "model/run/run_profile.h"
#include "model/run/run_records.h"
#include "model/run/run_states.h"
#include "model/run/words.h"
#include "model/tree/run_fields.h"

/*
 * Adds the calls of the whole tree, or, if `owner` names a column, of the process or task in that
 * row.
 */
static int add_calls(struct snapshot *snapshot, const struct syscall_table *table,
		     const char *owner, uint32_t owner_row)
{
	struct sheet *sheet = &snapshot->sheets[SHEET_SYSCALLS];

	for (size_t i = 0; i < table->count; i++) {
		const char *name = table->rows[i].name;
		uint32_t id, row;

		if (snapshot_intern(snapshot, name, strlen(name), &id) < 0 ||
		    sheet_add_row(sheet, id, &row) < 0 ||
		    record_write(snapshot, &call_record, row, &table->rows[i].stats) < 0 ||
		    (owner && sheet_set(sheet, row, owner, CELL_NUMBER, owner_row) < 0))
			return -ENOMEM;
	}
	return 0;
}

static int add_categories(struct snapshot *snapshot, const struct syscall_table *table)
{
	char name[SHEET_NAME_SIZE];

	for (int i = 0; i < SYSCALL_CATEGORY_COUNT; i++) {
		snprintf(name, sizeof(name), "category %s count", syscall_category_names[i]);
		if (snapshot_note_number(snapshot, SHEET_RUN, name, table->by_category[i]) < 0)
			return -ENOMEM;
		snprintf(name, sizeof(name), "category %s ns", syscall_category_names[i]);
		if (snapshot_note_number(snapshot, SHEET_RUN, name, table->category_ns[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool find_process(const struct snapshot *snapshot, const struct task_key *key, uint32_t *ret)
{
	for (uint32_t row = 0; row < snapshot->process_count; row++)
		if (snapshot->processes[row].tgid == key->pid &&
		    snapshot->processes[row].start_time_ns == key->start_ns) {
			*ret = row;
			return true;
		}
	return false;
}

/* Adds the calls of live threads.  Call it when rows no longer move. */
static int add_live_calls(struct snapshot *snapshot, const struct tree_process *process)
{
	uint32_t row;
	int status;

	if (!process->live_count || !find_process(snapshot, &process->key, &row))
		return 0;
	status = add_calls(snapshot, &process->syscalls, "process", row);
	for (uint32_t task = snapshot->processes[row].first_task;
	     task < snapshot->task_count && snapshot->tasks[task].process == row; task++)
		for (size_t i = 0; i < process->live_count && status == 0; i++)
			if (process->live[i]->key.tid == snapshot->tasks[task].tid)
				status = add_calls(snapshot, &process->live[i]->syscalls, "task",
						   task);
	return status;
}

/* Adds the rows of a sheet whose keys are all 0. */
static int add_records(struct snapshot *snapshot, const struct record_kind *kind,
		       const void *records, size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t row;

		if (sheet_add_row(&snapshot->sheets[kind->sheet], 0, &row) < 0 ||
		    record_write(snapshot, kind, row, (const char *)records + i * size) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_sources(struct snapshot *snapshot, const struct run *run)
{
	for (size_t i = 0; i < run->source_count; i++) {
		const struct source_report *source = &run->sources[i];
		struct source_report *report = snapshot_source(snapshot, source->name);

		if (!report)
			return -ENOMEM;
		report->state = source->state;
		if (source->reason &&
		    !(report->reason =
			      arena_copy(&snapshot->arena, source->reason, strlen(source->reason))))
			return -ENOMEM;
	}
	return 0;
}

static int note_amounts(struct snapshot *snapshot, const char *prefix, const struct amounts *sums)
{
	char name[SHEET_NAME_SIZE];
	int status = 0;

	for (int i = 0; i < AMOUNT_COUNT && status == 0; i++) {
		snprintf(name, sizeof(name), "%s %s", prefix, metrics[amount_metrics[i]].name);
		if (amounts_has(sums, i))
			status = snapshot_note_number(snapshot, SHEET_RUN, name,
						      amounts_get(sums, i));
	}
	return status;
}

static void add_outcome(struct snapshot *snapshot, const struct run *run)
{
	char text[64] = "";

	if (run->end != RUN_EXITED)
		snprintf(text, sizeof(text), "%s", run_end_name(run->end));
	else if (run->has_status && WIFSIGNALED(run->status))
		snprintf(text, sizeof(text), "ended by signal %d", WTERMSIG(run->status));
	else if (run->has_status)
		snprintf(text, sizeof(text), "exited with %d", WEXITSTATUS(run->status));
	else
		snprintf(text, sizeof(text), "exited");
	snapshot_set_fact_text(snapshot, FACT_outcome, text);
}

bool fact_is_of_recording(int id)
{
	return id == FACT_filter || id == FACT_recording || id == FACT_counters_since ||
	       id == FACT_command || id == FACT_outcome || id == FACT_duration_ns ||
	       id == FACT_task_source;
}

int run_copy_host(struct snapshot *snapshot, const struct snapshot *host)
{
	const struct sheet *sheet = &host->sheets[SHEET_HOST];
	int status = 0;

	for (int id = 0; id < FACT_COUNT; id++) {
		const struct fact *fact = &host->facts[id];

		if (!fact->present || fact_is_of_recording(id))
			continue;
		if (facts[id].is_text)
			snapshot_set_fact_text(snapshot, (enum fact_id)id, fact->text);
		else
			snapshot_set_fact_number(snapshot, (enum fact_id)id, fact->number);
	}
	for (size_t i = 0; i < sheet->columns.count && status == 0; i++) {
		const struct column *column = &sheet->columns.data[i];
		uint64_t value;
		enum cell_state state =
			sheet->row_count ? column_get(column, 0, &value) : CELL_ABSENT;

		if (state == CELL_NUMBER)
			status = snapshot_note_number(snapshot, SHEET_HOST, column->metric->name,
						      value);
		else if (state == CELL_TEXT)
			status = snapshot_note_text(snapshot, SHEET_HOST, column->metric->name,
						    snapshot_text(host, (uint32_t)value));
		else if (state == CELL_ABSENT && column->absent)
			status = sheet_set_absent(&snapshot->sheets[SHEET_HOST],
						  column->metric->name, column->absent);
	}
	return status;
}

/* What the processors counted, and GPUs did, is shown and compared like the host's readings. */
static int note_hardware(struct snapshot *snapshot, const struct run *run)
{
	int status = 0;

	for (size_t i = 0; i < run_field_count && status == 0; i++) {
		const struct run_number *number = run_field_at(run, &run_fields[i]);
		bool is_gpu = run_fields[i].section == RUN_SECTION_GPU;
		char name[SHEET_NAME_SIZE];

		if ((run_fields[i].section != RUN_SECTION_HARDWARE && !is_gpu) ||
		    run_fields[i].type != RUN_FIELD_OPTIONAL || !number->present)
			continue;
		snprintf(name, sizeof(name), is_gpu ? "gpu run %s" : "hardware %s",
			 run_fields[i].key);
		status = snapshot_note_number(snapshot, SHEET_HOST, name, number->value);
	}
	return status;
}

/* Why nothing was counted, at the first reading of each source. */
static int note_no_hardware(struct snapshot *snapshot, const struct run *run)
{
	static const struct {
		const char *source, *reading;
	} all[] = { { "hardware_counters", "hardware cycles" },
		    { "energy", "hardware package_energy_uj" },
		    { "gpu", "gpu run samples" } };
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all) && status == 0; i++) {
		const struct source_report *source = run_source(run, all[i].source);

		if (source && !run_source_works(source) && source->reason)
			status = sheet_set_absent(&snapshot->sheets[SHEET_HOST], all[i].reading,
						  source->reason);
	}
	return status;
}

static int add_about(struct snapshot *snapshot, const struct run *run)
{
	CLEANUP(text_free) struct text words = { 0 };
	const struct tree *tree = run->tree;
	uint32_t row;

	for (size_t i = 0; run->command && run->command[i]; i++)
		words_append(&words, run->command[i], strlen(run->command[i]), i == 0);
	for (size_t i = 0; i < run->pid_count; i++)
		text_format(&words, "%s%d", i ? " " : "", run->pids[i]);
	if (!words.length)
		text_format(&words, "%d", run->pid);
	if (words.failed || sheet_add_row(&snapshot->sheets[SHEET_RUN], 0, &row) < 0 ||
	    (run->host && run_copy_host(snapshot, run->host) < 0) ||
	    run_add_states(snapshot, run) < 0)
		return -ENOMEM;
	snapshot_set_fact_text(snapshot, FACT_recording,
			       run->mode == RUN_ATTACH ? "attach" : "run");
	if (run->mode == RUN_ATTACH)
		snapshot_set_fact_text(snapshot, FACT_counters_since,
				       run->since_start ? "process_start" : "attaching");
	if (run->children_excluded.present)
		snapshot_set_fact_text(snapshot, FACT_filter, "processes without their children");
	snapshot_set_fact_text(snapshot, FACT_command, words.data);
	snapshot_set_fact_number(snapshot, FACT_captured_at_unix_ns, run->begin_unix_ns);
	snapshot_set_fact_number(snapshot, FACT_duration_ns, run_wall_ns(run));
	if (run->tracer)
		snapshot_set_fact_text(snapshot, FACT_task_source, run->tracer);
	add_outcome(snapshot, run);
	if (record_write(snapshot, &run_record, row, run) < 0 ||
	    record_write(snapshot, &tree_record, row, tree) < 0 ||
	    run_fields_write(snapshot, run) < 0 || note_hardware(snapshot, run) < 0 ||
	    note_no_hardware(snapshot, run) < 0 || add_sources(snapshot, run) < 0 ||
	    snapshot_note_text(snapshot, SHEET_RUN, "end", run_end_name(run->end)) < 0 ||
	    snapshot_note_number(snapshot, SHEET_RUN, "lower_bounds", run_lower_bounds(run)) < 0 ||
	    note_amounts(snapshot, "total", &tree->amounts) < 0 ||
	    note_amounts(snapshot, "folded", &tree->folded) < 0)
		return -ENOMEM;
	return 0;
}

static int note_absent(struct snapshot *snapshot, enum metric_id id, const char *reason)
{
	if (snapshot_measured(snapshot, id) == snapshot_rows(snapshot, id))
		return 0;
	return snapshot_set_absent(snapshot, id, reason);
}

static bool is_of_calls(enum metric_id id)
{
	return id == METRIC_net_rx_bytes || id == METRIC_net_tx_bytes;
}

static bool is_wait(enum metric_id id)
{
	return metrics[id].section == SECTION_WAITS || id == METRIC_wait_count ||
	       id == METRIC_wait_max;
}

/* Sets the reason of a source that did not work for the metrics that come from it. */
static int add_source_reason(struct snapshot *snapshot, const struct run *run, const char *name,
			     const char *what, bool (*is_from)(enum metric_id id))
{
	const struct source_report *source = run_source(run, name);
	char reason[256];
	int status = 0;

	if (!source || run_source_works(source))
		return 0;
	snprintf(reason, sizeof(reason), "%s: %s", what,
		 source->reason ? source->reason : source_state_name(source->state));
	for (size_t i = 0; i < AMOUNT_COUNT && status == 0; i++)
		if (is_from(amount_metrics[i]))
			status = note_absent(snapshot, amount_metrics[i], reason);
	return status;
}

/* Sets the reasons why a metric has no cells, or why only some rows have one. */
static int add_reasons(struct snapshot *snapshot, const struct run *run)
{
	static const struct {
		enum metric_id id;
		const char *reason;
	} known[] = {
		{ METRIC_exit_code,
		  "the process was ended by a signal, lives, or its end was not seen" },
		{ METRIC_exit_signal, "no signal ended the process" },
		{ METRIC_failures, "the process lives, or its end was not seen" },
		{ METRIC_end_ns, "the process lives" },
		{ METRIC_rss_bytes,
		  "the process ended: hiwater_rss_bytes has the most that it had" },
		{ METRIC_open_fds, "the process ended" },
		{ METRIC_uid,
		  "the process was not read before it ended, or is added up with others" },
	};
	char traced[128];
	int status = 0;

	snprintf(traced, sizeof(traced),
		 "the tracer %s does not measure it for every task: see `taskscope doctor`",
		 run->tracer ? run->tracer : "of this file");
	for (size_t i = 0; i < ARRAY_SIZE(known) && status == 0; i++)
		status = note_absent(snapshot, known[i].id, known[i].reason);
	if (status == 0)
		status = add_source_reason(snapshot, run, "syscalls",
					   "system calls were not counted", is_of_calls);
	if (status == 0 && run->since_start)
		status = add_source_reason(snapshot, run, "ledger", "waits were not counted",
					   is_wait);
	for (size_t i = 0; i < AMOUNT_COUNT && status == 0; i++)
		status = note_absent(snapshot, amount_metrics[i], traced);
	for (int id = 0; id < METRIC_STORED && status == 0; id++)
		if (!snapshot_measured(snapshot, (enum metric_id)id))
			status = snapshot_set_absent(snapshot, (enum metric_id)id,
						     "run and attach do not read it");
	return status;
}

/* Adds the samples of the tree that were kept. */
static int add_samples(struct snapshot *snapshot, const struct run *run)
{
	struct sheet *sheet = &snapshot->sheets[SHEET_SAMPLES];
	int status = 0;

	for (size_t n = 0; n < run->past.samples.count && status == 0; n++) {
		const struct run_sample *sample = &run->past.samples.data[n];
		uint32_t row;

		if (sheet_add_row(sheet, 0, &row) < 0)
			return -ENOMEM;
		status = record_write(snapshot, &sample_record, row, sample);
		for (int i = 0; i < AMOUNT_COUNT && status == 0; i++)
			if (amounts_has(&sample->amounts, i))
				status = sheet_set(sheet, row, metrics[amount_metrics[i]].name,
						   CELL_NUMBER, amounts_get(&sample->amounts, i));
	}
	return status;
}

static int add_path(struct snapshot *snapshot, const struct critical_path *path)
{
	int status = record_write(snapshot, &path_record, 0, path);

	if (status == 0)
		status = add_records(snapshot, &part_record, path->parts.data, path->parts.count,
				     sizeof(path->parts.data[0]));
	if (status == 0)
		status = add_records(snapshot, &segment_record, path->segments.data,
				     path->segments.count, sizeof(path->segments.data[0]));
	return status;
}

int run_add_sheets(struct snapshot *snapshot, const struct run *run)
{
	const struct tree *tree = run->tree;
	int status = add_about(snapshot, run);

	if (status == 0)
		status = add_records(snapshot, &wait_record, tree->top_waits, tree->top_wait_count,
				     sizeof(tree->top_waits[0]));
	if (status == 0)
		status = add_records(snapshot, &phase_record, run->phases.list.data,
				     run->phases.list.count, sizeof(run->phases.list.data[0]));
	if (status == 0)
		status = add_records(snapshot, &event_record, run->past.events.data,
				     run->past.events.count, sizeof(run->past.events.data[0]));
	if (status == 0)
		status = add_records(snapshot, &waiter_record, run->deadlock.waiters,
				     run->deadlock.count, sizeof(run->deadlock.waiters[0]));
	if (status == 0)
		status = add_records(snapshot, &stretch_record, run->segments.list,
				     run->segments.count, sizeof(run->segments.list[0]));
	if (status == 0)
		status = add_records(snapshot, &gpu_user_record, run->gpu_users.list,
				     run->gpu_users.count, sizeof(run->gpu_users.list[0]));
	if (status == 0 && run->path.is_known)
		status = add_path(snapshot, &run->path);
	if (status == 0 && run->profile)
		status = run_add_profile(snapshot, run->profile);
	return status < 0 ? status : add_samples(snapshot, run);
}

int run_add_references(struct snapshot *snapshot, const struct run *run)
{
	const struct tree *tree = run->tree;
	uint32_t fullest;
	int status = add_calls(snapshot, &tree->syscalls, NULL, 0);

	if (status == 0)
		status = add_categories(snapshot, &tree->syscalls);
	for (size_t i = 0; i < tree->count && status == 0; i++)
		status = add_live_calls(snapshot, tree->all[i]);
	if (status == 0 && tree->fullest && find_process(snapshot, &tree->fullest->key, &fullest))
		status = snapshot_note_number(snapshot, SHEET_RUN, "fullest", fullest);
	return status < 0 ? status : add_reasons(snapshot, run);
}
