/* SPDX-License-Identifier: MIT */
#include "analyze/sheet/sheet_layout.h"

#include <errno.h>
#include <string.h>

#include "analyze/cgroup/cgroup_match.h"
#include "analyze/compare/comparison.h"
#include "analyze/group/group.h"
#include "analyze/match/census.h"
#include "base/collection/dictionary.h"
#include "base/text.h"

/* Needed only while the layout is made. */
struct builder {
	struct sheet_layout *layout;
	const struct comparison *comparison;
	const struct compare_options *options;
	const struct compare_side *sides;
	struct census *census; /* NULL: all rows are the host's */
	uint32_t **key_of;     /* by run and number of a string: its key, or NO_ROW */
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
	uint32_t *numbers;

	if (arena_array(&layout->base.arena, numbers, count) == 0)
		memset(numbers, 0xff, count * sizeof(*numbers));
	return numbers;
}

/* The number of a key's text; a new key has neither a group nor an alias. */
static int number_key(struct builder *builder, const char *text, size_t length, uint32_t *ret)
{
	struct sheet_layout *layout = builder->layout;

	if (dictionary_add(layout->keys, text, length, ret) < 0)
		return -ENOMEM;
	return array_extend(&layout->numbered, *ret + 1,
			    ((struct sheet_key){ NO_ROW, NO_ROW, NO_ROW }));
}

/*
 * The key of a cgroup's path, or of a process's name, which is a string of the
 * run.  It is made once for each string: many tasks share a cgroup.
 */
static int key_of_string(struct builder *builder, size_t number, uint32_t string, uint32_t *ret)
{
	struct sheet_layout *layout = builder->layout;
	const char *name = snapshot_text(layout->base.runs[number].snapshot, string);
	uint32_t *key = &builder->key_of[number][string];

	if (*key == NO_ROW) {
		text_clear(&builder->key);
		if (census_append_key(builder->census, name, &builder->key) < 0 ||
		    number_key(builder, text_string(&builder->key), builder->key.length, key) < 0)
			return -ENOMEM;
		if (number < layout->base.before_count &&
		    layout->numbered.data[*key].became != NO_ROW)
			*key = layout->numbered.data[*key].became;
	}
	*ret = *key;
	return 0;
}

static int key_row(struct builder *builder, size_t number, uint32_t row, uint32_t *ret)
{
	const struct compare_run *run = &builder->layout->base.runs[number];
	uint32_t key = run->sheet->keys[row];

	if (!builder->census)
		return number_key(builder, HOST_KEY, strlen(HOST_KEY), ret);
	if (builder->layout->sheet == SHEET_PROCESSES)
		key = run->snapshot->processes[key].pcomm;
	return key_of_string(builder, number, key, ret);
}

/* Adds keys for groups that have tasks or processes, even if the sheet has no row for them. */
static int key_members(struct builder *builder, size_t number)
{
	const struct snapshot *snapshot = builder->layout->base.runs[number].snapshot;
	bool by_task = builder->layout->sheet == SHEET_CGROUPS;
	size_t count = by_task ? snapshot->task_count : snapshot->process_count;
	uint32_t key;
	int status = 0;

	for (size_t i = 0; status == 0 && i < count; i++)
		status = key_of_string(
			builder, number,
			by_task ? snapshot->tasks[i].cgroup : snapshot->processes[i].pcomm, &key);
	return status;
}

static int key_run(struct builder *builder, size_t number)
{
	struct sheet_layout *layout = builder->layout;
	const struct compare_run *run = &layout->base.runs[number];
	struct member_rows *rows = &layout->base.runs[number].rows[METRIC_OF_ROW];
	int status = 0;

	builder->key_of[number] =
		sheet_layout_numbers(layout, dictionary_count(run->snapshot->strings));
	rows->count = run->sheet->row_count;
	rows->group_of = sheet_layout_numbers(layout, rows->count);
	if (!builder->key_of[number] || !rows->group_of)
		return -ENOMEM;
	for (uint32_t row = 0; status == 0 && row < rows->count; row++)
		status = key_row(builder, number, row, &rows->group_of[row]);
	return status < 0 || !builder->census ? status : key_members(builder, number);
}

