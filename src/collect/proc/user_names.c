/* SPDX-License-Identifier: MIT */
#include "collect/proc/user_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define PASSWD_LIMIT ((size_t)16 * 1024 * 1024)

void user_names_clear(struct user_names *names)
{
	text_free(&names->text);
	array_free(&names->list);
}

/* "name:password:uid:..."; lines of other services start with a sign. */
static bool parse_line(const char *line, struct user_name *ret)
{
	size_t length = strcspn(line, ":\n");
	const char *cursor = line + length;
	uint64_t uid;

	if (length == 0 || *cursor != ':' || *line == '+' || *line == '-' || *line == '#')
		return false;
	cursor++;
	cursor += strcspn(cursor, ":\n");
	if (*cursor != ':')
		return false;
	cursor++;
	if (!scan_u64(&cursor, &uid) || *cursor != ':' || uid > UINT32_MAX)
		return false;
	*ret = (struct user_name){ .uid = uid, .name = line, .length = length };
	return true;
}

static int compare_names(const void *first, const void *second)
{
	const struct user_name *a = first, *b = second;

	if (a->uid != b->uid)
		return a->uid < b->uid ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name); /* in the order of the file */
}

int user_names_parse(struct user_names *names)
{
	const char *line = text_string(&names->text);

	names->list.count = 0;
	while (*line) {
		struct user_name name;

		if (parse_line(line, &name) && array_append(&names->list, name) < 0)
			return -ENOMEM;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	array_sort(&names->list, compare_names);
	return 0;
}

int user_names_read(int etc, struct user_names *ret)
{
	int status = etc < 0 ? -ENOENT : file_read_text(etc, "passwd", PASSWD_LIMIT, &ret->text);

	return status < 0 ? status : user_names_parse(ret);
}

const struct user_name *user_names_find(const struct user_names *names, uint64_t uid)
{
	size_t at = array_bisect(names->list.data, names->list.count, item->uid < uid);

	if (at == names->list.count || names->list.data[at].uid != uid)
		return NULL;
	return &names->list.data[at];
}
