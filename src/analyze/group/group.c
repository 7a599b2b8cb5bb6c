/* SPDX-License-Identifier: MIT */
#include "analyze/group/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/match/census.h"
#include "analyze/verdict/losses.h"
#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/collection/dictionary.h"
#include "base/cpulist.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"

#define NOT_SEEN UINT32_MAX

/* The separators between the parts of a key. */
static const char joints[AXIS_PARTS - 1] = { ' ', '/' };

/* Needed only while a grouping is made. */
struct build {
	struct grouping *grouping;
	const struct axis *axis;
	const struct census *census;
	const struct counted *counted;
	bool has_parts;			 /* several: the key decides the group, else the class */
	struct dictionary *own_keys;	 /* where the caller has none */
	struct dictionary *keys;	 /* NULL: one part, and the caller has none */
	ARRAY_OF(uint32_t) group_of_key; /* by the number of the class, or of the key */
	uint32_t *group_of_task;
	size_t group_capacity;
	struct text key;
};

static void build_clear(struct build *build)
{
	dictionary_free(build->own_keys);
	array_free(&build->group_of_key);
	free(build->group_of_task);
	text_free(&build->key);
}

int grouping_make(const struct snapshot *snapshot, enum group_axis axis,
		  const struct grouping_options *options, struct grouping **ret)
{
	CLEANUP(census_free_pointer) struct census *census = NULL;
	int status = census_new(axis, options, &census);

	if (status == 0)
		status = census_add(census, snapshot);
	return status < 0 ? status : grouping_new(snapshot, axis, census, NULL, ret);
}

void grouping_free(struct grouping *grouping)
{
	if (!grouping)
		return;
	free(grouping->groups);
	free(grouping->rows);
	arena_clear(&grouping->arena);
	free(grouping);
}

/*
 * Appends the key of a class in one part.  In a key of several parts an unknown
 * name must be visible.
 */
static void append_part(struct build *build, size_t part, uint32_t class)
{
	const char *key = census_class_key(build->census, part, class);

	text_append_string(&build->key, *key || !build->has_parts ? key : "(none)");
}

/* Writes the key of a task of these classes, and gives where its parts end. */
static int write_key(struct build *build, const uint32_t *classes, uint32_t ret_ends[AXIS_PARTS])
{
	text_clear(&build->key);
	append_part(build, 0, classes[0]);
	ret_ends[0] = (uint32_t)build->key.length;
	for (size_t i = 1; i < AXIS_PARTS && build->axis->parts[i]; i++) {
		text_append(&build->key, &joints[i - 1], 1);
		append_part(build, i, classes[i]);
		ret_ends[i] = (uint32_t)build->key.length;
	}
	return build->key.failed ? -ENOMEM : 0;
}

static int number_key(struct build *build, uint32_t *ret)
{
	return dictionary_add(build->keys, text_string(&build->key), build->key.length, ret);
}

/* Adds a group with the key that was just written. */
static int add_group(struct build *build, uint32_t number, const uint32_t ends[AXIS_PARTS])
{
	struct grouping *grouping = build->grouping;
	const char *key = text_string(&build->key);
	struct group group = { .key = arena_copy(&grouping->arena, key, build->key.length),
			       .number = number };

	if (array_reserve_bytes((void **)&grouping->groups, &build->group_capacity,
				grouping->group_count + 1, sizeof(*grouping->groups)) < 0)
		return -ENOMEM;
	if (build->axis->parts[0]->rule == NAME_PATH)
		group.cgroup =
			build->has_parts ? arena_copy(&grouping->arena, key, ends[0]) : group.key;
	if (build->has_parts) {
		group.cgroup_end = ends[0];
		group.process_end = ends[1];
	}
	if (!group.key || (build->axis->parts[0]->rule == NAME_PATH && !group.cgroup))
		return -ENOMEM;
	grouping->groups[grouping->group_count++] = group;
	return 0;
}

