/* SPDX-License-Identifier: MIT */
/* The critical path: what the wall time hung on, in a few lines. */
#include <inttypes.h>
#include <string.h>

#include "analyze/path/path_shares.h"
#include "analyze/path/path_words.h"
#include "base/cleanup.h"
#include "metric/unit.h"
#include "render/run/run_text_tables.h"

#define ROWS 4	    /* with the headings and what follows eight lines */
#define LEAST 0.005 /* parts below this share are left out */
#define WAYS 3	    /* that are named */

static const struct table_column columns[] = {
	/* clang-format off */
	{ "program", TABLE_NAME,  .unit = UNIT_TEXT },
	{ "does",    TABLE_NAME,  .unit = UNIT_TEXT },
	{ "time",    TABLE_RIGHT, .unit = UNIT_NS },
	{ "share",   TABLE_RIGHT, .unit = UNIT_COUNT },
	{ "via",     TABLE_LEFT,  .unit = UNIT_TEXT },
	/* clang-format on */
};

static void append(struct text *cell, const char *name)
{
	text_append_escaped(cell, name, strlen(name));
}

static void put_program(struct table *table, const struct path_part *part)
{
	CLEANUP(text_free) struct text words = { 0 };

	path_part_command(part, &words);
	append(put_begin(table), text_string(&words));
	put_end(table);
}

/* "run queue behind cc1", "network, ended by redis-server" */
static void put_kind(struct table *table, const struct path_part *part)
{
	struct text *cell = put_begin(table);
	bool is_queue = part->kind == PATH_RUN_QUEUE;

	if (is_queue)
		text_append_string(cell, "run queue");
	else
		text_append_string(cell, part->kind == PATH_NOT_SEEN ? "not seen" :
								       path_kind_name(part->kind));
	if (part->peer[0] && part->peer_ns > part->ns / 2) {
		text_append_string(cell, is_queue ? " behind " : ", ended by ");
		append(cell, part->peer);
	} else if (is_queue && part->by_tree_ns > part->ns / 2) {
		text_append_string(cell, ", own tree");
	} else if (is_queue && part->by_outside_ns > part->ns / 2) {
		text_append_string(cell, " behind others");
	}
	put_end(table);
}

static void put_part(struct table *table, const struct path_part *part, uint64_t total_ns)
{
	put_program(table, part);
	put_kind(table, part);
	put_number(table, part->ns);
	put_share(table, (double)part->ns, (double)total_ns);
	put_string(table, path_kind_name(part->via));
}

/* Through which waits the path came, those with most time first. */
static void append_ways(struct text *line, const struct critical_path *path)
{
	bool is_said[WAIT_REASON_COUNT] = { false };

	for (int n = 0; n < WAYS; n++) {
		uint8_t best = WAIT_REASON_COUNT;

		for (uint8_t i = 0; i < WAIT_REASON_COUNT; i++)
			if (!is_said[i] &&
			    (best == WAIT_REASON_COUNT ||
			     path_share(path, PATH_ANY, i) > path_share(path, PATH_ANY, best)))
				best = i;
		if (path_share(path, PATH_ANY, best) < LEAST)
			return;
		is_said[best] = true;
		text_format(line, "%s%s ", n ? ", " : "via ", waits[best].name);
		unit_format_share(line, path_share(path, PATH_ANY, best));
	}
}

/*
 * What could be saved at most: the whole of the first row, but work that is done in parallel still
 * needs its CPU time on the CPUs that there are.
 */
static double savings(const struct run *run)
{
	const struct path_part *first = &run->path.parts.data[0];
	double share = (double)first->ns / (double)run->path.total_ns;
	double cores = run_cores(run);
	double idle = 1;

	if (cores >= 0 && run->limits.online_cpus)
		idle = 1 - cores / run->limits.online_cpus;
	if (first->kind != PATH_CPU || idle < 0)
		return first->kind == PATH_CPU ? 0 : share;
	return share < idle ? share : idle;
}

/* Nothing can be said of what was not seen, or of several things in one row. */
static bool can_be_saved(const struct path_part *part)
{
	return part->kind != PATH_NOT_SEEN && part->kind != PATH_MUTUAL &&
	       strcmp(part->program, PATH_OTHERS) != 0;
}

static void print_summary(FILE *out, const struct run *run)
{
	CLEANUP(text_free) struct text line = { 0 };
	const struct critical_path *path = &run->path;
	const struct path_part *first = &path->parts.data[0];

	append_ways(&line, path);
	text_append_string(&line, line.length ? "; " : "");
	unit_format_real(&line, UNIT_COUNT, path_edges_per_second(path));
	text_append_string(&line, " changes of thread a second");
	if (can_be_saved(first)) {
		text_format(&line, "\ndoing %s saves at most ",
			    first->kind == PATH_CPU ? "the first in parallel" :
						      "without the first");
		unit_format_share(&line, savings(run));
		text_append_string(&line, ", less if others take as long");
	}
	fprintf(out, "%s\n", text_string(&line));
}

static void print_heading(FILE *out, const struct run *run, const struct run_text_options *options)
{
	CLEANUP(text_free) struct text heading = { 0 };

	text_append_string(&heading, "critical path: what the ");
	unit_format(&heading, UNIT_NS, run->path.total_ns);
	text_append_string(&heading, " hung on");
	if (run->path.of_busiest)
		text_format(&heading,
			    " of its busiest thread, %" PRId32 ", since the first only waited",
			    run->path.thread.tid);
	run_text_heading(out, options, text_string(&heading));
}

void run_text_path(FILE *out, const struct run *run, const struct run_text_options *options)
{
	const struct critical_path *path = &run->path;
	struct table table = { 0 };
	size_t shown = 0;

	if (!path->is_known || !path->parts.count || !path->total_ns)
		return;
	print_heading(out, run, options);
	table_add_columns(&table, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < path->parts.count && shown < ROWS; i++) {
		if (i && (double)path->parts.data[i].ns < LEAST * (double)path->total_ns)
			break;
		put_part(&table, &path->parts.data[i], path->total_ns);
		shown++;
	}
	run_text_table(out, &table, options, shown, shown);
	print_summary(out, run);
}
