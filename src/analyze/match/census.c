/* SPDX-License-Identifier: MIT */
#include "analyze/match/census.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/comparison.h"
#include "analyze/group/glob.h"
#include "analyze/group/name_pattern.h"
#include "base/cleanup.h"
#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "base/collection/dictionary.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"

struct name_class {
	char *label;	  /* its pattern: at each place the widest kind that one of its names has */
	const char *name; /* the first; NULL where the label is the key in any case */
	bool has_several; /* different names; by ctprof's rule, threads of one snapshot too */
	uint32_t seen_in; /* number of the snapshot that a thread was last seen in, from 1 */
	uint32_t named_in, again; /* likewise of a unique name; how often it came again there */
};

/* The names of one part of the axis. */
struct name_count {
	const struct axis_part *part;
	bool single_stays;	  /* a name alone with its pattern */
	bool has_pattern;	  /* else the name is the key */
	unsigned rules;		  /* of the pattern */
	struct dictionary *names; /* of the classes: the pattern with {N} everywhere, or the name */
	ARRAY_OF(struct name_class) classes;
};

struct census {
	const struct axis *axis;
	bool is_ctprof;
	struct name_count counts[AXIS_PARTS];
	ARRAY_OF(struct counted) snapshots;
	struct arena arena;
	const char *const *flatten;
	ARRAY_OF(struct glob *) globs; /* of `flatten` */
	struct text name, pattern, class_name;
};

int grouping_options_check(const struct grouping_options *options, struct error *error)
{
	for (size_t i = 0; i < options->flatten_count; i++) {
		const char *glob = options->flatten[i];
		int status = glob_check(glob, error);

		if (status < 0)
			return status;
		if (glob[0] == '/' || strncmp(glob, "**", 2) == 0)
			continue;
		error_set(error, -EINVAL,
			  "the glob '%s' matches no cgroup: paths start with '/', so a glob must "
			  "start with '/' or '**'",
			  glob);
		return error_mark(error, -EINVAL, glob, 0);
	}
	return 0;
}

void census_free(struct census *census)
{
	if (!census)
		return;
	for (size_t i = 0; i < AXIS_PARTS; i++) {
		dictionary_free(census->counts[i].names);
		array_free(&census->counts[i].classes);
	}
	array_free(&census->snapshots);
	for (size_t i = 0; i < census->globs.count; i++)
		glob_free(census->globs.data[i]);
	array_free(&census->globs);
	arena_clear(&census->arena);
	text_free(&census->name);
	text_free(&census->pattern);
	text_free(&census->class_name);
	free(census);
}

static int init_count(struct name_count *count, const struct axis *axis,
		      const struct axis_part *part, const struct grouping_options *options)
{
	bool is_ctprof = options->ctprof_names;

	count->part = part;
	count->has_pattern = (part->rule == NAME_PATTERN && !options->literal_names) ||
			     (part->rule == NAME_PATH && !options->literal_cgroups);
	count->rules =
		(part->rule == NAME_PATH ? NAME_IS_PATH : 0) | (is_ctprof ? NAME_BY_CTPROF : 0);
	count->single_stays = !options->always_patterns &&
			      (!is_ctprof || (part->rule == NAME_PATTERN && !axis->parts[1]));
	count->names = dictionary_new();
	return count->names ? 0 : -ENOMEM;
}

static int add_glob(struct census *census, const char *pattern)
{
	CLEANUP(glob_free_pointer) struct glob *glob = NULL;
	int status = glob_new(pattern, &glob, NULL);

	if (status == 0)
		status = array_append(&census->globs, glob);
	if (status == 0)
		glob = NULL;
	return status;
}

int census_new(enum group_axis axis, const struct grouping_options *options, struct census **ret)
{
	static const struct grouping_options usual = { 0 };
	CLEANUP(census_free_pointer) struct census *census = calloc(1, sizeof(*census));
	int status = census ? 0 : -ENOMEM;

	if (status < 0)
		return status;
	if (!options)
		options = &usual;
	census->axis = &axes[axis];
	census->is_ctprof = options->ctprof_names;
	census->flatten = options->flatten;
	for (size_t i = 0; i < AXIS_PARTS && axes[axis].parts[i] && status == 0; i++)
		status = init_count(&census->counts[i], &axes[axis], axes[axis].parts[i], options);
	for (size_t i = 0; i < options->flatten_count && status == 0; i++)
		status = add_glob(census, options->flatten[i]);
	if (status < 0)
		return status;
	*ret = TAKE_PTR(census);
	return 0;
}