/* The group of a task of these classes, added when it is new. */
static int find_group(struct build *build, const uint32_t *classes, uint32_t *ret)
{
	uint32_t key = classes[0], number = 0;
	uint32_t ends[AXIS_PARTS] = { 0 };

	if (build->has_parts &&
	    (write_key(build, classes, ends) < 0 || number_key(build, &key) < 0))
		return -ENOMEM;
	number = key;
	if (array_extend(&build->group_of_key, key + 1, NOT_SEEN) < 0)
		return -ENOMEM;
	if (build->group_of_key.data[key] == NOT_SEEN) {
		if (!build->has_parts && (write_key(build, classes, ends) < 0 ||
					  (build->keys && number_key(build, &number) < 0)))
			return -ENOMEM;
		if (add_group(build, number, ends) < 0)
			return -ENOMEM;
		build->group_of_key.data[key] = (uint32_t)build->grouping->group_count - 1;
	}
	*ret = build->group_of_key.data[key];
	return 0;
}

static int assign_tasks(struct build *build)
{
	struct grouping *grouping = build->grouping;
	uint32_t classes[AXIS_PARTS] = { 0 }, last[AXIS_PARTS] = { 0 };

	for (uint32_t task = 0; task < grouping->snapshot->task_count; task++) {
		uint32_t *group = &build->group_of_task[task];

		for (size_t i = 0; i < AXIS_PARTS && build->axis->parts[i]; i++)
			classes[i] = counted_class(build->counted, build->axis, i, task);
		/* Threads of a process often have the same classes. */
		if (task > 0 && memcmp(classes, last, sizeof(last)) == 0)
			*group = group[-1];
		else if (find_group(build, classes, group) < 0)
			return -ENOMEM;
		memcpy(last, classes, sizeof(last));
		grouping->groups[*group].tasks++;
	}
	return 0;
}

/* Arranges the tasks group by group; they stay ascending inside each. */
static void place_tasks(struct build *build)
{
	struct grouping *grouping = build->grouping;
	const struct snapshot *snapshot = grouping->snapshot;
	uint32_t next = 0;

	for (size_t i = 0; i < grouping->group_count; i++) {
		grouping->groups[i].first = next;
		next += grouping->groups[i].tasks;
		grouping->groups[i].tasks = 0;
	}
	for (uint32_t task = 0; task < snapshot->task_count; task++) {
		struct group *group = &grouping->groups[build->group_of_task[task]];
		uint32_t *row = &grouping->rows[group->first + group->tasks];

		*row = task;
		/* Tasks are in order of their processes, so a change of process means a new one. */
		if (group->tasks == 0 ||
		    snapshot->tasks[row[-1]].process != snapshot->tasks[task].process)
			group->processes++;
		group->tasks++;
	}
}

static int build_groups(struct build *build)
{
	struct grouping *grouping = build->grouping;
	const struct snapshot *snapshot = grouping->snapshot;

	build->has_parts = build->axis->parts[1];
	if (build->has_parts && !build->keys) {
		build->keys = build->own_keys = dictionary_new();
		if (!build->keys)
			return -ENOMEM;
	}
	grouping->rows = malloc(snapshot->task_count * sizeof(*grouping->rows) + 1);
	build->group_of_task = malloc(snapshot->task_count * sizeof(*build->group_of_task) + 1);
	if (!grouping->rows || !build->group_of_task || assign_tasks(build) < 0)
		return -ENOMEM;
	place_tasks(build);
	return 0;
}

int grouping_new(const struct snapshot *snapshot, enum group_axis axis, const struct census *census,
		 struct dictionary *keys, struct grouping **ret)
{
	CLEANUP(build_clear)
	struct build build = { .axis = &axes[axis], .census = census, .keys = keys };
	CLEANUP(grouping_free_pointer) struct grouping *grouping = calloc(1, sizeof(*grouping));

	build.counted = census_counted(census, snapshot);
	if (!build.counted)
		return -EINVAL;
	if (!grouping)
		return -ENOMEM;
	grouping->snapshot = snapshot;
	grouping->axis = axis;
	grouping->cpu_counts.arena = &grouping->arena;
	build.grouping = grouping;
	if (build_groups(&build) < 0)
		return -ENOMEM;
	*ret = TAKE_PTR(grouping);
	return 0;
}

/* A group's sort key.  The double decides; for large numbers it keeps only the leading digits. */
struct rank {
	double value;
	uint64_t exact;
	uint32_t place; /* before */
	bool known;
};

