/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "analyze/outcome/correlation.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "render/outcome/outcome_view.h"
#include "render/table/table.h"

static const struct table_column group_table[] = {
	{ .id = "factor" },
	{ .id = "group" },
	{ .id = "low" },
	{ .id = "high" },
	{ .id = "judgement" },
	{ .id = "sentence" },
	{ .id = "jobs" },
	{ .id = "failures" },
	{ .id = "rate" },
	{ .id = "rate_low" },
	{ .id = "rate_high" },
	{ .id = "others" },
	{ .id = "other_failures" },
	{ .id = "other_rate" },
	{ .id = "p_value" },
	{ .id = "corrected_p_value" },
	{ .id = "confidence" },
	{ .id = "names" },
	{ .id = "main_name" },
	{ .id = "main_jobs" },
	{ .id = "within_names_p_value" },
};

void outcome_group_columns(struct table *table)
{
	table_add_columns(table, group_table, ARRAY_SIZE(group_table));
}

static void put_if(struct table *table, bool is_known, double number)
{
	if (is_known && isfinite(number))
		put_real(table, number);
	else
		put_absent(table, NULL);
}

void put_outcome_group(struct table *table, const struct outcome_group *group)
{
	bool is_found = group->judgement == GROUP_FOUND;
	bool is_tested = is_found || group->judgement == GROUP_WEAK;

	put_string(table, factors[group->factor].name);
	outcome_group_title(put_begin(table), group);
	put_end(table);
	put_if(table, !group->syscall, group->low);
	put_if(table, !group->syscall, group->high);
	put_string(table, group_judgement_names[group->judgement]);
	if (is_found)
		outcome_group_sentence(put_begin(table), group);
	if (is_found)
		put_end(table);
	else
		put_absent(table, NULL);
	put_number(table, group->table.jobs);
	put_number(table, group->table.failures);
	put_real(table, group->rate);
	put_real(table, group->rate_low);
	put_real(table, group->rate_high);
	put_number(table, group->table.others);
	put_number(table, group->table.other_failures);
	put_if(table, true, group->other_rate);
	put_if(table, is_tested, group->p);
	put_if(table, is_tested, group->corrected_p);
	put_if(table, is_tested, 1 - group->corrected_p);
	put_known(table, is_found, group->names);
	put_string(table, group->main_name);
	put_known(table, is_found, group->main_jobs);
	put_if(table, group->has_within, group->p_within);
}

void outcome_group_json(struct json *json, const struct outcome_group *group)
{
	CLEANUP(table_clear) struct table table = { 0 };

	outcome_group_columns(&table);
	table_stream_json(&table, json);
	put_outcome_group(&table, group);
}

void correlation_json(struct json *json, const struct correlation *correlation, const char *name)
{
	CLEANUP(table_clear) struct table table = { 0 };

	json_begin_object(json);
	json_member_text(json, "name", name);
	json_member_u64(json, "jobs", correlation->jobs);
	json_member_u64(json, "failures", correlation->failures);
	json_member_u64(json, "names", correlation->names);
	json_member_u64(json, "running", correlation->running);
	json_member_u64(json, "unknown", correlation->unknown);
	json_member_object(json, "lacking");
	for (unsigned i = 0; i < FACTOR_COUNT; i++)
		json_member_u64(json, factors[i].name, correlation->lacking[i]);
	json_end_object(json);
	json_member_u64(json, "tests", correlation->tests);
	json_member_bool(json, "can_find", correlation->can_find);
	if (!correlation->can_find) {
		json_member_u64(json, "needed_jobs", correlation->needed_jobs);
		json_member_u64(json, "needed_failures", correlation->needed_failures);
	}
	json_member_array(json, "groups");
	outcome_group_columns(&table);
	table_stream_json(&table, json);
	for (size_t i = 0; i < correlation->groups.count; i++)
		put_outcome_group(&table, &correlation->groups.data[i]);
	json_end_array(json);
	json_end_object(json);
}
