/* SPDX-License-Identifier: MIT */
#include "cli/parts/activity_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "render/page.h"
#include "render/record/record_table.h"
#include "render/table/table.h"

#define EACH_SECOND "each second" /* what a recorder says that looks */
#define NARROW 80
#define NUMBERS_WIDTH 26
#define KEY_WIDTH 14
#define STACK_LEAST 24

struct printing {
	const struct activity_view *view;
	struct table *table;
	struct json *json;
	size_t stack_width;
	uint64_t shown; /* samples */
};

static void add_columns(struct table *table, const struct activity_query *query)
{
	static const struct table_column numbers[] = {
		{ "samples", TABLE_RIGHT, 0, .id = "samples", .unit = UNIT_COUNT },
		{ "share", TABLE_RIGHT, 0, .id = "share", .unit = UNIT_COUNT },
		{ "threads", TABLE_RIGHT, 0, .id = "threads", .unit = UNIT_COUNT },
	};

	table_add_columns(table, numbers, ARRAY_SIZE(numbers));
	for (size_t i = 0; i < query->key_count; i++) {
		const struct activity_key_info *key = &activity_keys[query->keys[i]];

		table_add_column(table, (struct table_column){
						.title = key->name,
						.alignment = TABLE_NAME,
						.id = key->name,
						.unit = key->is_number ? UNIT_ID : UNIT_COUNT,
					});
	}
}

/* As many functions as fit, the innermost first, and always one. */
static void put_stack(struct printing *printing, const char *frames)
{
	struct text *text = put_begin(printing->table);
	size_t width = 0;

	while (frames && *frames) {
		size_t length = strcspn(frames, ";");

		if (width && width + 3 + length > printing->stack_width) {
			text_append_string(text, " ..");
			break;
		}
		if (width)
			text_append_string(text, " < ");
		text_append(text, frames, length);
		width += length + (width ? 3 : 0);
		frames += length + (frames[length] == ';');
	}
	put_end(printing->table);
}

static void put_key(struct printing *printing, enum activity_key key, const char *value)
{
	if (key == ACTIVITY_BY_stack && value && printing->view->format == FORMAT_TEXT)
		put_stack(printing, value);
	else if (activity_keys[key].is_number && value)
		put_number(printing->table, strtoull(value, NULL, 10));
	else
		put_string(printing->table, value);
}

static void json_frames(struct json *json, const char *frames)
{
	CLEANUP(text_free) struct text name = { 0 };

	json_begin_array(json);
	while (*frames) {
		size_t length = strcspn(frames, ";");

		text_clear(&name);
		text_append(&name, frames, length);
		json_string(json, text_string(&name));
		frames += length + (frames[length] == ';');
	}
	json_end_array(json);
}

static void json_value(struct json *json, enum activity_key key, const char *value)
{
	json_key(json, activity_keys[key].name);
	if (!value)
		json_null(json);
	else if (key == ACTIVITY_BY_stack)
		json_frames(json, value);
	else if (activity_keys[key].is_number)
		json_u64(json, strtoull(value, NULL, 10));
	else
		json_string(json, value);
}

static double per_walk(const struct activity_view *view, uint64_t samples)
{
	return view->totals.walks ? (double)samples / (double)view->totals.walks : 0;
}

static int show_json(struct printing *printing, const struct activity_group *group)
{
	const struct activity_view *view = printing->view;
	struct json *json = printing->json;

	json_begin_object(json);
	for (size_t i = 0; i < view->query->key_count; i++)
		json_value(json, view->query->keys[i], group->values[i]);
	json_member_u64(json, "samples", group->samples);
	json_member_fixed(json, "share", (double)group->samples / (double)view->totals.samples, 4);
	json_member_fixed(json, "threads", per_walk(view, group->samples), 3);
	json_end_object(json);
	return 0;
}

static int show_group(void *context, const struct activity_group *group)
{
	struct printing *printing = context;
	const struct activity_view *view = printing->view;
	struct table *table = printing->table;

	printing->shown += group->samples;
	if (view->format == FORMAT_JSON)
		return show_json(printing, group);
	put_number(table, group->samples);
	put_share(table, (double)group->samples, (double)view->totals.samples);
	put_real(table, per_walk(view, group->samples));
	for (size_t i = 0; i < view->query->key_count; i++)
		put_key(printing, view->query->keys[i], group->values[i]);
	return table->failed ? -ENOMEM : 0;
}

/* NULL: nothing is wrong. */
static const char *why_none(const struct activity_view *view)
{
	const struct activity_totals *totals = &view->totals;

	if (totals->walks)
		return NULL;
	if (view->lacks && strcmp(view->lacks, EACH_SECOND) != 0)
		return view->lacks;
	if (totals->ticks_without)
		return "it was left out, to stay within the recorder's budget";
	return "the recorder did not look at that time";
}

