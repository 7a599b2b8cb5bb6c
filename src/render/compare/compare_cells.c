/* SPDX-License-Identifier: MIT */
/* Cells of a comparison that are asked for with --columns or --display. */
#include "analyze/compare/comparison.h"
#include "base/cleanup.h"
#include "render/compare/compare_value.h"
#include "render/snapshot/snapshot_view.h"
#include "render/table/table.h"

/* The cells are made in a table of their own, then joined as text. */
void put_arrow(struct table *table, const struct comparison *comparison,
	       const struct comparison_row *row)
{
	CLEANUP(table_clear) struct table sides = { 0 };

	if (!table_is_for_people(table)) {
		put_before(table, comparison, row);
		put_after(table, comparison, row);
		return;
	}
	table_add_title(&sides, "before", TABLE_RIGHT);
	table_add_title(&sides, "after", TABLE_RIGHT);
	put_before(&sides, comparison, row);
	put_after(&sides, comparison, row);
	table->failed |= sides.failed;
	if (sides.failed) {
		put_empty(table);
		return;
	}
	cell_text(put_begin(table), &sides, table_at(&sides, 0, 0));
	text_append_string(put_begin(table), " → ");
	cell_text(put_begin(table), &sides, table_at(&sides, 0, 1));
	put_end(table);
}

static void put_age(struct table *table, uint64_t age)
{
	if (age)
		put_amount(table, UNIT_NS, age);
	else
		put_absent(table, NULL);
}

/* People see how old it is; of a group that is gone, how old it was. */
void put_uptime(struct table *table, const struct comparison *comparison,
		const struct comparison_row *row)
{
	const uint64_t *ages = comparison->groups.data[row->group].age_ns;

	if (!table_is_for_people(table)) {
		put_age(table, ages[0]);
		put_age(table, ages[1]);
	} else {
		put_age(table, ages[1] ? ages[1] : ages[0]);
	}
}

void put_tags(struct table *table, const struct comparison *comparison,
	      const struct comparison_row *row)
{
	(void)comparison;
	metric_tags(put_begin(table), row->metric);
	put_end(table);
}
