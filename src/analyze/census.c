#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/axis.h"
#include "analyze/glob.h"
#include "analyze/group.h"
#include "analyze/name_pattern.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/dictionary.h"
#include "base/error.h"
#include "base/text.h"
#include "model/snapshot.h"

/* Patterns that are the same but for the kind of their placeholders. */
struct name_class {
	char *label; /* at each place the widest kind that one of the patterns has */
	uint32_t threads;
};

/* The names of one part of the axis. */
struct name_count {
	const struct axis_part *part;
	void (*pattern)(const char *name, struct text *out); /* NULL: the name is the key */
	struct dictionary *names; /* each class by its pattern with {N} everywhere */
	ARRAY_OF(struct name_class) classes;
};

struct census {
	const struct axis *axis;
	struct name_count counts[AXIS_PARTS];
	struct arena arena;
	const char *const *flatten;
	ARRAY_OF(struct glob *) globs; /* of `flatten` */
	struct text pattern, name;
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
	for (size_t i = 0; i < census->globs.count; i++)
		glob_free(census->globs.data[i]);
	array_free(&census->globs);
	arena_clear(&census->arena);
	text_free(&census->pattern);
	text_free(&census->name);
	free(census);
}

void census_free_pointer(struct census **census)
{
	census_free(*census);
}

static int init_count(struct name_count *count, const struct axis_part *part,
		      const struct grouping_options *options)
{
	count->part = part;
	if (part->rule == NAME_PATTERN && !options->literal_names)
		count->pattern = name_pattern;
	if (part->rule == NAME_PATH && !options->literal_cgroups)
		count->pattern = name_pattern_cgroup;
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
	census->flatten = options->flatten;
	for (size_t i = 0; i < AXIS_PARTS && axes[axis].parts[i] && status == 0; i++)
		status = init_count(&census->counts[i], axes[axis].parts[i], options);
	for (size_t i = 0; i < options->flatten_count && status == 0; i++)
		status = add_glob(census, options->flatten[i]);
	if (status < 0)
		return status;
	*ret = TAKE_PTR(census);
	return 0;
}

/* The glob that takes the place of a path, or NULL. */
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

/* The kind of the placeholder that ends with `at[1]`, or 0. */
static char placeholder(const char *at)
{
	return at[0] == '{' && (at[1] == 'H' || at[1] == 'I') && at[2] == '}' ? at[1] : 0;
}

/* Makes the pattern of a name and finds its class, adding it when it is new. */
static int find_class(struct census *census, struct name_count *count, const char *name,
		      uint32_t *ret_id)
{
	char *at;

	text_clear(&census->pattern);
	text_clear(&census->name);
	count->pattern(name, &census->pattern);
	text_append(&census->name, text_string(&census->pattern), census->pattern.length);
	if (census->pattern.failed || census->name.failed)
		return -ENOMEM;
	for (at = strchr(census->name.data, '{'); at; at = strchr(at + 1, '{'))
		if (placeholder(at))
			at[1] = 'N';
	return dictionary_add(count->names, census->name.data, census->name.length, ret_id);
}

/* Numbers are hexadecimal digits, and those may be an id. */
static char wider(char a, char b)
{
	return a == 'I' || b == 'I' ? 'I' : 'H';
}

/* Adds the pattern that find_class() made to the label of its class. */
static int note_pattern(struct census *census, struct name_count *count, uint32_t id)
{
	const char *pattern = census->pattern.data;
	struct name_class *class;

	while (count->classes.count <= id)
		if (array_append(&count->classes, (struct name_class){ 0 }) < 0)
			return -ENOMEM;
	class = &count->classes.data[id];
	if (!class->label) {
		class->label = arena_copy(&census->arena, text_string(&census->pattern),
					  census->pattern.length);
		return class->label ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < census->pattern.length; i++)
		if (pattern[i] != class->label[i])
			class->label[i] = wider(pattern[i], class->label[i]);
	return 0;
}

#define NOT_SEEN UINT32_MAX
#define IS_FLATTENED (UINT32_MAX - 1)

static int class_of_name(struct census *census, struct name_count *count, const char *name,
			 uint32_t *ret_class)
{
	int status;

	if (flattened(census, count, name)) {
		*ret_class = IS_FLATTENED;
		return 0;
	}
	status = find_class(census, count, name, ret_class);
	return status < 0 ? status : note_pattern(census, count, *ret_class);
}

static int class_of_task(struct census *census, struct name_count *count,
			 const struct snapshot *snapshot, uint32_t task, struct text *name,
			 uint32_t *ret_class)
{
	text_clear(name);
	count->part->append_name(snapshot, task, name);
	return name->failed ? -ENOMEM : class_of_name(census, count, text_string(name), ret_class);
}

static int add_tasks(struct census *census, struct name_count *count,
		     const struct snapshot *snapshot)
{
	size_t identities = count->part->identities(snapshot);
	CLEANUP(text_free) struct text name = { 0 };
	CLEANUP(free_pointer) uint32_t *class_of = malloc(identities * sizeof(*class_of) + 1);

	if (!class_of)
		return -ENOMEM;
	memset(class_of, 0xff, identities * sizeof(*class_of));
	for (uint32_t task = 0; task < snapshot->task_count; task++) {
		uint32_t *class = &class_of[count->part->identity(snapshot, task)];

		if (*class == NOT_SEEN &&
		    class_of_task(census, count, snapshot, task, &name, class) < 0)
			return -ENOMEM;
		if (*class != IS_FLATTENED)
			count->classes.data[*class].threads++;
	}
	return 0;
}

/* Cgroups without a task have a say in what their class is called. */
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
	int status = 0;

	for (size_t i = 0; i < AXIS_PARTS && status == 0; i++) {
		struct name_count *count = &census->counts[i];

		if (!count->pattern)
			continue;
		status = add_tasks(census, count, snapshot);
		if (status == 0 && count->part->rule == NAME_PATH)
			status = add_cgroups(census, count, snapshot);
	}
	return status;
}

static const char *key_of_class(const struct census *census, const struct name_count *count,
				uint32_t id, const char *name)
{
	const struct name_class *class =
		id < count->classes.count ? &count->classes.data[id] : NULL;

	if (!class || !class->label)
		return text_string(&census->pattern);
	return class->threads == 1 && census->axis->single_stays ? name : class->label;
}

int census_append_part(struct census *census, size_t part, const char *name, struct text *out)
{
	struct name_count *count = &census->counts[part];
	const char *key = flattened(census, count, name);
	uint32_t id;

	if (!key && !count->pattern)
		key = name;
	if (!key) {
		if (find_class(census, count, name, &id) < 0)
			return -ENOMEM;
		key = key_of_class(census, count, id, name);
	}
	text_append_string(out, key);
	return out->failed ? -ENOMEM : 0;
}

int census_append_key(struct census *census, const char *name, struct text *out)
{
	return census_append_part(census, 0, name, out);
}
