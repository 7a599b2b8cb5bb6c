/* SPDX-License-Identifier: MIT */
#include "collect/process/namespace_tids.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/proc/task_text.h"

/*
 * Takes the first number of a line (ours) and the last (the process's own).  Returns how many
 * there are.
 */
static unsigned find_numbers(const char *status, const char *key, struct namespace_tid *ret)
{
	size_t length = 0;
	const char *cursor = task_status_find(status, key, &length);
	const char *end = cursor ? cursor + length : NULL;
	unsigned count = 0;
	uint64_t number;

	for (; cursor && cursor < end; cursor++) {
		if (!scan_u64(&cursor, &number) || number > INT32_MAX)
			continue;
		if (count++ == 0)
			ret->ours = (int32_t)number;
		ret->own = (int32_t)number;
	}
	return count;
}

int namespace_tids_init(struct namespace_tids *tids, int process)
{
	struct namespace_tid numbers = { 0 };
	ssize_t length = proc_read(process, "status", &tids->buffer);
	unsigned count;

	if (length < 0)
		return length == -ENOENT ? -ESRCH : (int)length;
	/* Kernels before 4.1 do not have these lines: assume that the numbers are the same. */
	count = find_numbers(tids->buffer.data, "NStgid", &numbers);
	if (count == 0)
		count = find_numbers(tids->buffer.data, "Tgid", &numbers);
	if (count == 0)
		return -EBADMSG;
	tids->pid = numbers.ours;
	tids->own_pid = numbers.own;
	tids->differ = count > 1;
	return 0;
}

void namespace_tids_clear(struct namespace_tids *tids)
{
	array_free(&tids->list);
	proc_buffer_clear(&tids->buffer);
}

static int compare_tids(const void *left, const void *right)
{
	const struct namespace_tid *a = left, *b = right;

	return (a->own > b->own) - (a->own < b->own);
}

static int add_task(struct namespace_tids *tids, int process, int32_t tid)
{
	struct namespace_tid numbers = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "task/%" PRId32 "/status", tid);
	if (proc_read(process, path, &tids->buffer) < 0 ||
	    !find_numbers(tids->buffer.data, "NSpid", &numbers))
		return 0;
	return array_append(&tids->list, numbers);
}

int namespace_tids_refresh(struct namespace_tids *tids, int process)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers numbers = { 0 };
	int status = tids->differ ? proc_list(process, "task", &numbers) : 0;

	if (status < 0 || !tids->differ)
		return status;
	tids->list.count = 0;
	for (size_t i = 0; i < numbers.list.count && status == 0; i++)
		status = add_task(tids, process, numbers.list.data[i]);
	array_sort(&tids->list, compare_tids);
	return status;
}

int32_t namespace_tids_ours(const struct namespace_tids *tids, int32_t own)
{
	struct namespace_tid wanted = { .own = own };
	const struct namespace_tid *found;

	if (!tids->differ)
		return own;
	found = array_find(&tids->list, &wanted, compare_tids);
	return found ? found->ours : 0;
}
