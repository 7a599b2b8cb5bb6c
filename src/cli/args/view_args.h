/* SPDX-License-Identifier: MIT */
/*
 * The options that say how to show something, for every verb that shows: the
 * same words, the same errors.
 *
 *	static struct view_args view_args;
 *	static const struct option options[] = {
 *		FORMAT_OPTION(view_args, "text|json|csv"),
 *		LIMIT_OPTION(view_args, "show N groups, 0 for all"),
 *		{ 0 },
 *	};
 */
#ifndef CLI_VIEW_ARGS_H
#define CLI_VIEW_ARGS_H

#include "analyze/group/group.h"
#include "cli/option.h"

struct error;

struct view_args {
	const char *group_by;
	const char *sections;
	const char *columns;
	const char *format;
	const char *metrics;
	const char *sort;
	struct option_number limit;
	bool verbose;
};

/* clang-format off */
#define AXIS_OPTION(args)                                                                          \
	{ 'g', "group-by", OPTION_TEXT, &(args).group_by, "AXIS", "what makes a group (default: pcomm)", GROUP_AXES }
#define SECTIONS_OPTION(args, help, words)                                                         \
	{ 0, "sections", OPTION_NAMES, &(args).sections, "LIST", help, words }
#define COLUMNS_OPTION(args, words)                                                                \
	{ 0, "columns", OPTION_NAMES, &(args).columns, "LIST", "of " words, words }
#define FORMAT_OPTION(args, formats)                                                               \
	FORMAT_OPTION_WITH(args, "how to print it", formats)
/* The same with another help. */
#define FORMAT_OPTION_WITH(args, help, formats)                                                    \
	{ 0, "format", OPTION_TEXT, &(args).format, "FORMAT", help, formats },                     \
	{ 0, "json", OPTION_ALIAS, &(args).format, "format", "the same as --format json", NULL }
#define LIMIT_OPTION(args, help)                                                                   \
	{ 'n', "limit", OPTION_NUMBER, &(args).limit, "N", help, NULL }
#define VERBOSE_OPTION(args, help)                                                                 \
	{ 'v', "verbose", OPTION_FLAG, &(args).verbose, NULL, help, NULL }
#define REPORT_VERBOSE_HELP "a longer report: also all threads and processes, longest waits, system calls, other use"
#define METRICS_OPTION(args, help)                                                                 \
	{ 'm', "metrics", OPTION_NAMES, &(args).metrics, "LIST", help, metric_words }
#define SORT_OPTION(args, argument, help)                                                          \
	{ 's', "sort", OPTION_NAMES, &(args).sort, argument, help, metric_words }
/* clang-format on */

enum view_format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CSV,
};

enum view_format view_format(const struct view_args *args);
enum group_axis view_axis(const struct view_args *args);

/*
 * Whether columns were chosen.  JSON has its keys by itself: then it is an error,
 * with a sentence that ends in `advice`.
 */
int view_has_columns(const struct view_args *args, const char *advice, struct error *error);
/* Rows to show, 0 for all: the number of -n; by default `in_text` in text, and all for programs. */
size_t view_limit(const struct view_args *args, size_t in_text);

/* For completion: the names of all metrics, of all that a filter compares, and of all sources. */
extern const char metric_words[], filter_words[], source_words[];

#endif
