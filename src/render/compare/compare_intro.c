/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_parts.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "render/snapshot/capture_note.h"
#include "render/compare/compare_view.h"
#include "render/table/table.h"
#include "render/value.h"

static void add_moment(struct table *table, const struct snapshot *snapshot)
{
	const struct fact *captured = &snapshot->facts[FACT_captured_at_unix_ns];

	if (captured->present)
		moment_text(put_begin(table), captured->number);
	else
		text_append_string(put_begin(table), "at a time that is not known");
	put_end(table);
}

static void add_tasks(struct table *table, const struct snapshot *snapshot)
{
	const struct fact *source = &snapshot->facts[FACT_task_source];
	struct text *cell = put_begin(table);

	capture_size(snapshot, cell);
	if (source->present && source->text)
		text_format(cell, ", by %s", source->text);
	put_end(table);
}

static void add_side(struct table *table, const char *side, const struct compared_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		put_text(table, i ? "" : side);
		put_text(table, files->names ? files->names[i] : "this host");
		add_moment(table, files->snapshots[i]);
		add_tasks(table, files->snapshots[i]);
	}
}

/* The first note is about the mode. */
static void append_notes(struct text *out, const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->notes.count; i++) {
		text_append_string(out, i ? "note: " : "mode: ");
		text_append_escaped(out, comparison->notes.data[i],
				    strlen(comparison->notes.data[i]));
		text_append_string(out, "\n");
	}
}

/* What a filter left of each side; what is as before is not said again. */
static void append_filters(struct text *out, const char *side, const struct compared_files *files)
{
	CLEANUP(text_free) struct text last = { 0 };

	for (size_t i = 0; i < files->count && files->snapshots[i]->filter.text; i++) {
		CLEANUP(text_free) struct text note = { 0 };

		filter_note(&files->snapshots[i]->filter, &note);
		if (strcmp(text_string(&note), text_string(&last)) == 0)
			continue;
		text_format(out, "%s: %s\n", side, text_string(&note));
		text_clear(&last);
		text_append(&last, text_string(&note), note.length);
	}
}

static void put_side_of(struct table *table, const struct host_change *change, const char *value,
			const char *other)
{
	uint64_t number;

	if (!value) {
		put_word(table, "not known");
	} else if (change->is_number && parse_u64(value, &number)) {
		put_amount(table, change->unit, number);
	} else {
		compare_words(table, value, other);
		put_end(table);
	}
}

void compare_add_host_columns(struct table *table)
{
	static const struct table_column columns[] = {
		{ "host", TABLE_NAME, .id = "name" },
		{ "before", TABLE_NAME, .id = "before" },
		{ "after", TABLE_NAME, .id = "after" },
	};

	table_add_columns(table, columns, ARRAY_SIZE(columns));
}

void compare_put_host_changes(struct table *table, const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->host_changes.count; i++) {
		const struct host_change *change = &comparison->host_changes.data[i];

		put_text(table, change->name);
		put_side_of(table, change, change->before, change->after);
		put_side_of(table, change, change->after, change->before);
	}
}

static int print_host_changes(const struct comparison *comparison, const struct terminal *terminal,
			      FILE *out)
{
	CLEANUP(table_clear) struct table table = { 0 };

	if (comparison->host_changes.count == 0)
		return 0;
	compare_add_host_columns(&table);
	compare_put_host_changes(&table, comparison);
	fputc('\n', out);
	style_line(out, terminal->colour, STYLE_HEADING, "## host changes");
	return table_print(&table, terminal, out);
}

int compare_intro_print(const struct compare_view *view, const struct terminal *terminal, FILE *out)
{
	CLEANUP(table_clear) struct table table = { 0 };
	CLEANUP(text_free) struct text lines = { 0 };
	int status;

	table_add_title(&table, "side", TABLE_LEFT);
	table_add_title(&table, "file", TABLE_NAME);
	table_add_title(&table, "captured", TABLE_LEFT);
	table_add_title(&table, "tasks", TABLE_NAME);
	add_side(&table, "before", &view->before);
	add_side(&table, "after", &view->after);
	append_notes(&lines, view->comparison);
	append_filters(&lines, "before", &view->before);
	append_filters(&lines, "after", &view->after);
	if (lines.failed)
		return -ENOMEM;
	status = table_print(&table, terminal, out);
	if (status < 0)
		return status;
	fwrite(text_string(&lines), 1, lines.length, out);
	return print_host_changes(view->comparison, terminal, out);
}
