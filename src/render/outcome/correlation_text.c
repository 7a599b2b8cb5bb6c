/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "analyze/outcome/correlation.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"
#include "render/outcome/outcome_view.h"
#include "render/table/table.h"

/* Smaller ones are not told apart by people. */
#define P_LEAST 0.0001

static void append_p(struct text *out, double p)
{
	if (p < P_LEAST)
		text_append_string(out, "< 0.0001");
	else
		text_format(out, "%.2g", p);
}

/* "412 jobs of 3 names, of which 61 failed (14.8 %)" */
static void append_jobs(struct text *out, const struct correlation *correlation, const char *name)
{
	text_format(out, "%" PRIu64 " job%s", correlation->jobs, correlation->jobs == 1 ? "" : "s");
	if (name) {
		text_append_string(out, " called ");
		text_append_escaped(out, name, strlen(name));
	} else if (correlation->names > 1) {
		text_format(out, " of %" PRIu64 " names", correlation->names);
	}
	text_format(out, ", %" PRIu64 " failed", correlation->failures);
	if (correlation->jobs) {
		text_append_string(out, " (");
		unit_format_share(out, (double)correlation->failures / (double)correlation->jobs);
		text_append_string(out, ")");
	}
}

static void append_answer(struct text *out, const struct correlation *correlation, const char *name)
{
	size_t found = correlation_found(correlation);

	if (found) {
		text_format(out, "%zu finding%s among ", found, found == 1 ? "" : "s");
		append_jobs(out, correlation, name);
	} else if (correlation->can_find) {
		text_append_string(out, "nothing goes with failure, as far as can be told from ");
		append_jobs(out, correlation, name);
	} else {
		text_append_string(out, "too little is known to find anything: ");
		append_jobs(out, correlation, name);
	}
	text_append_string(out, "\n");
	if (correlation->can_find)
		return;
	if (correlation->jobs == correlation->needed_jobs)
		text_format(out, "at least %" PRIu64 " of them would have to %s\n",
			    correlation->failures ?
				    correlation->jobs - correlation->needed_failures :
				    correlation->needed_failures,
			    correlation->failures ? "succeed" : "fail");
	else
		text_format(out,
			    "at least about %" PRIu64 " jobs are needed, of which %" PRIu64
			    " failed\n",
			    correlation->needed_jobs, correlation->needed_failures);
}

static void append_names(struct text *out, const struct outcome_group *group)
{
	if (!group->has_within)
		return;
	if (group->names > 1)
		text_format(out, "    %" PRIu64 " of them are ", group->main_jobs);
	else
		text_append_string(out, "    all of them are ");
	text_append_escaped(out, group->main_name, strlen(group->main_name));
	text_append_string(out, "; compared with jobs of the same name, p ");
	text_append_string(out, group->p_within < P_LEAST ? "" : "= ");
	append_p(out, group->p_within);
	text_append_string(out, group->p_within < CORRELATION_ALPHA ?
					":\n    the names do not explain it\n" :
					":\n    it may be because of the names alone\n");
}

static void append_finding(struct text *out, const struct outcome_group *group, uint64_t tests,
			   bool colour)
{
	const struct outcome_table *table = &group->table;
	CLEANUP(text_free) struct text bounds = { 0 };

	text_format(out, "\n%s", style_on(colour, STYLE_HEADING));
	outcome_group_sentence(out, group);
	outcome_group_bounds(&bounds, group);
	if (bounds.length)
		text_format(out, " (%s)", text_string(&bounds));
	text_format(out, "%s\n    %" PRIu64 " of %" PRIu64 " failed, ",
		    style_off(colour, STYLE_HEADING), table->failures, table->jobs);
	unit_format_share(out, group->rate);
	text_append_string(out, " (interval ");
	unit_format_share(out, group->rate_low);
	text_append_string(out, " to ");
	unit_format_share(out, group->rate_high);
	text_format(out, "); of %" PRIu64 " others ", table->others);
	unit_format_share(out, group->other_rate);
	text_append_string(out, "\n    confidence ");
	if (group->corrected_p < P_LEAST)
		text_append_string(out, "above 99.99 %");
	else
		text_format(out, "%.2f %%", 100 * (1 - group->corrected_p));
	text_append_string(out, group->corrected_p < P_LEAST ? ": p " : ": p = ");
	append_p(out, group->corrected_p);
	text_format(out, ", corrected for %" PRIu64 " test%s\n", tests, tests == 1 ? "" : "s");
	append_names(out, group);
}

