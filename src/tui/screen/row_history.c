/* SPDX-License-Identifier: MIT */
#include "tui/screen/row_history.h"

#include <stdlib.h>

#include "analyze/group/group.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "tui/moment/moment.h"

static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const letters[] = { " ", "_", ".", ":", "-", "=", "+", "*", "#" };
#define ROW_LEVELS (ARRAY_SIZE(blocks) - 1)

static uint64_t mix(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static uint64_t key_of(const struct grouping *grouping, const struct group *group)
{
	const struct task *task = &grouping->snapshot->tasks[grouping->rows[group->first]];
	const struct process *process = &grouping->snapshot->processes[task->process];
	uint64_t hash = 1;

	if (grouping->axis == AXIS_THREAD)
		hash = mix(mix(hash, (uint64_t)task->tid), task->start_time_ns);
	else if (grouping->axis == AXIS_PROCESS)
		hash = mix(mix(hash, (uint64_t)process->tgid), process->start_time_ns);
	else
		for (const char *byte = group->key; *byte; byte++)
			hash = mix(hash, (unsigned char)*byte);
	return hash | 1;
}

static struct row_past *find(const struct row_history *history, uint64_t key)
{
	size_t at = (size_t)(key >> 20) & (history->capacity - 1);

	while (history->slots[at].key && history->slots[at].key != key)
		at = (at + 1) & (history->capacity - 1);
	return &history->slots[at];
}

/* Room for so many more; rows that are gone stay behind. */
static bool reserve(struct row_history *history, size_t more)
{
	struct row_history grown = *history;

	if (2 * (history->count + more) <= history->capacity)
		return true;
	grown.count = 0;
	for (grown.capacity = 1024; grown.capacity < 8 * more;)
		grown.capacity *= 2;
	grown.slots = calloc(grown.capacity, sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (size_t i = 0; i < history->capacity; i++) {
		const struct row_past *past = &history->slots[i];

		if (!past->key || history->now - past->seen >= ROW_MOMENTS ||
		    2 * (grown.count + more) >= grown.capacity)
			continue;
		*find(&grown, past->key) = *past;
		grown.count++;
	}
	free(history->slots);
	*history = grown;
	return true;
}

static uint8_t level_of(const struct grouping *grouping, const struct group *group)
{
	const struct snapshot *tasks = grouping->snapshot;
	uint64_t sum_ns = 0, run_ns;
	bool is_known = false;
	double level;

	for (uint32_t i = group->first; i < group->first + group->tasks; i++)
		if (snapshot_get(tasks, METRIC_run_time_ns, grouping->rows[i], &run_ns)) {
			sum_ns += run_ns;
			is_known = true;
		}
	if (!is_known || !tasks->interval_ns)
		return 0;
	level = 1 + (double)sum_ns * (double)ROW_LEVELS / (double)tasks->interval_ns;
	return (uint8_t)(level < (double)ROW_LEVELS ? level : (double)ROW_LEVELS);
}

static void add_row(struct row_history *history, uint64_t key, uint8_t level)
{
	struct row_past *past = find(history, key);

	if (!past->key) {
		*past = (struct row_past){ .key = key, .seen = history->now };
		history->count++;
	}
	/* It was not there in the moments between. */
	for (uint32_t i = past->seen + 1; i != history->now + 1 && i - past->seen <= ROW_MOMENTS;
	     i++)
		past->levels[i % ROW_MOMENTS] = 0;
	past->levels[history->now % ROW_MOMENTS] = level;
	past->seen = history->now;
}

void row_history_add(struct row_history *history, const struct grouping *grouping,
		     const struct moment *moment)
{
	bool is_same = history->axis == (int)grouping->axis;

	if (is_same && history->unix_ns == moment->sample.unix_ns)
		return;
	if (!is_same || history->unix_ns != moment->before_unix_ns)
		row_history_clear(history);
	history->axis = (int)grouping->axis;
	history->unix_ns = moment->sample.unix_ns;
	history->now++;
	if (!reserve(history, grouping->group_count))
		return;
	for (size_t i = 0; i < grouping->group_count; i++)
		add_row(history, key_of(grouping, &grouping->groups[i]),
			level_of(grouping, &grouping->groups[i]));
}

void row_history_graph(const struct row_history *history, const struct grouping *grouping,
		       size_t group, bool has_blocks, struct text *out)
{
	const char *const *signs = has_blocks ? blocks : letters;
	const struct row_past *past =
		history->capacity ? find(history, key_of(grouping, &grouping->groups[group])) :
				    NULL;

	for (uint32_t i = ROW_MOMENTS; i-- > 0;) {
		uint32_t number = history->now - i;
		bool is_known = past && past->key && number <= past->seen &&
				past->seen - number < ROW_MOMENTS && number > 0 &&
				number <= history->now;

		text_append_string(out, signs[is_known ? past->levels[number % ROW_MOMENTS] : 0]);
	}
}

void row_graph_append(struct text *out, double share, bool is_known, bool has_blocks)
{
	const char *const *signs = has_blocks ? blocks : letters;
	size_t level = 1 + (size_t)(share * (double)(ROW_LEVELS - 1) + 0.5);

	text_append_string(out, signs[is_known ? level < ROW_LEVELS ? level : ROW_LEVELS : 0]);
}

void row_history_clear(struct row_history *history)
{
	free(history->slots);
	*history = (struct row_history){ .axis = history->axis };
}
