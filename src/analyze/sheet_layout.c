/* SPDX-License-Identifier: MIT */
#include "analyze/sheet_layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cgroup_match.h"
#include "analyze/comparison.h"
#include "analyze/group.h"
#include "analyze/sheet_tree.h"
#include "base/cleanup.h"
#include "base/dictionary.h"
#include "base/text.h"

/* What the layout needs only while it is made. */
struct builder {
	struct sheet_layout *layout;
	const struct comparison *comparison;
	const struct compare_options *options;
	const struct compare_side *before, *after;
	struct census *census; /* NULL: all rows are the host's */
	struct text key;
};

/* The axis whose groups the sheet's rows belong to; AXIS_COUNT: the host's. */
static enum group_axis axis_of(enum sheet_id sheet)
{
	switch (sheet) {
	case SHEET_CGROUPS:
		return AXIS_CGROUP;
	case SHEET_PROCESSES:
		return AXIS_PCOMM;
	default:
		return AXIS_COUNT;
	}
}

uint32_t *sheet_layout_numbers(struct sheet_layout *layout, size_t count)
{
	uint32_t *numbers = arena_alloc(&layout->arena, (count + 1) * sizeof(*numbers));

	if (numbers)
		memset(numbers, 0xff, count * sizeof(*numbers));
	return numbers;
}

/* The number of a key's text; new keys have neither a group nor an alias. */
static int number_key(struct builder *builder, const char *text, size_t length, uint32_t *ret)
{
	struct sheet_layout *layout = builder->layout;

	if (dictionary_add(layout->keys, text, length, ret) < 0)
		return -ENOMEM;
	while (layout->numbered.count <= *ret)
		if (array_append(&layout->numbered,
				 ((struct sheet_key){ NO_ROW, NO_ROW, NO_ROW })) < 0)
			return -ENOMEM;
	return 0;
}

/* The key of a cgroup's path, or of a process's name. */
static int key_of_name(struct builder *builder, const char *name, uint32_t *ret)
{
	text_clear(&builder->key);
	if (census_append_key(builder->census, name, &builder->key) < 0 || builder->key.failed)
		return -ENOMEM;
	return number_key(builder, text_string(&builder->key), builder->key.length, ret);
}

/* The string of which the key of a row is made. */
static uint32_t name_of_row(const struct sheet_run *run, enum sheet_id sheet, uint32_t row)
{
	uint32_t key = run->sheet->keys[row];

	return sheet == SHEET_PROCESSES ? run->snapshot->processes[key].pcomm : key;
}

/* Keys by number of the name, worked out once for each: many tasks share a cgroup. */
struct name_keys {
	uint32_t *keys;
	bool is_before;
};

static int key_of_string(struct builder *builder, const struct sheet_run *run,
			 struct name_keys *names, uint32_t string, uint32_t *ret)
{
	uint32_t *key = &names->keys[string];
	int status;

	if (*key == NO_ROW) {
		status = key_of_name(builder, snapshot_text(run->snapshot, string), key);
		if (status < 0)
			return status;
		if (names->is_before && builder->layout->numbered.data[*key].became != NO_ROW)
			*key = builder->layout->numbered.data[*key].became;
	}
	*ret = *key;
	return 0;
}

static int key_rows(struct builder *builder, struct sheet_run *run, struct name_keys *names)
{
	int status = 0;

	for (uint32_t row = 0; status == 0 && row < run->sheet->row_count; row++)
		if (builder->census)
			status = key_of_string(builder, run, names,
					       name_of_row(run, builder->layout->sheet, row),
					       &run->key_of_row[row]);
		else
			status = number_key(builder, HOST_KEY, strlen(HOST_KEY),
					    &run->key_of_row[row]);
	return status;
}