/* The glob that replaces a path, or NULL. */
static const char *flattened(const struct census *census, const struct name_count *count,
			     const char *name)
{
	if (count->part->rule != NAME_PATH)
		return NULL;
	for (size_t i = 0; i < census->globs.count; i++)
		if (glob_match(census->globs.data[i], name))
			return census->flatten[i];
	return NULL;
}

/* Writes what all names of the class share: the pattern without the kinds of placeholders. */
static void write_class_name(struct census *census)
{
	struct text *name = &census->class_name;

	text_clear(name);
	text_append(name, text_string(&census->pattern), census->pattern.length);
	if (name->failed || name->length == 0)
		return;
	for (char *at = strchr(name->data, '{'); at; at = strchr(at + 1, '{'))
		if ((at[1] == 'H' || at[1] == 'I') && at[2] == '}')
			at[1] = 'N';
}

/* Makes the pattern of a name and finds its class; adds the class when it is new. */
static int find_class(struct census *census, struct name_count *count, const char *name,
		      uint32_t *ret_id)
{
	const char *glob = flattened(census, count, name);
	bool has_pattern = count->has_pattern && !glob;
	const struct text *class = has_pattern ? &census->class_name : &census->pattern;

	text_clear(&census->pattern);
	if (has_pattern) {
		name_pattern(name, count->rules, &census->pattern);
		write_class_name(census);
	} else {
		text_append_string(&census->pattern, glob ? glob : name);
	}
	if (census->pattern.failed || census->class_name.failed)
		return -ENOMEM;
	return dictionary_add(count->names, text_string(class), class->length, ret_id);
}

/* Every number is also hexadecimal digits, and those may also be an id. */
static char wider(char a, char b)
{
	return a == 'I' || b == 'I' ? 'I' : 'H';
}

/* A path with an id differs on every host, so its key is the pattern that all of them share. */
static bool is_certain_id(const struct name_count *count, const struct name_class *class)
{
	return count->part->rule == NAME_PATH && strstr(class->label, "{I}");
}

static int note_name(struct census *census, const struct name_count *count,
		     struct name_class *class, const char *name)
{
	if (!count->single_stays)
		return 0;
	if (class->name) {
		class->has_several |= strcmp(class->name, name) != 0;
		return 0;
	}
	class->name = arena_copy(&census->arena, name, strlen(name));
	return class->name ? 0 : -ENOMEM;
}

/* Widens the label of the class to the pattern that find_class() made. */
static int note_pattern(struct census *census, struct name_count *count, uint32_t id)
{
	const char *pattern = text_string(&census->pattern);
	struct name_class *class;

	if (array_extend(&count->classes, id + 1, (struct name_class){ 0 }) < 0)
		return -ENOMEM;
	class = &count->classes.data[id];
	if (!class->label) {
		class->label = arena_copy(&census->arena, pattern, census->pattern.length);
		return class->label ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < census->pattern.length; i++)
		if (pattern[i] != class->label[i])
			class->label[i] = wider(pattern[i], class->label[i]);
	return 0;
}

static int class_of_name(struct census *census, struct name_count *count, const char *name,
			 uint32_t *ret_class)
{
	int status = find_class(census, count, name, ret_class);

	if (status == 0)
		status = note_pattern(census, count, *ret_class);
	if (status == 0 && count->has_pattern && !flattened(census, count, name))
		status = note_name(census, count, &count->classes.data[*ret_class], name);
	return status;
}

#define NOT_SEEN UINT32_MAX

/*
 * The class of the task's name in census->name, which nobody else of the snapshot has: the second
 * with that name, as after a pid was used again, is "true[333] #2".
 */
static int class_of_unique(struct census *census, struct name_count *count, uint32_t *ret_class)
{
	uint32_t number = (uint32_t)census->snapshots.count + 1;
	int status = class_of_name(census, count, text_string(&census->name), ret_class);
	struct name_class *class;

	if (status < 0)
		return status;
	class = &count->classes.data[*ret_class];
	if (class->named_in != number) {
		class->named_in = number;
		class->again = 0;
		return 0;
	}
	class->again++;
	text_format(&census->name, " #%" PRIu32, class->again + 1);
	return census->name.failed ?
		       -ENOMEM :
		       class_of_name(census, count, text_string(&census->name), ret_class);
}

