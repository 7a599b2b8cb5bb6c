/* SPDX-License-Identifier: MIT */
#include "render/compare/compare_intro.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "render/snapshot/capture_note.h"
#include "render/compare/compare_view.h"
#include "render/compare/compare_words.h"
#include "render/table/table.h"
#include "render/value.h"

static void append_escaped(struct text *out, const char *string)
{
	text_append_escaped(out, string, strlen(string));
}

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
	if (source->present && source->text) {
		text_append_string(cell, ", by ");
		append_escaped(cell, source->text);
	}
	put_end(table);
}

static void add_side(struct table *table, const char *side, const struct compared_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		text_append_string(put_begin(table), i ? "" : side);
		put_end(table);
		append_escaped(put_begin(table), files->names ? files->names[i] : "this host");
		put_end(table);
		add_moment(table, files->snapshots[i]);
		add_tasks(table, files->snapshots[i]);
	}
}

/* The first note is about the mode. */
static void append_notes(struct text *out, const struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->notes.count; i++) {
		text_append_string(out, i ? "note: " : "mode: ");
		append_escaped(out, comparison->notes.data[i]);
		text_append_string(out, "\n");
	}
}

static void add_fact(struct table *table, const struct host_change *change, const char *value,
		     const char *other)
{
	uint64_t number;

	if (!value)
		text_append_string(put_begin(table), "not known");
	else if (change->is_number && parse_u64(value, &number))
		unit_format(put_begin(table), change->unit, number);
	else
		compare_words_text(put_begin(table), value, other);
	put_end(table);
}

static int print_host_changes(const struct comparison *comparison, const struct terminal *terminal,
			      FILE *out)
{
	CLEANUP(table_clear) struct table table = { 0 };

	if (comparison->host_changes.count == 0)
		return 0;
	table_add_title(&table, "host", TABLE_NAME);
	table_add_title(&table, "before", TABLE_NAME);
	table_add_title(&table, "after", TABLE_NAME);
	for (size_t i = 0; i < comparison->host_changes.count; i++) {
		const struct host_change *change = &comparison->host_changes.data[i];

		append_escaped(put_begin(&table), change->name);
		put_end(&table);
		add_fact(&table, change, change->before, change->after);
		add_fact(&table, change, change->after, change->before);
	}
	fputs("\n## host changes\n", out);
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
	if (lines.failed)
		return -ENOMEM;
	status = table_print(&table, terminal, out);
	if (status < 0)
		return status;
	fwrite(text_string(&lines), 1, lines.length, out);
	return print_host_changes(view->comparison, terminal, out);
}
