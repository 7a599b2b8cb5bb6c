/* SPDX-License-Identifier: MIT */
#include "cli/args/view_args.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

const char metric_words[] = ""
#define METRIC(id, ...) "|" #id
#include "metric/metrics.def"
#define DERIVED(id, ...) "|" #id
#include "metric/metrics.def"
	;

const char filter_words[] = ""
#define FILTER_FIELD(id, ...) "|" #id
#include "analyze/filter/filter_fields.def"
#define METRIC(id, ...) "|" #id
#include "metric/metrics.def"
#define DERIVED(id, ...) "|" #id
#include "metric/metrics.def"
	;

const char source_words[] = ""
#define SOURCE(id, name, ...) "|" name
#include "collect/sources.def"
	;

enum view_format view_format(const struct view_args *args)
{
	if (args->format && strcmp(args->format, "json") == 0)
		return FORMAT_JSON;
	return args->format && strcmp(args->format, "csv") == 0 ? FORMAT_CSV : FORMAT_TEXT;
}

enum group_axis view_axis(const struct view_args *args)
{
	return args->group_by ? (enum group_axis)group_axis_find(args->group_by) : AXIS_PCOMM;
}

int view_has_columns(const struct view_args *args, const char *advice, struct error *error)
{
	if (args->columns && view_format(args) == FORMAT_JSON)
		return error_set(error, -EINVAL,
				 "--columns is for text and csv: json has its keys by itself%s",
				 advice);
	return args->columns != NULL;
}

size_t view_limit(const struct view_args *args, size_t in_text)
{
	if (args->limit.given)
		return args->limit.value;
	return view_format(args) == FORMAT_TEXT ? in_text : 0;
}
