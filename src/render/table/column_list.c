/* SPDX-License-Identifier: MIT */
#include "render/table/column_list.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"

static size_t find_column(const struct column_names *names, const char *word, size_t length)
{
	size_t column = 0;

	for (; column < names->count; column++) {
		const char *name = names->name(column);

		if (name && strlen(name) == length && strncmp(name, word, length) == 0)
			break;
	}
	return column;
}

static int unknown_column(const struct column_names *names, const char *word, size_t length,
			  struct error *error)
{
	struct suggestion suggestion = suggest_for(word, length);
	const char *hint;

	suggest_list(&suggestion, names->words);
	hint = suggestion_hint(&suggestion, "", "");
	return error_set(error, -EINVAL, "there is no column '%.*s'; %s%s", (int)length, word,
			 hint[0] ? hint : "columns are ", hint[0] ? "" : names->words);
}

static int add_column(struct column_list *list, const struct column_names *names, const char *word,
		      size_t length, struct error *error)
{
	size_t column = find_column(names, word, length);

	if (column == names->count)
		return unknown_column(names, word, length, error);
	if (memchr(list->ids, (int)column, list->count))
		return error_set(error, -EINVAL, "column '%.*s' is named twice", (int)length, word);
	list->ids[list->count++] = (uint8_t)column;
	return 0;
}

int column_list_parse(const char **list, const struct column_names *names, struct column_list *ret,
		      struct error *error)
{
	struct column_list columns = { .count = 0 };

	while (*list) {
		size_t length = strcspn(*list, ",");
		int status = add_column(&columns, names, *list, length, error);

		if (status < 0)
			return status;
		*list = (*list)[length] ? *list + length + 1 : NULL;
	}
	*ret = columns;
	return 0;
}