/* Groups that have tasks or processes, whether or not the sheet has anything to say of them. */
static int key_members(struct builder *builder, struct sheet_run *run, struct name_keys *names)
{
	const struct snapshot *snapshot = run->snapshot;
	enum sheet_id sheet = builder->layout->sheet;
	uint32_t key;
	int status = 0;

	for (size_t i = 0; sheet == SHEET_CGROUPS && status == 0 && i < snapshot->task_count; i++)
		status = key_of_string(builder, run, names, snapshot->tasks[i].cgroup, &key);
	for (size_t i = 0; sheet == SHEET_PROCESSES && status == 0 && i < snapshot->process_count;
	     i++)
		status = key_of_string(builder, run, names, snapshot->processes[i].pcomm, &key);
	return status;
}

static int key_run(struct builder *builder, struct sheet_run *run, bool is_before,
		   struct name_keys *ret)
{
	int status;

	ret->is_before = is_before;
	ret->keys = sheet_layout_numbers(builder->layout, dictionary_count(run->snapshot->strings));
	run->key_of_row = sheet_layout_numbers(builder->layout, run->sheet->row_count);
	if (!ret->keys || !run->key_of_row)
		return -ENOMEM;
	status = key_rows(builder, run, ret);
	return status < 0 || !builder->census ? status : key_members(builder, run, ret);
}

static void count_processes(struct sheet_run *run, const struct name_keys *names)
{
	for (size_t i = 0; i < run->snapshot->process_count; i++)
		run->population[names->keys[run->snapshot->processes[i].pcomm]]++;
}

/* What the run has under each key, now that all keys are known. */
static int count_run(struct builder *builder, struct sheet_run *run, const struct name_keys *names)
{
	struct sheet_layout *layout = builder->layout;
	size_t strings = dictionary_count(run->snapshot->strings);

	run->population =
		arena_alloc(&layout->arena, (layout->key_count + 1) * sizeof(*run->population));
	run->has_key = arena_alloc(&layout->arena, layout->key_count + 1);
	if (!run->population || !run->has_key)
		return -ENOMEM;
	for (size_t row = 0; row < run->sheet->row_count; row++) {
		run->has_key[run->key_of_row[row]] = 1;
		if (layout->sheet != SHEET_PROCESSES)
			run->population[run->key_of_row[row]]++;
	}
	for (size_t i = 0; builder->census && i < strings; i++)
		if (names->keys[i] != NO_ROW)
			run->has_key[names->keys[i]] = 1;
	if (layout->sheet == SHEET_PROCESSES)
		count_processes(run, names);
	return 0;
}

static int key_all(struct builder *builder)
{
	struct sheet_layout *layout = builder->layout;
	struct name_keys *names =
		arena_alloc(&layout->arena, (layout->run_count + 1) * sizeof(*names));
	int status = names ? 0 : -ENOMEM;

	for (size_t i = 0; status == 0 && i < layout->run_count; i++)
		status = key_run(builder, &layout->runs[i], i < layout->before_count, &names[i]);
	layout->key_count = dictionary_count(layout->keys);
	for (size_t i = 0; status == 0 && i < layout->run_count; i++)
		status = count_run(builder, &layout->runs[i], &names[i]);
	return status;
}

/* Makes a key of A another name of one of B. */
static int add_alias(struct builder *builder, const char *before, uint32_t after)
{
	uint32_t key;

	if (number_key(builder, before, strlen(before), &key) < 0)
		return -ENOMEM;
	builder->layout->numbered.data[key].became = after;
	builder->layout->numbered.data[after].was = key;
	return 0;
}