/* A process belongs to its group whether or not its memory was read. */
static void count_processes(struct compare_layout *base, uint32_t *const *key_of)
{
	for (int side = 0; side < SIDES; side++)
		memset(base->population[side][METRIC_OF_ROW], 0,
		       base->group_count * sizeof(uint32_t));
	for (size_t run = 0; run < base->run_count; run++) {
		const struct snapshot *snapshot = base->runs[run].snapshot;
		uint32_t *population = base->population[run >= base->before_count][METRIC_OF_ROW];

		for (size_t i = 0; i < snapshot->process_count; i++)
			population[key_of[run][snapshot->processes[i].pcomm]]++;
	}
}

/* Marks the groups that the run has a row or a member of. */
static void mark_groups(struct compare_layout *base, size_t number, const uint32_t *key_of)
{
	const struct compare_run *run = &base->runs[number];
	uint8_t *has = base->has[number >= base->before_count];
	size_t strings = dictionary_count(run->snapshot->strings);

	for (size_t row = 0; row < run->rows[METRIC_OF_ROW].count; row++)
		has[run->rows[METRIC_OF_ROW].group_of[row]] = 1;
	for (size_t i = 0; i < strings; i++)
		if (key_of[i] != NO_ROW)
			has[key_of[i]] = 1;
}

/* Whether this side had a filter that the other did not: what it lacks may have existed. */
static bool is_limited(const struct compare_layout *base, int side)
{
	const struct compare_run *of = &base->runs[compare_first(base, side)];
	const struct compare_run *other = &base->runs[compare_first(base, !side)];

	if (!of->is_filtered)
		return false;
	return !other->is_filtered || strcmp(of->snapshot->facts[FACT_filter].text,
					     other->snapshot->facts[FACT_filter].text) != 0;
}

/* A side where nothing, or not everything, was read may have groups that it does not list. */
static int find_groups(struct compare_layout *base, int side)
{
	bool may_have_all = is_limited(base, side);

	for (size_t run = compare_first(base, side); run < compare_end(base, side); run++)
		may_have_all |= base->runs[run].sheet->row_count == 0;
	if (arena_array(&base->arena, base->has[side], base->group_count) < 0)
		return -ENOMEM;
	if (may_have_all)
		memset(base->has[side], 1, base->group_count);
	return 0;
}

static int key_all(struct builder *builder)
{
	struct sheet_layout *layout = builder->layout;
	struct compare_layout *base = &layout->base;
	int status = arena_array(&base->arena, builder->key_of, base->run_count);

	for (size_t i = 0; status == 0 && i < base->run_count; i++)
		status = key_run(builder, i);
	base->group_count = base->first_exited = dictionary_count(layout->keys);
	for (int side = 0; status == 0 && side < SIDES; side++)
		status = find_groups(base, side);
	/* The host's counters count since boot; the age of a cgroup is not known. */
	if (status == 0)
		status = compare_layout_count(base, layout->sheet == SHEET_HOST);
	for (size_t i = 0; status == 0 && i < base->run_count; i++)
		mark_groups(base, i, builder->key_of[i]);
	if (status == 0 && layout->sheet == SHEET_PROCESSES)
		count_processes(base, builder->key_of);
	return status;
}

/* Makes a key of A an alias of one of B. */
static int add_alias(struct builder *builder, const char *before, uint32_t after)
{
	uint32_t key;

	if (number_key(builder, before, strlen(before), &key) < 0)
		return -ENOMEM;
	builder->layout->numbered.data[key].became = after;
	builder->layout->numbered.data[after].was = key;
	return 0;
}

/* Enters the groups that already exist, with their old names. */
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

