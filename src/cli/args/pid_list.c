/* SPDX-License-Identifier: MIT */
#include "cli/args/pid_list.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/parts/find_processes.h"
#include "model/snapshot/snapshot.h"

/* A process that is named twice is added once. */
static int add_once(struct pid_list *list, int32_t pid, struct error *error)
{
	for (size_t i = 0; i < list->pids.count; i++)
		if (list->pids.data[i] == pid)
			return 0;
	if (array_append(&list->pids, pid) < 0)
		return error_set(error, -ENOMEM, "out of memory");
	return 0;
}

int32_t pid_of_word(const char *word, size_t length)
{
	const char *cursor = word;
	uint64_t pid;

	if (!scan_u64(&cursor, &pid) || cursor != word + length || pid > INT32_MAX)
		return 0;
	return (int32_t)pid;
}

static int add_named(struct pid_list *list, const struct host *host, const char *word,
		     size_t length, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *found = NULL;
	CLEANUP(text_free) struct text name = { 0 };
	int status;

	text_append(&name, word, length);
	if (name.failed)
		return error_set(error, -ENOMEM, "out of memory");
	status = find_processes_named(host, text_string(&name), &found, error);
	return status < 0 ? status : pid_list_take(list, found, error);
}

static int add_word(struct pid_list *list, const struct host *host, const char *word, size_t length,
		    struct error *error)
{
	int32_t pid = pid_of_word(word, length);

	if (pid)
		return add_once(list, pid, error);
	if (length == 0 || strspn(word, "0123456789") >= length)
		return error_set(
			error, -EINVAL,
			"'%.*s' is not a process id: write numbers above 0, or names, such as 12,nginx",
			(int)length, word);
	return add_named(list, host, word, length, error);
}

int pid_list_add(struct pid_list *list, const struct host *host, const char *text,
		 struct error *error)
{
	int status = 0;

	while (text && status == 0) {
		size_t length = strcspn(text, ",");

		status = add_word(list, host, text, length, error);
		text = text[length] ? text + length + 1 : NULL;
	}
	return status;
}

int pid_list_read(struct pid_list *list, const struct host *host, const char *option, char **words,
		  int count, struct error *error)
{
	int status = pid_list_add(list, host, option, error);

	for (int i = 0; i < count && status == 0; i++)
		status = pid_list_add(list, host, words[i], error);
	return status;
}

int pid_list_take(struct pid_list *list, const struct snapshot *snapshot, struct error *error)
{
	int status = 0;

	for (size_t row = 0; row < snapshot->process_count && status == 0; row++)
		status = add_once(list, snapshot->processes[row].tgid, error);
	return status;
}

void pid_list_free(struct pid_list *list)
{
	array_free(&list->pids);
}
