#include "analyze/group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/axis.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/dictionary.h"
#include "base/text.h"
#include "model/snapshot.h"

#define NOT_SEEN UINT32_MAX

/* What stands between the parts of a key. */
static const char joints[AXIS_PARTS - 1] = { ' ', '/' };

/* What grouping needs only while it is made. */
struct build {
	struct grouping *grouping;
	const struct axis *axis;
	struct census *census;
	uint32_t *key_of_identity[AXIS_PARTS]; /* numbers in grouping->keys */
	uint32_t *group_of_key;
	uint32_t *group_of_task;
	size_t key_capacity;
	size_t group_capacity;
	struct text name, key;
};

static void build_clear(struct build *build)
{
	for (size_t i = 0; i < AXIS_PARTS; i++)
		free(build->key_of_identity[i]);
	free(build->group_of_key);
	free(build->group_of_task);
	text_free(&build->name);
	text_free(&build->key);
}

void grouping_free(struct grouping *grouping)
{
	if (!grouping)
		return;
	free(grouping->groups);
	free(grouping->rows);
	free(grouping->cpu_counts);
	dictionary_free(grouping->keys);
	free(grouping);
}

void grouping_free_pointer(struct grouping **grouping)
{
	grouping_free(*grouping);
}

static int add_group(struct build *build, uint32_t key, uint32_t first_part)
{
	struct grouping *grouping = build->grouping;
	struct group group = { .key = dictionary_text(grouping->keys, key) };

	if (array_reserve_bytes((void **)&grouping->groups, &build->group_capacity,
				grouping->group_count + 1, sizeof(*grouping->groups)) < 0)
		return -ENOMEM;
	if (build->axis->parts[0]->rule == NAME_PATH)
		group.cgroup = dictionary_text(grouping->keys, first_part);
	grouping->groups[grouping->group_count++] = group;
	return 0;
}

/* The group of a key, added when it is new.  Key numbers are dense, so an array maps them. */
static int group_of_key(struct build *build, uint32_t key, uint32_t first_part, uint32_t *ret)
{
	size_t old = build->key_capacity;

	if (array_reserve_bytes((void **)&build->group_of_key, &build->key_capacity, key + 1,
				sizeof(*build->group_of_key)) < 0)
		return -ENOMEM;
	if (build->key_capacity > old)
		memset(build->group_of_key + old, 0xff,
		       (build->key_capacity - old) * sizeof(*build->group_of_key));
	if (build->group_of_key[key] == NOT_SEEN) {
		if (add_group(build, key, first_part) < 0)
			return -ENOMEM;
		build->group_of_key[key] = (uint32_t)build->grouping->group_count - 1;
	}
	*ret = build->group_of_key[key];
	return 0;
}

/* The key of a task's name in one part. */
static int part_of_task(struct build *build, size_t part, uint32_t task, uint32_t *ret)
{
	const struct snapshot *snapshot = build->grouping->snapshot;
	const struct axis_part *row = build->axis->parts[part];
	uint32_t *key = &build->key_of_identity[part][row->identity(snapshot, task)];

	if (*key == NOT_SEEN) {
		text_clear(&build->name);
		text_clear(&build->key);
		row->append_name(snapshot, task, &build->name);
		if (build->name.failed ||
		    census_append_part(build->census, part, text_string(&build->name),
				       &build->key) < 0 ||
		    dictionary_add(build->grouping->keys, text_string(&build->key),
				   build->key.length, key) < 0)
			return -ENOMEM;
	}
	*ret = *key;
	return 0;
}

/* The whole key, of its parts. */
static int join_parts(struct build *build, const uint32_t *parts, uint32_t *ret)
{
	struct dictionary *keys = build->grouping->keys;

	if (!build->axis->parts[1]) {
		*ret = parts[0];
		return 0;
	}
	text_clear(&build->key);
	for (size_t i = 0; i < AXIS_PARTS && build->axis->parts[i]; i++) {
		if (i > 0)
			text_append(&build->key, &joints[i - 1], 1);
		text_append_string(&build->key, dictionary_text(keys, parts[i]));
	}
	if (build->key.failed)
		return -ENOMEM;
	return dictionary_add(keys, text_string(&build->key), build->key.length, ret);
}

static int assign_tasks(struct build *build)
{
	struct grouping *grouping = build->grouping;

	for (uint32_t task = 0; task < grouping->snapshot->task_count; task++) {
		uint32_t *group = &build->group_of_task[task];
		uint32_t parts[AXIS_PARTS], key;

		for (size_t i = 0; i < AXIS_PARTS && build->axis->parts[i]; i++)
			if (part_of_task(build, i, task, &parts[i]) < 0)
				return -ENOMEM;
		if (join_parts(build, parts, &key) < 0 ||
		    group_of_key(build, key, parts[0], group) < 0)
			return -ENOMEM;
		grouping->groups[*group].tasks++;
	}
	return 0;
}

/* Lays the tasks out group by group; they stay ascending inside each. */
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
		/* Tasks are in order of their processes, so a new process is one that differs. */
		if (group->tasks == 0 ||
		    snapshot->tasks[row[-1]].process != snapshot->tasks[task].process)
			group->processes++;
		group->tasks++;
	}
}

static int init_parts(struct build *build)
{
	for (size_t i = 0; i < AXIS_PARTS && build->axis->parts[i]; i++) {
		size_t identities = build->axis->parts[i]->identities(build->grouping->snapshot);
		size_t size = identities * sizeof(*build->key_of_identity[i]);

		build->key_of_identity[i] = malloc(size + 1);
		if (!build->key_of_identity[i])
			return -ENOMEM;
		memset(build->key_of_identity[i], 0xff, size);
	}
	return 0;
}