/* On other axes the renamed cgroups have not been searched yet. */
static int know_renamed(struct builder *builder)
{
	struct cgroup_types types;
	int status = cgroup_match(builder->sides, &builder->options->grouping, &types);

	for (size_t i = 0; status == 0 && i < types.count; i++) {
		const struct typed_cgroup *cgroup = &types.cgroups[i];
		uint32_t key;

		if (!cgroup->is_after || !cgroup->match)
			continue;
		status = number_key(builder, cgroup->key, strlen(cgroup->key), &key);
		if (status == 0)
			status = add_alias(builder, cgroup->match->key, key);
	}
	arena_clear(&types.arena);
	return status;
}

static int build(struct builder *builder)
{
	struct sheet_layout *layout = builder->layout;
	struct compare_layout *base = &layout->base;
	enum group_axis axis = axis_of(layout->sheet);
	int status = compare_layout_begin(base, builder->sides, builder->comparison);

	layout->keys = dictionary_new();
	if (status < 0 || !layout->keys)
		return -ENOMEM;
	for (size_t i = 0; i < base->run_count; i++)
		base->runs[i].sheet = &base->runs[i].snapshot->sheets[layout->sheet];
	if (axis != AXIS_COUNT)
		status = census_of_sides(axis, &builder->options->grouping, builder->sides,
					 &builder->census);
	if (status == 0 && axis == builder->options->axis)
		status = know_groups(builder);
	else if (status == 0 && axis == AXIS_CGROUP)
		status = know_renamed(builder);
	if (status == 0)
		status = key_all(builder);
	return status < 0 ? status : sheet_tree_place(layout);
}

int sheet_layout_init(struct sheet_layout *layout, enum sheet_id sheet,
		      const struct compare_side *sides, const struct compare_options *options,
		      const struct comparison *comparison)
{
	struct builder builder = {
		.layout = layout,
		.comparison = comparison,
		.options = options,
		.sides = sides,
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
	array_free(&layout->numbered);
	compare_layout_clear(&layout->base);
	*layout = (struct sheet_layout){ 0 };
}

int sheet_layout_group(struct sheet_layout *layout, uint32_t key, struct comparison *comparison,
		       uint32_t *ret)
{
	struct sheet_key *numbered = &layout->numbered.data[key];
	const char *text = dictionary_text(layout->keys, key);
	const char *was = NULL;

	if (numbered->was != NO_ROW)
		was = dictionary_text(layout->keys, numbered->was);
	if (numbered->group == NO_ROW) {
		if (comparison_add_group(comparison, text, strlen(text), was) < 0)
			return -ENOMEM;
		numbered->group = (uint32_t)comparison->groups.count - 1;
	}
	*ret = numbered->group;
	return 0;
}

/* What the snapshot says of a source; it lists all that its version of taskscope had. */
static const char *source_reason(const struct snapshot *snapshot, const char *name)
{
	for (size_t i = 0; i < snapshot->source_count; i++)
		if (strcmp(snapshot->sources[i].name, name) == 0)
			return snapshot->sources[i].reason;
	return snapshot_is_run(snapshot) ?
		       NULL :
		       "the file does not have it: it is of an older version or another tool";
}

const char *sheet_layout_reason(const struct sheet_layout *layout, const struct metric *metric,
				int side, const char *source)
{
	const struct compare_layout *base = &layout->base;
	const char *reason = NULL;

	for (size_t i = compare_first(base, side); !reason && i < compare_end(base, side); i++) {
		const struct compare_run *run = &base->runs[i];
		const struct column *column = compare_column(run, metric);

		reason = column ? column->absent : NULL;
		if (!reason)
			reason = source_reason(run->snapshot, source);
		if (!reason && run->is_filtered)
			reason = "the capture was limited to other tasks";
		if (!reason && snapshot_is_run(run->snapshot))
			reason = "the file of the run does not have it";
	}
	return reason;
}