/* What an order depends on besides the ranks. */
struct ranking {
	const struct group_sort *sort;
	const struct group *groups;
};

static int compare_ranks(const void *first, const void *second, void *context)
{
	const struct rank *a = first, *b = second;
	const struct ranking *ranking = context;
	const struct group_sort *sort = ranking->sort;
	int order = 0;

	if (a->known != b->known)
		return a->known ? -1 : 1;
	if (a->value != b->value)
		order = a->value < b->value ? -1 : 1;
	else if (a->exact != b->exact)
		order = a->exact < b->exact ? -1 : 1;
	if (order)
		return sort->ascending ? order : -order;
	if (sort->keeps_order && sort->by != ORDER_KEY)
		return a->place < b->place ? -1 : 1;
	order = strcmp(ranking->groups[a->place].key, ranking->groups[b->place].key);
	return sort->by == ORDER_KEY && !sort->ascending ? -order : order;
}

static int32_t number_of(const struct grouping *grouping, const struct group *group)
{
	const struct snapshot *snapshot = grouping->snapshot;
	const struct task *task = &snapshot->tasks[grouping->rows[group->first]];

	return grouping->axis == AXIS_THREAD ? task->tid : snapshot->processes[task->process].tgid;
}

static void rank_group(struct grouping *grouping, const struct group_sort *sort, struct rank *rank)
{
	const struct group *group = &grouping->groups[rank->place];
	struct fold fold;

	rank->known = true;
	switch (sort->by) {
	case ORDER_METRIC:
		group_fold(grouping, group, sort->metric, &fold);
		rank->known = fold_number(&fold, &rank->value);
		rank->exact = fold.shape == SHAPE_NUMBER ? fold.number : 0;
		break;
	case ORDER_TASKS:
		rank->value = group->tasks;
		break;
	case ORDER_PID:
		rank->value = number_of(grouping, group);
		break;
	default:
		break;
	}
}

/* In a heap no rank comes before one below it, so that the root is the last in order. */
static void sift_down(struct rank *heap, size_t count, struct ranking *ranking)
{
	size_t at = 0, below;

	while ((below = 2 * at + 1) < count) {
		struct rank moved = heap[at];

		if (below + 1 < count && compare_ranks(&heap[below + 1], &heap[below], ranking) > 0)
			below++;
		if (compare_ranks(&heap[below], &moved, ranking) <= 0)
			return;
		heap[at] = heap[below];
		heap[below] = moved;
		at = below;
	}
}

/*
 * Brings the first ones to the front, in order: one that comes before the last of those takes its place.  Of
 * many rows, a screen shows few.
 */
static void sort_first(struct rank *ranks, size_t count, size_t first, struct ranking *ranking)
{
	if (first == count) {
		qsort_r(ranks, count, sizeof(*ranks), compare_ranks, ranking);
		return;
	}
	/* The last is at the root, and any order that descends is a heap. */
	qsort_r(ranks, first, sizeof(*ranks), compare_ranks, ranking);
	for (size_t i = 0; i < first / 2; i++) {
		struct rank rank = ranks[i];

		ranks[i] = ranks[first - 1 - i];
		ranks[first - 1 - i] = rank;
	}
	for (size_t i = first; i < count; i++)
		if (compare_ranks(&ranks[i], &ranks[0], ranking) < 0) {
			struct rank rank = ranks[i];

			ranks[i] = ranks[0];
			ranks[0] = rank;
			sift_down(ranks, first, ranking);
		}
	qsort_r(ranks, first, sizeof(*ranks), compare_ranks, ranking);
}

int grouping_sort(struct grouping *grouping, const struct group_sort *sort)
{
	size_t count = grouping->group_count;
	size_t first = sort->first && sort->first < count ? sort->first : count;
	CLEANUP(free_pointer) struct rank *ranks = calloc(count + 1, sizeof(*ranks));
	CLEANUP(free_pointer) struct group *sorted = calloc(count + 1, sizeof(*sorted));
	struct ranking ranking = { sort, grouping->groups };

	if (!ranks || !sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		ranks[i].place = i;
		rank_group(grouping, sort, &ranks[i]);
	}
	sort_first(ranks, count, first, &ranking);
	for (size_t i = 0; i < count; i++)
		sorted[i] = grouping->groups[ranks[i].place];
	free(grouping->groups);
	grouping->groups = TAKE_PTR(sorted);
	return 0;
}

