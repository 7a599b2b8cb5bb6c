/* SPDX-License-Identifier: MIT */
#include "render/run/loss_words.h"

#include <string.h>

#include "base/collection/array.h"

/* clang-format off */
static const struct {
	const char *key, *one, *many;
} words[] = {
	{ "events", "event (no room in the ring)", "events (no room in the ring)" },
	{ "threads_lost", "thread without a last account", "threads without a last account" },
	{ "unnamed_syscalls", "system call without its name", "system calls without their names" },
	{ "waits", "wait (no room in the ring)", "waits (no room in the ring)" },
	{ "wakers", "waker", "wakers" },
	{ "untracked_tasks", "task that was not followed", "tasks that were not followed" },
	{ "strays", "event of an unknown task", "events of unknown tasks" },
	{ "lines", "JSON line", "JSON lines" },
	{ "looks", "read of the tree", "reads of the tree" },
	{ "scopes", "read of scopes", "reads of scopes" },
	{ "scope_waits", "wait in scopes", "waits in scopes" },
	{ "labels", "label of scopes", "labels of scopes" },
};
/* clang-format on */

const char *loss_words(const char *key, uint64_t count)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(words[i].key, key) == 0)
			return count == 1 ? words[i].one : words[i].many;
	return key;
}
