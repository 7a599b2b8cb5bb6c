/* SPDX-License-Identifier: MIT */
/*
 * The columns that a person chose with --columns: a list of names with commas
 * between them, for every view that has the option.
 */
#ifndef RENDER_TABLE_COLUMN_LIST_H
#define RENDER_TABLE_COLUMN_LIST_H

#include <stddef.h>
#include <stdint.h>

struct error;

#define COLUMN_LIST_MAX 32

struct column_list {
	uint8_t ids[COLUMN_LIST_MAX];
	size_t count; /* 0: the usual ones */
};

/* The columns of a view. */
struct column_names {
	const char *words; /* all that may be chosen, as help has them: "group, tasks" */
	size_t count;
	const char *(*name)(size_t column); /* NULL for one that may not be chosen */
};

/*
 * Reads the list at *list.  Returns 0, or -EINVAL with a sentence; then *list is
 * at the name that is wrong.
 */
int column_list_parse(const char **list, const struct column_names *names, struct column_list *ret,
		      struct error *error);

#endif