/* There are few lists and many tasks, so each list is parsed once. */
static unsigned cpus_of(struct cpu_counts *counts, const struct snapshot *snapshot, uint64_t list)
{
	uint32_t lists = dictionary_count(snapshot->strings);
	const char *text = snapshot_text(snapshot, (uint32_t)list);

	if (list >= lists ||
	    (!counts->of_list && arena_array(counts->arena, counts->of_list, lists) < 0))
		return cpulist_count(text);
	if (counts->of_list[list] == 0)
		counts->of_list[list] = cpulist_count(text) + 1;
	return counts->of_list[list] - 1;
}

void fold_add_cell(struct fold *fold, const struct snapshot *snapshot, const struct column *column,
		   uint32_t row, struct cpu_counts *counts)
{
	uint64_t value = 0;
	enum cell_state state = column_get(column, row, &value);

	if (state == CELL_ABSENT)
		fold_skip(fold);
	else if (state == CELL_UNLIMITED)
		fold_add_unlimited(fold);
	else if (state == CELL_TEXT)
		fold_add_text(fold, snapshot_text(snapshot, (uint32_t)value));
	else if (fold->metric->fold == FOLD_CPUSET)
		fold_add_cpus(fold, snapshot_text(snapshot, (uint32_t)value),
			      cpus_of(counts, snapshot, value));
	else
		fold_add(fold, value);
}

static void fold_stored(struct grouping *grouping, const struct group *group, enum metric_id id,
			struct fold *ret)
{
	const struct snapshot *snapshot = grouping->snapshot;
	const struct column *column = &snapshot->columns[id];
	const uint32_t *rows = &grouping->rows[group->first];
	struct cpu_counts *counts = &grouping->cpu_counts;

	fold_init(ret, &metrics[id]);
	for (uint32_t i = 0; i < group->tasks; i++) {
		uint32_t process = snapshot->tasks[rows[i]].process;

		if (metrics[id].scope == METRIC_OF_THREAD)
			fold_add_cell(ret, snapshot, column, rows[i], counts);
		else if (snapshot->processes[process].first_task == rows[i])
			fold_add_cell(ret, snapshot, column, process, counts);
	}
	fold_finish(ret);
}

void group_fold(struct grouping *grouping, const struct group *group, enum metric_id id,
		struct fold *ret)
{
	const struct formula *formula = &metrics[id].formula;
	struct fold inputs[FORMULA_INPUTS];

	if (!metric_is_derived(id)) {
		fold_stored(grouping, group, id, ret);
		return;
	}
	for (unsigned i = 0; i < formula->count; i++) {
		fold_stored(grouping, group, formula->inputs[i], &inputs[i]);
		if (input_is_spared(grouping->snapshot, formula, i)) {
			inputs[i] = inputs[0];
			inputs[i].number = 0;
		}
	}
	fold_formula(ret, &metrics[id], inputs);
}

static uint64_t count_living(const struct grouping *grouping, const struct group *group)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < group->tasks; i++)
		count += grouping->snapshot->tasks[grouping->rows[group->first + i]].tid != 0;
	return count;
}

uint64_t group_count(struct grouping *grouping, const struct group *group, enum metric_id id)
{
	struct fold fold;

	/* In an interval, a row without a tid stands for threads that ended. */
	if (grouping->snapshot->interval_ns && id == METRIC_thread_count)
		return count_living(grouping, group);
	if (!snapshot_is_run(grouping->snapshot))
		return id == METRIC_thread_count ? group->tasks : group->processes;
	group_fold(grouping, group, id, &fold);
	return fold.number;
}

uint64_t group_oldest(const struct grouping *grouping, const struct group *group)
{
	uint64_t oldest = UINT64_MAX;

	for (uint32_t i = 0; i < group->tasks; i++) {
		uint64_t start =
			grouping->snapshot->tasks[grouping->rows[group->first + i]].start_time_ns;

		if (start < oldest)
			oldest = start;
	}
	return oldest;
}
