/* SPDX-License-Identifier: MIT */
#include "trace/proc/live_processes.h"

#include <string.h>

/* The place of the number, or where it belongs. */
static size_t find(const struct live_processes *live, int32_t pid)
{
	return array_bisect(live->items.data, live->items.count, item->key.pid < pid);
}

static bool is_at(const struct live_processes *live, size_t index, int32_t pid)
{
	return index < live->items.count && live->items.data[index].key.pid == pid;
}

int live_processes_add(struct live_processes *live, const struct task_key *key)
{
	size_t index = find(live, key->pid);
	struct live_process *place;

	if (!is_at(live, index, key->pid)) {
		if (array_reserve(&live->items, live->items.count + 1) < 0)
			return -ENOMEM;
		place = live->items.data + index;
		memmove(place + 1, place, (live->items.count - index) * sizeof(*place));
		live->items.count++;
	}
	live->items.data[index] = (struct live_process){ .key = *key };
	return 0;
}

int live_processes_know(struct live_processes *live, int32_t pid)
{
	const struct task_key key = { .pid = pid, .tid = pid };

	return is_at(live, find(live, pid), pid) ? 0 : live_processes_add(live, &key);
}

void live_processes_remove(struct live_processes *live, int32_t pid)
{
	size_t index = find(live, pid);
	struct live_process *place = live->items.data + index;

	if (!is_at(live, index, pid))
		return;
	live->items.count--;
	memmove(place, place + 1, (live->items.count - index) * sizeof(*place));
}

void live_processes_mark(struct live_processes *live, int32_t pid)
{
	size_t index = find(live, pid);

	if (is_at(live, index, pid))
		live->items.data[index].is_sampled = true;
}

void live_processes_clear(struct live_processes *live)
{
	array_free(&live->items);
}
