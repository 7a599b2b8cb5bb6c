/* SPDX-License-Identifier: MIT */
#include "render/snapshot/fact_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"
#include "model/snapshot/snapshot.h"
#include "render/table/table.h"

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);

	return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* The name of a number gives its unit; a point in time is shown exactly. */
static void append_number(struct text *out, const char *name, uint64_t number)
{
	if (ends_with(name, "_bytes"))
		unit_format(out, UNIT_BYTES, number);
	else if (strcmp(name, facts[FACT_duration_ns].name) == 0 ||
		 strcmp(name, facts[FACT_uptime_ns].name) == 0)
		unit_format(out, UNIT_NS, number);
	else
		text_format(out, "%" PRIu64, number);
}

int fact_text_print(const struct snapshot *snapshot, const struct terminal *terminal, FILE *out)
{
	CLEANUP(table_clear) struct table table = { 0 };

	table_add_title(&table, "host", TABLE_LEFT);
	table_add_title(&table, "value", TABLE_NAME);
	for (int id = 0; id < FACT_COUNT; id++) {
		const struct fact *fact = &snapshot->facts[id];

		if (!fact->present)
			continue;
		text_append_string(put_begin(&table), facts[id].name);
		put_end(&table);
		if (facts[id].is_text)
			text_append_escaped(put_begin(&table), fact->text, strlen(fact->text));
		else
			append_number(put_begin(&table), facts[id].name, fact->number);
		put_end(&table);
	}
	return table.cells.count ? table_print(&table, terminal, out) : 0;
}