static int build_groups(struct build *build)
{
	struct grouping *grouping = build->grouping;
	const struct snapshot *snapshot = grouping->snapshot;

	grouping->keys = dictionary_new();
	grouping->rows = malloc(snapshot->task_count * sizeof(*grouping->rows) + 1);
	build->group_of_task = malloc(snapshot->task_count * sizeof(*build->group_of_task) + 1);
	if (!grouping->keys || !grouping->rows || !build->group_of_task)
		return -ENOMEM;
	if (init_parts(build) < 0 || assign_tasks(build) < 0)
		return -ENOMEM;
	place_tasks(build);
	return 0;
}

static int group_with(const struct snapshot *snapshot, enum group_axis axis, struct census *census,
		      struct grouping **ret)
{
	struct build build = { .axis = &axes[axis], .census = census };
	struct grouping *grouping = calloc(1, sizeof(*grouping));
	int status;

	if (!grouping)
		return -ENOMEM;
	grouping->snapshot = snapshot;
	grouping->axis = axis;
	build.grouping = grouping;
	status = build_groups(&build);
	build_clear(&build);
	if (status < 0) {
		grouping_free(grouping);
		return status;
	}
	*ret = grouping;
	return 0;
}

int grouping_new(const struct snapshot *snapshot, enum group_axis axis, struct census *census,
		 struct grouping **ret)
{
	struct census *own = NULL;
	int status;

	if (census)
		return group_with(snapshot, axis, census, ret);
	status = census_new(axis, NULL, &own);
	if (status == 0)
		status = census_add(own, snapshot);
	if (status == 0)
		status = group_with(snapshot, axis, own, ret);
	census_free(own);
	return status;
}

/* A group's place in the order.  The double decides; of large numbers it keeps only the start. */
struct rank {
	double value;
	uint64_t exact;
	bool known;
	struct group group;
};

static int compare_ranks(const void *first, const void *second, void *context)
{
	const struct rank *a = first, *b = second;
	const struct group_sort *sort = context;
	int order = 0;

	if (a->known != b->known)
		return a->known ? -1 : 1;
	if (a->value != b->value)
		order = a->value < b->value ? -1 : 1;
	else if (a->exact != b->exact)
		order = a->exact < b->exact ? -1 : 1;
	if (order)
		return sort->ascending ? order : -order;
	order = strcmp(a->group.key, b->group.key);
	return sort->by == ORDER_KEY && !sort->ascending ? -order : order;
}

static void rank_group(struct grouping *grouping, const struct group_sort *sort, struct rank *rank)
{
	struct fold fold;

	rank->known = true;
	switch (sort->by) {
	case ORDER_METRIC:
		group_fold(grouping, &rank->group, sort->metric, &fold);
		rank->known = fold_number(&fold, &rank->value);
		rank->exact = fold.shape == SHAPE_NUMBER ? fold.number : 0;
		break;
	case ORDER_TASKS:
		rank->value = rank->group.tasks;
		break;
	case ORDER_KEY:
		break;
	}
}

int grouping_sort(struct grouping *grouping, const struct group_sort *sort)
{
	CLEANUP(free_pointer)
	struct rank *ranks = calloc(grouping->group_count + 1, sizeof(*ranks));

	if (!ranks)
		return -ENOMEM;
	for (size_t i = 0; i < grouping->group_count; i++) {
		ranks[i].group = grouping->groups[i];
		rank_group(grouping, sort, &ranks[i]);
	}
	qsort_r(ranks, grouping->group_count, sizeof(*ranks), compare_ranks, (void *)sort);
	for (size_t i = 0; i < grouping->group_count; i++)
		grouping->groups[i] = ranks[i].group;
	return 0;
}

/* CPUs that a list names.  Lists are few and tasks many, so each is read once. */
static unsigned cpus_of_list(struct grouping *grouping, uint64_t list)
{
	const struct snapshot *snapshot = grouping->snapshot;
	uint32_t lists = dictionary_count(snapshot->strings);

	if (!grouping->cpu_counts)
		grouping->cpu_counts = calloc(lists, sizeof(*grouping->cpu_counts));
	if (!grouping->cpu_counts || list >= lists)
		return cpulist_count(snapshot_text(snapshot, (uint32_t)list));
	if (grouping->cpu_counts[list] == 0)
		grouping->cpu_counts[list] =
			cpulist_count(snapshot_text(snapshot, (uint32_t)list)) + 1;
	return grouping->cpu_counts[list] - 1;
}

static void fold_cell(struct grouping *grouping, enum metric_id id, uint32_t row, struct fold *fold)
{
	uint64_t value;

	if (!snapshot_get(grouping->snapshot, id, row, &value))
		fold_skip(fold);
	else if (fold->metric->fold == FOLD_CPUSET)
		fold_add_cpus(fold, value, cpus_of_list(grouping, value));
	else
		fold_add(fold, value);
}

static void fold_stored(struct grouping *grouping, const struct group *group, enum metric_id id,
			struct fold *ret)
{
	const struct snapshot *snapshot = grouping->snapshot;
	const uint32_t *rows = &grouping->rows[group->first];

	fold_init(ret, &metrics[id]);
	for (uint32_t i = 0; i < group->tasks; i++) {
		uint32_t process = snapshot->tasks[rows[i]].process;

		if (metrics[id].scope == SCOPE_THREAD)
			fold_cell(grouping, id, rows[i], ret);
		else if (snapshot->processes[process].first_task == rows[i])
			fold_cell(grouping, id, process, ret);
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
	for (unsigned i = 0; i < formula->count; i++)
		fold_stored(grouping, group, formula->inputs[i], &inputs[i]);
	fold_formula(ret, &metrics[id], inputs);
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