static int class_of_task(struct census *census, struct name_count *count,
			 const struct snapshot *snapshot, uint32_t task, uint32_t *ret_class)
{
	const struct axis_part *part = count->part;

	if (!part->append_name)
		return class_of_name(census, count,
				     snapshot_text(snapshot, part->identity(snapshot, task)),
				     ret_class);
	text_clear(&census->name);
	part->append_name(snapshot, task, &census->name);
	if (census->name.failed)
		return -ENOMEM;
	return part->is_unique ?
		       class_of_unique(census, count, ret_class) :
		       class_of_name(census, count, text_string(&census->name), ret_class);
}

static void note_thread(struct name_class *class, uint32_t snapshot)
{
	class->has_several |= class->seen_in == snapshot;
	class->seen_in = snapshot;
}

static int add_tasks(struct census *census, struct name_count *count,
		     const struct snapshot *snapshot, uint32_t **ret_classes)
{
	size_t identities = count->part->identities(snapshot);
	uint32_t number = (uint32_t)census->snapshots.count + 1;
	uint32_t *class_of;

	if (arena_array(&census->arena, class_of, identities) < 0)
		return -ENOMEM;
	*ret_classes = class_of;
	memset(class_of, 0xff, identities * sizeof(*class_of));
	for (uint32_t task = 0; task < snapshot->task_count; task++) {
		uint32_t *class = &class_of[count->part->identity(snapshot, task)];

		if (*class == NOT_SEEN && class_of_task(census, count, snapshot, task, class) < 0)
			return -ENOMEM;
		if (census->is_ctprof)
			note_thread(&count->classes.data[*class], number);
	}
	return 0;
}

/* Cgroups without a task are counted too when a class gets its name. */
static int add_cgroups(struct census *census, struct name_count *count,
		       const struct snapshot *snapshot)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];
	uint32_t class;

	for (size_t row = 0; row < sheet->row_count; row++)
		if (class_of_name(census, count, snapshot_text(snapshot, sheet->keys[row]),
				  &class) < 0)
			return -ENOMEM;
	return 0;
}

int census_add(struct census *census, const struct snapshot *snapshot)
{
	struct counted counted = { .snapshot = snapshot };
	int status = 0;

	for (size_t i = 0; i < AXIS_PARTS && census->axis->parts[i] && status == 0; i++) {
		struct name_count *count = &census->counts[i];

		status = add_tasks(census, count, snapshot, &counted.class_of[i]);
		if (status == 0 && count->part->rule == NAME_PATH)
			status = add_cgroups(census, count, snapshot);
	}
	return status < 0 ? status : array_append(&census->snapshots, counted);
}

int census_of_sides(enum group_axis axis, const struct grouping_options *options,
		    const struct compare_side *sides, struct census **ret)
{
	CLEANUP(census_free_pointer) struct census *census = NULL;
	int status = census_new(axis, options, &census);

	for (int side = 0; side < SIDES; side++)
		for (size_t i = 0; status == 0 && i < sides[side].count; i++)
			status = census_add(census, sides[side].snapshots[i]);
	if (status == 0)
		*ret = TAKE_PTR(census);
	return status;
}

const struct counted *census_counted(const struct census *census, const struct snapshot *snapshot)
{
	for (size_t i = 0; i < census->snapshots.count; i++)
		if (census->snapshots.data[i].snapshot == snapshot)
			return &census->snapshots.data[i];
	return NULL;
}

size_t census_class_count(const struct census *census, size_t part)
{
	return census->counts[part].classes.count;
}

const char *census_class_label(const struct census *census, size_t part, uint32_t class)
{
	return census->counts[part].classes.data[class].label;
}

const char *census_class_key(const struct census *census, size_t part, uint32_t class)
{
	const struct name_count *count = &census->counts[part];
	const struct name_class *counted = &count->classes.data[class];
	bool is_alone = counted->name && !counted->has_several;

	return is_alone && !is_certain_id(count, counted) ? counted->name : counted->label;
}

int census_append_key(struct census *census, const char *name, struct text *out)
{
	struct name_count *count = &census->counts[0];
	bool is_counted;
	uint32_t id;
	int status = find_class(census, count, name, &id);

	if (status < 0)
		return status;
	is_counted = id < count->classes.count && count->classes.data[id].label;
	text_append_string(out, is_counted ? census_class_key(census, 0, id) :
					     text_string(&census->pattern));
	return out->failed ? -ENOMEM : 0;
}
