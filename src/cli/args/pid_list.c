/* SPDX-License-Identifier: MIT */
#include "cli/args/pid_list.h"

#include "base/error.h"
#include "base/text.h"

/* A process that is named twice is added once. */
static int add_once(struct pid_list *list, int32_t pid)
{
	for (size_t i = 0; i < list->pids.count; i++)
		if (list->pids.data[i] == pid)
			return 0;
	return array_append(&list->pids, pid);
}

int pid_list_add(struct pid_list *list, const char *text, struct error *error)
{
	const char *cursor = text;
	uint64_t pid;

	while (cursor) {
		if (!scan_u64(&cursor, &pid) || pid == 0 || pid > INT32_MAX ||
		    (*cursor && *cursor != ','))
			return error_set(error, -EINVAL,
					 "-p takes process ids such as 12,345, not '%s'", text);
		if (add_once(list, (int32_t)pid) < 0)
			return error_set(error, -ENOMEM, "out of memory");
		cursor = *cursor ? cursor + 1 : NULL;
	}
	return 0;
}

int pid_list_read(struct pid_list *list, const char *option, char **words, int count,
		  struct error *error)
{
	int status = pid_list_add(list, option, error);

	for (int i = 0; i < count && status == 0; i++)
		status = pid_list_add(list, words[i], error);
	return status;
}

void pid_list_free(struct pid_list *list)
{
	array_free(&list->pids);
}
