/* SPDX-License-Identifier: MIT */
#include "render/calls/calls_view.h"

#include <stdio.h>

#include "metric/unit.h"
#include "model/syscall/call_lines.h"
#include "render/table/table.h"

/* People get the numbers as strace prints them; programs get the exact ones. */
static const struct table_column share_columns[] = {
	/* clang-format off */
	{ "% time",     TABLE_RIGHT, .unit = UNIT_TEXT },
	{ .id = "share",            .unit = UNIT_RATIO },
	/* clang-format on */
};

static const struct table_column columns[] = {
	/* clang-format off */
	{ "seconds",    TABLE_RIGHT, .unit = UNIT_TEXT },
	{ .id = "time_ns",          .unit = UNIT_NS },
	{ "usecs/call", TABLE_RIGHT, .unit = UNIT_TEXT },
	{ .id = "mean_ns",          .unit = UNIT_NS },
	{ "max",        TABLE_RIGHT, 1, .id = "max_ns", .unit = UNIT_NS },
	{ "calls",      TABLE_RIGHT, .unit = UNIT_TEXT },
	{ .id = "calls",            .unit = UNIT_COUNT },
	{ "errors",     TABLE_RIGHT, .unit = UNIT_TEXT },
	{ .id = "errors",           .unit = UNIT_COUNT },
	{ "syscall",    TABLE_NAME, .id = "syscall" },
	/* clang-format on */
};

static const struct table_column under_way_columns[] = {
	/* clang-format off */
	{ "under way",  TABLE_LEFT, .unit = UNIT_TEXT },
	{ .id = "under_way",        .unit = UNIT_COUNT },
	{ .id = "under_way_ns",     .unit = UNIT_NS },
	{ .id = "under_way_longer", .unit = UNIT_BOOL },
	/* clang-format on */
};

void call_columns(struct table *table)
{
	table_add_columns(table, share_columns, ARRAY_SIZE(share_columns));
	table_add_columns(table, columns, ARRAY_SIZE(columns));
	table_add_columns(table, under_way_columns, ARRAY_SIZE(under_way_columns));
}

void recorded_call_columns(struct table *table)
{
	table_add_columns(table, columns, ARRAY_SIZE(columns));
}

#define PUT_WORDS(table, ...)                                                                      \
	do {                                                                                       \
		if (table_is_for_people(table)) {                                                  \
			text_format(put_begin(table), __VA_ARGS__);                                \
			put_end(table);                                                            \
		} else {                                                                           \
			put_empty(table);                                                          \
		}                                                                                  \
	} while (0)

static void put_under_way(struct table *table, const struct call_line *line)
{
	struct text *out;

	if (!table_is_for_people(table) || !line->under_way) {
		put_empty(table);
	} else {
		out = put_begin(table);
		if (line->under_way > 1)
			text_format(out, "%llu threads, ", (unsigned long long)line->under_way);
		text_append_string(out, line->is_earlier ? "> " : "");
		unit_format(out, UNIT_NS, line->under_way_ns);
		put_end(table);
	}
	put_number(table, line->under_way);
	put_known(table, line->under_way, line->under_way_ns);
	if (line->is_earlier)
		put_flag(table, true);
	else
		put_empty(table);
}

static void put_errors(struct table *table, const struct call_line *line)
{
	if (line->errors)
		PUT_WORDS(table, "%llu", (unsigned long long)line->errors);
	else
		put_empty(table);
	put_number(table, line->errors);
}

void put_recorded_call(struct table *table, const struct call_line *line)
{
	uint64_t mean_ns = line->calls ? line->time_ns / line->calls : 0;

	PUT_WORDS(table, "%.6f", (double)line->time_ns / 1e9);
	put_number(table, line->time_ns);
	if (line->calls)
		PUT_WORDS(table, mean_ns < 100000 ? "%.1f" : "%.0f", (double)mean_ns / 1e3);
	else
		put_empty(table);
	put_known(table, line->calls, mean_ns);
	put_known(table, line->calls, line->max_ns);
	PUT_WORDS(table, "%llu", (unsigned long long)line->calls);
	put_number(table, line->calls);
	put_errors(table, line);
	put_string(table, line->name[0] ? line->name : "(others)");
}

/* The line with its share of all the time in calls. */
static void put_call_line(struct table *table, const struct call_line *line, uint64_t whole_ns)
{
	PUT_WORDS(table, "%.2f", whole_ns ? 100.0 * (double)line->time_ns / (double)whole_ns : 0);
	put_share(table, (double)line->time_ns, (double)whole_ns);
	put_recorded_call(table, line);
	put_under_way(table, line);
}

void put_call_lines(struct table *table, const struct call_lines *lines, size_t limit)
{
	struct call_line total = call_lines_total(lines), rest = { 0 };
	size_t shown = limit && limit < lines->list.count ? limit : lines->list.count;

	for (size_t i = 0; i < shown; i++)
		put_call_line(table, &lines->list.data[i], total.time_ns);
	if (!table_is_for_people(table))
		return;
	for (size_t i = shown; i < lines->list.count; i++)
		call_line_add(&rest, &lines->list.data[i]);
	if (shown < lines->list.count)
		put_call_line(table, &rest, total.time_ns);
	if (!lines->list.count)
		return;
	snprintf(total.name, sizeof(total.name), "total");
	put_call_line(table, &total, total.time_ns);
}