/* clang-format off */
static const struct table_column refused_columns[] = {
	{ .title = "not a finding", .alignment = TABLE_NAME },
	{ .title = "jobs", .alignment = TABLE_RIGHT, .unit = UNIT_COUNT },
	{ .title = "failed", .alignment = TABLE_RIGHT, .unit = UNIT_COUNT },
	{ .title = "rate", .alignment = TABLE_RIGHT },
	{ .title = "others", .alignment = TABLE_RIGHT },
	{ .title = "p", .alignment = TABLE_RIGHT },
	{ .title = "why" },
};
/* clang-format on */

static const char *reason_of(const struct outcome_group *group)
{
	static const char *const reasons[GROUP_JUDGEMENT_COUNT] = {
		[GROUP_WEAK] = "may be chance",
		[GROUP_TOO_FEW] = "too few",
		[GROUP_ALONE] = "all are in it",
	};

	return group->judgement == GROUP_WEAK && group->p < CORRELATION_ALPHA ?
		       "weak among so many" :
		       reasons[group->judgement];
}

static void put_refused(struct table *table, const struct outcome_group *group)
{
	const struct outcome_table *counts = &group->table;

	outcome_group_title(put_begin(table), group);
	put_end(table);
	put_number(table, counts->jobs);
	put_number(table, counts->failures);
	put_share(table, (double)counts->failures, (double)counts->jobs);
	put_share(table, (double)counts->other_failures, (double)counts->others);
	if (group->judgement == GROUP_WEAK) {
		append_p(put_begin(table), group->p);
		put_end(table);
	} else {
		put_absent(table, NULL);
	}
	put_text(table, reason_of(group));
}

static void append_count(struct text *out, uint64_t count, const char *what, const char *title)
{
	if (count)
		text_format(out, "%s%" PRIu64 " %s%s", out->length ? ", " : "\nleft out: ", count,
			    what, title);
}

static void print_left_out(FILE *out, const struct correlation *correlation)
{
	CLEANUP(text_free) struct text text = { 0 };

	append_count(&text, correlation->running, "that run", "");
	append_count(&text, correlation->unknown, "of unknown outcome", "");
	for (unsigned i = 0; i < FACTOR_COUNT; i++)
		append_count(&text, correlation->lacking[i], "with unknown ", factors[i].title);
	fprintf(out, "%s%s", text_string(&text), text.length ? "\n" : "");
}

int correlation_text(FILE *out, const struct terminal *terminal,
		     const struct correlation *correlation, const char *name, size_t limit)
{
	CLEANUP(text_free) struct text text = { 0 };
	CLEANUP(table_clear) struct table refused = { 0 };
	size_t found = correlation_found(correlation);
	size_t end = correlation->groups.count;
	int status = 0;

	append_answer(&text, correlation, name);
	for (size_t i = 0; i < found; i++)
		append_finding(&text, &correlation->groups.data[i], correlation->tests,
			       terminal->colour);
	fprintf(out, "%s", text_string(&text));
	end = limit && end - found > limit ? found + limit : end;
	table_add_columns(&refused, refused_columns, ARRAY_SIZE(refused_columns));
	for (size_t i = found; i < end; i++)
		put_refused(&refused, &correlation->groups.data[i]);
	if (end > found) {
		fputs("\n", out);
		status = table_print(&refused, terminal, out);
	}
	if (end < correlation->groups.count)
		fprintf(out, "%zu more: -n 0\n", correlation->groups.count - end);
	print_left_out(out, correlation);
	return status < 0 || text.failed || refused.failed ? -ENOMEM : 0;
}
