/* SPDX-License-Identifier: MIT */
#include "cli/args/filter_args.h"

#include <errno.h>
#include <string.h>

#include "analyze/filter/filter.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"

bool filter_args_given(const struct filter_args *args)
{
	return args->pids || filter_args_beyond_pids(args);
}

bool filter_args_beyond_pids(const struct filter_args *args)
{
	return args->cgroup || args->user || args->filters.count;
}

/* Adds a term whose values are the words of a list: globs may be in it, but no blanks or quotes. */
static int add_list(struct filter *filter, const char *name, char letter, const char *list,
		    struct error *error)
{
	CLEANUP(text_free) struct text term = { 0 };

	if (!list)
		return 0;
	if (!*list || strpbrk(list, TERM_BLANKS "'\"") || *list == ',' ||
	    list[strlen(list) - 1] == ',' || strstr(list, ",,"))
		return error_set(error, -EINVAL,
				 "-%c takes names or numbers with commas between them, not '%s'; "
				 "--filter takes names with blanks",
				 letter, list);
	text_format(&term, "%s=%s", name, list);
	return term.failed ? -ENOMEM : filter_add(filter, term.data, error);
}

/* A cgroup and all below it: its path stands for itself. */
static int add_cgroup(struct filter *filter, const char *path, struct error *error)
{
	CLEANUP(text_free) struct text plain = { 0 };
	CLEANUP(text_free) struct text term = { 0 };
	size_t length = path ? strlen(path) : 0;

	if (!path)
		return 0;
	if (path[0] != '/')
		return error_set(error, -EINVAL, "cgroup '%s' must start with '/'", path);
	while (length && path[length - 1] == '/')
		length--;
	text_append(&plain, path, length);
	text_append_string(&term, "cgroup=");
	if (length) {
		filter_append_literal(&term, text_string(&plain), "");
		text_append_string(&term, ",");
	}
	filter_append_literal(&term, text_string(&plain), "/**");
	return term.failed || plain.failed ? -ENOMEM : filter_add(filter, term.data, error);
}

int filter_args_live(const struct filter_args *args, struct filter *ret, struct error *error)
{
	int status = add_list(ret, "user", 'u', args->user, error);

	for (size_t i = 0; i < args->filters.count && status == 0; i++)
		status = filter_add(ret, args->filters.values[i], error);
	return status == -ENOMEM ? error_set(error, status, "out of memory") : status;
}

int filter_args_read(const struct filter_args *args, struct filter *ret, struct error *error)
{
	int status = add_list(ret, "process", 'p', args->pids, error);

	if (status == 0)
		status = add_cgroup(ret, args->cgroup, error);
	if (status == -ENOMEM)
		return error_set(error, status, "out of memory");
	return status < 0 ? status : filter_args_live(args, ret, error);
}