/* Groups that are there already, with the names that they had before. */
static int know_groups(struct builder *builder)
{
	for (size_t i = 0; i < builder->comparison->groups.count; i++) {
		const struct compared_group *group = &builder->comparison->groups.data[i];
		uint32_t key;

		if (number_key(builder, group->key, strlen(group->key), &key) < 0)
			return -ENOMEM;
		builder->layout->numbered.data[key].group = (uint32_t)i;
		if (group->renamed_from && add_alias(builder, group->renamed_from, key) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* On other axes nobody has looked yet which cgroups were renamed. */
static int know_renamed(struct builder *builder)
{
	CLEANUP(cgroup_matches_free_pointer) struct cgroup_matches *matches = NULL;
	const struct cgroup_match *match;
	size_t count;
	int status = cgroup_matches_new(builder->before, builder->after,
					&builder->options->grouping, &matches);

	if (status < 0)
		return status;
	match = cgroup_matches_all(matches, &count);
	for (size_t i = 0; status == 0 && i < count; i++) {
		uint32_t key;

		status = number_key(builder, match[i].after, strlen(match[i].after), &key);
		if (status == 0)
			status = add_alias(builder, match[i].before, key);
	}
	return status;
}

static int count_names(struct builder *builder, enum group_axis axis)
{
	int status = census_new(axis, &builder->options->grouping, &builder->census);

	for (size_t i = 0; status == 0 && i < builder->layout->run_count; i++)
		status = census_add(builder->census, builder->layout->runs[i].snapshot);
	return status;
}

static void add_runs(struct sheet_layout *layout, const struct compare_side *side)
{
	for (size_t i = 0; i < side->count; i++) {
		struct sheet_run *run = &layout->runs[layout->run_count++];

		run->snapshot = side->snapshots[i];
		run->sheet = &side->snapshots[i]->sheets[layout->sheet];
		run->is_unread = run->sheet->row_count == 0;
		run->is_filtered = run->snapshot->facts[FACT_filter].present;
	}
}

static int build(struct builder *builder)
{
	struct sheet_layout *layout = builder->layout;
	enum group_axis axis = axis_of(layout->sheet);
	size_t count = builder->before->count + builder->after->count;
	int status = 0;

	layout->keys = dictionary_new();
	layout->paths = dictionary_new();
	layout->runs = arena_alloc(&layout->arena, (count + 1) * sizeof(*layout->runs));
	if (!layout->keys || !layout->paths || !layout->runs)
		return -ENOMEM;
	add_runs(layout, builder->before);
	layout->before_count = layout->run_count;
	add_runs(layout, builder->after);
	if (axis != AXIS_COUNT)
		status = count_names(builder, axis);
	if (status == 0 && axis == builder->options->axis)
		status = know_groups(builder);
	else if (status == 0 && axis == AXIS_CGROUP)
		status = know_renamed(builder);
	if (status == 0)
		status = key_all(builder);
	return status < 0 ? status : sheet_tree_place(layout);
}

int sheet_layout_init(struct sheet_layout *layout, enum sheet_id sheet,
		      const struct compare_side *before, const struct compare_side *after,
		      const struct compare_options *options, const struct comparison *comparison)
{
	struct builder builder = {
		.layout = layout,
		.comparison = comparison,
		.options = options,
		.before = before,
		.after = after,
	};
	int status;

	*layout = (struct sheet_layout){ .sheet = sheet };
	status = build(&builder);
	census_free(builder.census);
	text_free(&builder.key);
	if (status < 0)
		sheet_layout_clear(layout);
	return status;
}

void sheet_layout_clear(struct sheet_layout *layout)
{
	dictionary_free(layout->keys);
	dictionary_free(layout->paths);
	array_free(&layout->numbered);
	arena_clear(&layout->arena);
	*layout = (struct sheet_layout){ 0 };
}

static int add_group(struct sheet_layout *layout, uint32_t key, struct comparison *comparison)
{
	uint32_t was = layout->numbered.data[key].was;
	const char *text = dictionary_text(layout->keys, key);
	struct compared_group group = { 0 };

	group.key = arena_copy(&comparison->arena, text, strlen(text));
	if (!group.key)
		return -ENOMEM;
	if (was != NO_ROW) {
		text = dictionary_text(layout->keys, was);
		group.renamed_from = arena_copy(&comparison->arena, text, strlen(text));
		if (!group.renamed_from)
			return -ENOMEM;
	}
	return array_append(&comparison->groups, group);
}

int sheet_layout_group(struct sheet_layout *layout, uint32_t key, struct comparison *comparison,
		       uint32_t *ret)
{
	uint32_t *group = &layout->numbered.data[key].group;

	if (*group == NO_ROW) {
		if (add_group(layout, key, comparison) < 0)
			return -ENOMEM;
		*group = (uint32_t)comparison->groups.count - 1;
	}
	*ret = *group;
	return 0;
}
