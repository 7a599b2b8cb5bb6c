/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_view.h"

#include "analyze/compare/compare_sections.h"
#include "analyze/cgroup/cgroup_unmatched.h"
#include "analyze/digest/digest.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "model/snapshot/snapshot.h"
#include "render/compare/compare_parts.h"
#include "render/snapshot/capture_note.h"

#define FORMAT_VERSION 2

static const char *compare_mode_name(enum compare_mode mode)
{
	if (mode == COMPARE_INTERVAL)
		return "interval";
	return mode == COMPARE_INTERVALS ? "intervals" : "population";
}

static void write_snapshot(struct json *json, const char *file, const struct snapshot *snapshot)
{
	const struct fact *captured = &snapshot->facts[FACT_captured_at_unix_ns];
	const struct fact *boot = &snapshot->facts[FACT_boot_id];

	json_begin_object(json);
	json_member_given(json, "file", file);
	if (captured->present)
		json_member_u64(json, "captured_at_unix_ns", captured->number);
	if (boot->present)
		json_member_string(json, "boot_id", boot->text ? boot->text : "");
	json_member_u64(json, "tasks", capture_count(snapshot, METRIC_thread_count));
	json_member_u64(json, "processes", capture_count(snapshot, METRIC_process_count));
	filter_json(json, &snapshot->filter);
	json_end_object(json);
}

static void write_side(struct json *json, const char *key, const struct compared_files *files)
{
	json_member_array(json, key);
	for (size_t i = 0; i < files->count; i++)
		write_snapshot(json, files->names ? files->names[i] : NULL, files->snapshots[i]);
	json_end_array(json);
}

static void write_notes(struct json *json, const struct comparison *comparison)
{
	json_member_array(json, "notes");
	for (size_t i = 0; i < comparison->notes.count; i++)
		json_string(json, comparison->notes.data[i]);
	json_end_array(json);
}

static void write_host_changes(struct json *json, const struct comparison *comparison)
{
	CLEANUP(table_clear) struct table table = { 0 };

	compare_add_host_columns(&table);
	table_stream_json(&table, json);
	json_member_array(json, "host_changes");
	compare_put_host_changes(&table, comparison);
	json_end_array(json);
}

/* The start of a key of several parts, up to where one ends; nothing for other keys. */
static void put_part(struct table *table, const struct compared_group *group, uint32_t end)
{
	if (end) {
		text_append(put_begin(table), group->key, end);
		put_end(table);
	} else {
		put_absent(table, NULL);
	}
}

static void put_group(struct table *table, const struct compared_group *group, bool is_interval)
{
	put_text(table, group->key);
	put_number(table, group->tasks_before);
	put_number(table, group->tasks_after);
	put_known(table, is_interval, group->born);
	put_known(table, is_interval, group->ended);
	if (group->restart != RESTART_NONE)
		put_text(table, group->restart == RESTART_WHOLE ? "whole" : "part");
	else
		put_absent(table, NULL);
	if (group->renamed_from)
		put_text(table, group->renamed_from);
	else
		put_absent(table, NULL);
	put_part(table, group, group->process_end);
	put_part(table, group, group->cgroup_end);
}

static void write_groups(struct json *json, const struct comparison *comparison)
{
	static const struct table_column columns[] = {
		{ .id = "key" },	  { .id = "tasks_before" }, { .id = "tasks_after" },
		{ .id = "born" },	  { .id = "ended" },	    { .id = "restarted" },
		{ .id = "renamed_from" }, { .id = "parent" },	    { .id = "cgroup" },
	};
	CLEANUP(table_clear) struct table table = { 0 };

	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	table_stream_json(&table, json);
	json_member_array(json, "groups");
	for (size_t i = 0; i < comparison->groups.count; i++)
		put_group(&table, &comparison->groups.data[i],
			  comparison->mode == COMPARE_INTERVAL);
	json_end_array(json);
}

static void write_unmatched(struct json *json, const struct unmatched_cgroups *unmatched)
{
	static const struct table_column columns[] = {
		{ .id = "cgroup" },	 { .id = "side" },	{ .id = "tasks" },
		{ .id = "run_time_ns" }, { .id = "rss_bytes" },
	};
	CLEANUP(table_clear) struct table table = { 0 };

	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	table_stream_json(&table, json);
	json_member_array(json, "unmatched_cgroups");
	for (size_t i = 0; i < unmatched->items.count; i++) {
		const struct unmatched_cgroup *cgroup = &unmatched->items.data[i];

		put_text(&table, cgroup->key);
		put_text(&table, cgroup->is_after ? "after" : "before");
		put_number(&table, cgroup->tasks);
		put_known(&table, cgroup->has_run_time, cgroup->run_time_ns);
		put_known(&table, cgroup->has_rss, cgroup->rss_bytes);
	}
	json_end_array(json);
}

