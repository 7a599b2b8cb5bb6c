/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_json.h"

#include "analyze/compare/compare_sections.h"
#include "base/json.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "render/compare/compare_value.h"
#include "render/compare/compare_view.h"

#define FORMAT_VERSION 1

static void member_double(struct json *json, const char *key, double value)
{
	json_key(json, key);
	json_double(json, value);
}

static void member_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

static void write_snapshot(struct json *json, const char *file, const struct snapshot *snapshot)
{
	const struct fact *captured = &snapshot->facts[FACT_captured_at_unix_ns];
	const struct fact *boot = &snapshot->facts[FACT_boot_id];

	json_begin_object(json);
	if (file)
		json_member_string(json, "file", file);
	if (captured->present)
		json_member_u64(json, "captured_at_unix_ns", captured->number);
	if (boot->present)
		json_member_string(json, "boot_id", boot->text ? boot->text : "");
	json_member_u64(json, "tasks", snapshot->task_count);
	json_member_u64(json, "processes", snapshot->process_count);
	json_end_object(json);
}

static void write_side(struct json *json, const char *key, const struct compared_files *files)
{
	json_key(json, key);
	json_begin_array(json);
	for (size_t i = 0; i < files->count; i++)
		write_snapshot(json, files->names ? files->names[i] : NULL, files->snapshots[i]);
	json_end_array(json);
}

static void write_notes(struct json *json, const struct comparison *comparison)
{
	json_key(json, "notes");
	json_begin_array(json);
	for (size_t i = 0; i < comparison->notes.count; i++)
		json_string(json, comparison->notes.data[i]);
	json_end_array(json);
}

static void write_fact(struct json *json, const char *key, const struct host_change *change,
		       const char *value)
{
	uint64_t number;

	if (value && change->is_number && parse_u64(value, &number))
		json_member_u64(json, key, number);
	else if (value)
		json_member_string(json, key, value);
}

