#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/axis.h"
#include "analyze/group.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/dictionary.h"
#include "base/text.h"
#include "model/snapshot.h"

/* Patterns that are the same but for {N} against {H}. */
struct name_class {
	char *label; /* {H} wherever one of the patterns has it */
	uint32_t threads;
};

struct census {
	const struct axis *axis;
	struct arena arena;
	struct dictionary *names; /* each class by its pattern with {N} for {H} */
	ARRAY_OF(struct name_class) classes;
	struct text pattern, name;
};

int census_new(enum group_axis axis, struct census **ret)
{
	struct census *census = calloc(1, sizeof(*census));

	if (!census)
		return -ENOMEM;
	census->axis = &axes[axis];
	census->names = dictionary_new();
	if (!census->names) {
		free(census);
		return -ENOMEM;
	}
	*ret = census;
	return 0;
}

void census_free(struct census *census)
{
	if (!census)
		return;
	dictionary_free(census->names);
	array_free(&census->classes);
	arena_clear(&census->arena);
	text_free(&census->pattern);
	text_free(&census->name);
	free(census);
}

/* Makes the pattern of a name and finds its class, adding it when it is new. */
static int find_class(struct census *census, const char *name, uint32_t *ret_id)
{
	char *at;

	text_clear(&census->pattern);
	text_clear(&census->name);
	census->axis->pattern(name, &census->pattern);
	text_append(&census->name, text_string(&census->pattern), census->pattern.length);
	if (census->pattern.failed || census->name.failed)
		return -ENOMEM;
	for (at = strstr(census->name.data, "{H}"); at; at = strstr(at, "{H}"))
		at[1] = 'N';
	return dictionary_add(census->names, census->name.data, census->name.length, ret_id);
}

/* Adds the pattern that find_class() made to the label of its class. */
static int note_pattern(struct census *census, uint32_t id)
{
	struct name_class *class;

	while (census->classes.count <= id)
		if (array_append(&census->classes, (struct name_class){ 0 }) < 0)
			return -ENOMEM;
	class = &census->classes.data[id];
	if (!class->label) {
		class->label =
			arena_copy(&census->arena, census->pattern.data, census->pattern.length);
		return class->label ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < census->pattern.length; i++)
		if (census->pattern.data[i] != class->label[i])
			class->label[i] = 'H';
	return 0;
}

#define NOT_SEEN UINT32_MAX

static int class_of_task(struct census *census, const struct snapshot *snapshot, uint32_t task,
			 struct text *name, uint32_t *ret_class)
{
	int status;

	text_clear(name);
	census->axis->append_name(snapshot, task, name);
	if (name->failed)
		return -ENOMEM;
	status = find_class(census, text_string(name), ret_class);
	return status < 0 ? status : note_pattern(census, *ret_class);
}

int census_add(struct census *census, const struct snapshot *snapshot)
{
	CLEANUP(text_free) struct text name = { 0 };
	CLEANUP(free_pointer) uint32_t *class_of = NULL;
	size_t identities;

	if (!census->axis->pattern)
		return 0;
	identities = census->axis->identities(snapshot);
	class_of = malloc(identities * sizeof(*class_of) + 1);
	if (!class_of)
		return -ENOMEM;
	memset(class_of, 0xff, identities * sizeof(*class_of));
	for (uint32_t task = 0; task < snapshot->task_count; task++) {
		uint32_t *class = &class_of[census->axis->identity(snapshot, task)];

		if (*class == NOT_SEEN && class_of_task(census, snapshot, task, &name, class) < 0)
			return -ENOMEM;
		census->classes.data[*class].threads++;
	}
	return 0;
}

int census_append_key(struct census *census, const char *name, struct text *out)
{
	const struct name_class *class;
	uint32_t id;
	int status;

	if (!census->axis->pattern) {
		text_append_string(out, name);
		return 0;
	}
	status = find_class(census, name, &id);
	if (status < 0)
		return status;
	class = id < census->classes.count ? &census->classes.data[id] : NULL;
	if (!class || !class->label)
		text_append_string(out, census->pattern.data);
	else if (class->threads == 1 && census->axis->single_stays)
		text_append_string(out, name);
	else
		text_append_string(out, class->label);
	return 0;
}