/* Whether several runs were tested. */
static bool has_p(const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->rows.count; i++)
		if (comparison->rows.data[i].significance.tested)
			return true;
	return false;
}

static void write_rows(struct json *json, const struct compare_view *view)
{
	unsigned without_p = COMPARE_HAS_ALL & ~COMPARE_HAS_P;
	struct compare_table rows;

	compare_table_init(&rows, view, COMPARE_JSON,
			   has_p(view->comparison) ? COMPARE_HAS_ALL : without_p, NULL);
	table_stream_json(&rows.table, json);
	json_member_array(json, "rows");
	compare_table_put_all(&rows);
	json_end_array(json);
	table_clear(&rows.table);
}

/* Writes how many rows of each section are left out; sections that lack none are not named. */
static void write_tally(struct json *json, const char *key, const struct comparison *comparison,
			size_t offset)
{
	json_member_object(json, key);
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
	json_member_given(json, "group", finding->group);
	if (finding->outcome != FAIL_UNKNOWN)
		json_member_double(json, "change", finding->change);
	json_member_string(json, "sentence", finding->sentence);
	json_end_object(json);
}

static void write_row_reference(struct json *json, const struct digest_line *line)
{
	json_member_object(json, "row");
	json_member_string(json, "section", compare_section_name(line->section));
	json_member_string(json, "group", line->group);
	json_member_string(json, "metric", line->metric);
	json_end_object(json);
}

static void write_digest_line(struct json *json, const struct digest_line *line)
{
	json_begin_object(json);
	json_member_string(json, "resource", line->resource);
	json_member_given(json, "who", line->who);
	if (line->has_delta)
		json_member_double(json, "delta", line->delta);
	if (line->has_rate)
		json_member_double(json, "rate", line->rate);
	if (line->has_share)
		json_member_double(json, "share", line->share);
	if (line->has_capacity)
		json_member_double(json, "of_capacity", line->of_capacity);
	json_member_string(json, "sentence", line->sentence);
	if (line->metric)
		write_row_reference(json, line);
	json_end_object(json);
}

static void write_digest(struct json *json, const struct digest *digest)
{
	json_member_array(json, "digest");
	for (size_t i = 0; i < digest->lines.count; i++)
		write_digest_line(json, &digest->lines.data[i]);
	json_end_array(json);
}

static void write_findings(struct json *json, const struct compare_view *view)
{
	json_member_array(json, "fail_on");
	for (size_t i = 0; i < view->finding_count; i++)
		write_finding(json, &view->findings[i]);
	json_end_array(json);
}

void compare_json_print(const struct compare_view *view, FILE *out)
{
	const struct comparison *comparison = view->comparison;
	bool is_interval = comparison->mode == COMPARE_INTERVAL;
	struct json json = json_writer(out);

	json_begin_object(&json);
	json_member_string(&json, "format", "taskscope-comparison");
	json_member_u64(&json, "version", FORMAT_VERSION);
	json_member_string(&json, "mode", compare_mode_name(comparison->mode));
	if (view->digest)
		write_digest(&json, view->digest);
	if (is_interval) {
		json_member_u64(&json, "elapsed_ns", comparison->elapsed_ns);
		json_member_u64(&json, "processes_ended", comparison->processes_ended);
	}
	write_side(&json, "before", &view->before);
	write_side(&json, "after", &view->after);
	write_notes(&json, comparison);
	write_host_changes(&json, comparison);
	json_member_string(&json, "group_by", group_axis_name(view->axis));
	write_groups(&json, comparison);
	if (view->unmatched)
		write_unmatched(&json, view->unmatched);
	write_tally(&json, "unchanged", comparison, offsetof(struct row_tally, unchanged));
	write_tally(&json, "noise", comparison, offsetof(struct row_tally, noise));
	write_tally(&json, "beyond_limit", comparison, offsetof(struct row_tally, beyond_limit));
	write_rows(&json, view);
	write_findings(&json, view);
	json_end_object(&json);
}
