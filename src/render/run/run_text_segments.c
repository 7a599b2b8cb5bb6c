/* SPDX-License-Identifier: MIT */
/* The stretches of a run in which it did one kind of thing. */
#include "render/run/run_text_tables.h"

static const struct table_column columns[] = {
	/* clang-format off */
	{ "from",    TABLE_RIGHT, .unit = UNIT_NS },
	{ "to",      TABLE_RIGHT, .unit = UNIT_NS },
	{ "what",    TABLE_NAME,  .unit = UNIT_TEXT },
	{ "cores",   TABLE_RIGHT, .unit = UNIT_COUNT },
	{ "rss",     TABLE_RIGHT, .unit = UNIT_BYTES },
	{ "read/s",  TABLE_RIGHT, 2, .unit = UNIT_BYTES },
	{ "write/s", TABLE_RIGHT, 2, .unit = UNIT_BYTES },
	{ "threads", TABLE_RIGHT, 1, .unit = UNIT_COUNT },
	/* clang-format on */
};

static void put_optional(struct table *table, const struct run_number *number)
{
	run_cell_known(table, number->present, number->value);
}

void run_text_segments(FILE *out, const struct run *run, const struct run_text_options *options)
{
	const struct run_segments *segments = &run->segments;
	struct table table = { 0 };

	if (segments->count < 2)
		return;
	run_text_heading(out, options, "stretches of the run, by its samples");
	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	for (uint32_t i = 0; i < segments->count; i++) {
		const struct run_segment *segment = &segments->list[i];

		put_number(&table, segment->begin_ns);
		put_number(&table, segment->end_ns);
		put_string(&table, segment->what);
		if (segment->cores.present)
			put_real(&table, segment->cores.value);
		else
			put_absent(&table, NULL);
		put_optional(&table, &segment->rss_bytes);
		put_optional(&table, &segment->read_bytes_per_s);
		put_optional(&table, &segment->write_bytes_per_s);
		put_optional(&table, &segment->threads);
	}
	run_text_table(out, &table, options, segments->count, segments->count);
}