static void write_host_changes(struct json *json, const struct comparison *comparison)
{
	json_key(json, "host_changes");
	json_begin_array(json);
	for (size_t i = 0; i < comparison->host_changes.count; i++) {
		const struct host_change *change = &comparison->host_changes.data[i];

		json_begin_object(json);
		json_member_string(json, "name", change->name);
		write_fact(json, "before", change, change->before);
		write_fact(json, "after", change, change->after);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_group(struct json *json, const struct comparison *comparison,
			const struct compared_group *group)
{
	json_begin_object(json);
	json_member_string(json, "key", group->key);
	json_member_u64(json, "tasks_before", group->tasks_before);
	json_member_u64(json, "tasks_after", group->tasks_after);
	if (comparison->mode == COMPARE_INTERVAL) {
		json_member_u64(json, "born", group->born);
		json_member_u64(json, "ended", group->ended);
	}
	if (group->renamed_from)
		json_member_string(json, "renamed_from", group->renamed_from);
	json_end_object(json);
}

static void write_groups(struct json *json, const struct comparison *comparison)
{
	json_key(json, "groups");
	json_begin_array(json);
	for (size_t i = 0; i < comparison->groups.count; i++)
		write_group(json, comparison, &comparison->groups.data[i]);
	json_end_array(json);
}

static void write_runs(struct json *json, const char *key, const struct compared_value *median,
		       double low, double high)
{
	json_key(json, key);
	json_begin_object(json);
	if (median->shape != VALUE_ABSENT) {
		json_key(json, "median");
		compare_value_json(json, median);
	}
	member_double(json, "low", low);
	member_double(json, "high", high);
	json_end_object(json);
}

static void write_significance(struct json *json, const struct comparison_row *row)
{
	const struct significance *runs = &row->significance;

	json_key(json, "significance");
	json_begin_object(json);
	member_double(json, "p", runs->p);
	member_bool(json, "noise", runs->is_noise);
	write_runs(json, "before", &row->before, runs->before_low, runs->before_high);
	write_runs(json, "after", &row->after, runs->after_low, runs->after_high);
	json_end_object(json);
}

static void write_value(struct json *json, const char *key, const struct compared_value *value)
{
	if (value->shape == VALUE_ABSENT)
		return;
	json_key(json, key);
	compare_value_json(json, value);
}

static void write_rates(struct json *json, const struct comparison *comparison,
			const struct comparison_row *row)
{
	if (!row->has_rate)
		return;
	if (comparison->mode == COMPARE_INTERVAL) {
		member_double(json, "per_second", row->per_second);
		return;
	}
	if (row->has_rate_before)
		member_double(json, "per_second_before", row->rate_before);
	if (row->has_rate_after)
		member_double(json, "per_second_after", row->rate_after);
}

static void write_row(struct json *json, const struct comparison *comparison,
		      const struct comparison_row *row)
{
	json_begin_object(json);
	json_member_string(json, "section", compare_section_name(row->section));
	json_member_string(json, "group", comparison->groups.data[row->group].key);
	json_member_string(json, "metric", row->metric->name);
	json_member_string(json, "unit", metric_unit_name(compare_unit(row)));
	write_value(json, "before", &row->before);
	write_value(json, "after", &row->after);
	write_value(json, "interval", &row->interval);
	if (row->delta.known) {
		json_key(json, "delta");
		compare_delta_json(json, &row->delta);
	}
	write_rates(json, comparison, row);
	json_member_u64(json, "measured_before", row->before.measured);
	json_member_u64(json, "measured_after", row->after.measured);
	json_member_string(json, "state", compare_state_name(row->state));
	if (row->state == ROW_ABSENT && row->reason)
		json_member_string(json, "reason", row->reason);
	member_double(json, "share", row->share);
	if (row->significance.tested)
		write_significance(json, row);
	json_end_object(json);
}

static void write_rows(struct json *json, const struct compare_view *view)
{
	const struct comparison *comparison = view->comparison;
	size_t shown[COMPARE_SECTION_COUNT] = { 0 };

	json_key(json, "rows");
	json_begin_array(json);
	for (size_t i = 0; i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		if (!view->limit || shown[row->section]++ < view->limit)
			write_row(json, comparison, row);
	}
	json_end_array(json);
}

/* Writes how many rows of each section are left out; sections that lack none are not named. */
static void write_tally(struct json *json, const char *key, const struct comparison *comparison,
			size_t offset)
{
	json_key(json, key);
	json_begin_object(json);
	for (int id = 0; id < COMPARE_SECTION_COUNT; id++) {
		const struct row_tally *tally = &comparison->tallies[id];
		uint64_t count = *(const uint64_t *)((const char *)tally + offset);

		if (count)
			json_member_u64(json, compare_section_name((enum compare_section)id),
					count);
	}
	json_end_object(json);
}

static const char *outcome_name(enum fail_outcome outcome)
{
	static const char *const names[] = {
		[FAIL_PASSED] = "passed",
		[FAIL_FAILED] = "failed",
		[FAIL_NOISE] = "noise",
		[FAIL_UNKNOWN] = "unknown",
	};

	return names[outcome];
}

static void write_finding(struct json *json, const struct compare_finding *finding)
{
	json_begin_object(json);
	json_member_string(json, "condition", finding->condition);
	json_member_string(json, "outcome", outcome_name(finding->outcome));
	if (finding->group)
		json_member_string(json, "group", finding->group);
	if (finding->outcome != FAIL_UNKNOWN)
		member_double(json, "change", finding->change);
	json_member_string(json, "sentence", finding->sentence);
	json_end_object(json);
}

static void write_findings(struct json *json, const struct compare_view *view)
{
	json_key(json, "fail_on");
	json_begin_array(json);
	for (size_t i = 0; i < view->finding_count; i++)
		write_finding(json, &view->findings[i]);
	json_end_array(json);
}

void compare_json_print(const struct compare_view *view, FILE *out)
{
	const struct comparison *comparison = view->comparison;
	struct json json = json_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "format", "taskscope-comparison");
	json_member_u64(&json, "version", FORMAT_VERSION);
	json_member_string(&json, "mode", compare_mode_name(comparison->mode));
	if (comparison->mode == COMPARE_INTERVAL) {
		json_member_u64(&json, "elapsed_ns", comparison->elapsed_ns);
		json_member_u64(&json, "processes_ended", comparison->processes_ended);
	}
	write_side(&json, "before", &view->before);
	write_side(&json, "after", &view->after);
	write_notes(&json, comparison);
	write_host_changes(&json, comparison);
	json_member_string(&json, "group_by", group_axis_name(view->axis));
	write_groups(&json, comparison);
	write_tally(&json, "unchanged", comparison, offsetof(struct row_tally, unchanged));
	write_tally(&json, "noise", comparison, offsetof(struct row_tally, noise));
	write_tally(&json, "beyond_limit", comparison, offsetof(struct row_tally, beyond_limit));
	write_rows(&json, view);
	write_findings(&json, view);
	json_end_object(&json);
}