static void print_intro(FILE *out, const struct activity_view *view)
{
	CLEANUP(text_free) struct text time = { 0 };
	const struct activity_totals *totals = &view->totals;
	uint64_t span_ns = totals->span.to_unix_ns - totals->span.from_unix_ns;

	record_append_time(&time, totals->span.from_unix_ns);
	fputs(text_string(&time), out);
	if (totals->walks > 1)
		fprintf(out, " and the %" PRIu64 " seconds after it",
			(span_ns + NS_PER_SECOND / 2) / NS_PER_SECOND);
	fprintf(out, ": %.1f threads active at once\n\n", per_walk(view, totals->samples));
}

/* Everything that is not in the table although it happened. */
static void print_losses(FILE *out, const struct printing *printing)
{
	const struct activity_view *view = printing->view;
	const struct activity_totals *totals = &view->totals;

	if (printing->shown < totals->samples)
		fprintf(out, "Further groups have %" PRIu64 " samples: -n 0 shows them.\n",
			totals->samples - printing->shown);
	if (totals->missed)
		fprintf(out, "%" PRIu64 " seconds were missed.\n", totals->missed);
	if (totals->ticks_without)
		fprintf(out,
			"Activity was left out at %" PRIu64 " of %" PRIu64
			" ticks, to stay within the budget.\n",
			totals->ticks_without, totals->ticks);
	if (totals->threads_left_out)
		fprintf(out,
			"%" PRIu64 " samples were left out, of users who had too many at once.\n",
			totals->threads_left_out);
	if (totals->stacks_left_out)
		fprintf(out, "%" PRIu64 " stacks were left out: there were too many.\n",
			totals->stacks_left_out);
	for (size_t i = 0; i < view->query->key_count; i++)
		if (view->query->keys[i] == ACTIVITY_BY_stack && view->no_stacks)
			fprintf(out, "Stacks are absent: %s.\n", view->no_stacks);
}

static int print_text(struct history *history, struct printing *printing, struct error *error)
{
	const struct activity_view *view = printing->view;
	size_t others = view->query->key_count - 1, width;
	struct page page;
	int status;

	page_open(&page, stdout);
	width = page.terminal.width ? page.terminal.width : NARROW;
	printing->stack_width = width > NUMBERS_WIDTH + others * KEY_WIDTH + STACK_LEAST ?
					width - NUMBERS_WIDTH - others * KEY_WIDTH :
					STACK_LEAST;
	status = history_activity(history, view->query, show_group, printing, error);
	if (status == 0 && why_none(view))
		fprintf(page.out, "no activity was recorded: %s\n", why_none(view));
	else if (status == 0 && view->query->pid && !view->totals.samples)
		fprintf(page.out, "no thread of process %d was seen active\n", view->query->pid);
	else if (status == 0) {
		print_intro(page.out, view);
		if (view->totals.samples)
			status = table_print(printing->table, &page.terminal, page.out);
		print_losses(page.out, printing);
	}
	if (page_close(&page) < 0 && status == 0)
		status = -ENOMEM;
	return status < 0 ? error_set(error, status, "out of memory") : 0;
}

static int print_json(struct history *history, struct printing *printing, struct error *error)
{
	const struct activity_view *view = printing->view;
	const struct activity_totals *totals = &view->totals;
	struct json json = json_writer(stdout);
	int status;

	printing->json = &json;
	json_begin_object(&json);
	json_member_known(&json, "from_ns", totals->walks, totals->span.from_unix_ns);
	json_member_known(&json, "to_ns", totals->walks, totals->span.to_unix_ns);
	json_member_u64(&json, "walks", totals->walks);
	json_member_u64(&json, "missed", totals->missed);
	json_member_u64(&json, "ticks_without", totals->ticks_without);
	json_member_u64(&json, "samples", totals->samples);
	json_member_u64(&json, "threads_left_out", totals->threads_left_out);
	json_member_u64(&json, "stacks_left_out", totals->stacks_left_out);
	json_member_text(&json, "reason", why_none(view));
	json_member_text(&json, "no_stacks", view->no_stacks);
	json_member_array(&json, "activity");
	status = history_activity(history, view->query, show_group, printing, error);
	json_end_array(&json);
	json_end_object(&json);
	return status;
}

int activity_print(struct history *history, const struct activity_view *view, struct error *error)
{
	CLEANUP(table_clear) struct table table = { 0 };
	struct printing printing = { .view = view, .table = &table };

	if (view->format == FORMAT_JSON)
		return print_json(history, &printing, error);
	add_columns(&table, view->query);
	if (view->format == FORMAT_TEXT)
		return print_text(history, &printing, error);
	table_stream_csv(&table, stdout);
	return history_activity(history, view->query, show_group, &printing, error);
}
