/* SPDX-License-Identifier: MIT */
#include "cli/parts/compare/compare_input.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "analyze/compare/interval_snapshot.h"
#include "analyze/filter/filter.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/parts/compare/two_captures.h"
#include "model/snapshot/snapshot.h"
#include "store/recording.h"

static void side_clear(struct input_side *side)
{
	for (size_t i = 0; i < side->snapshots.count; i++)
		snapshot_free(side->snapshots.data[i]);
	array_free(&side->snapshots);
	array_free(&side->names);
}

void compare_input_clear(struct compare_input *input)
{
	side_clear(&input->before);
	side_clear(&input->after);
	arena_clear(&input->arena);
}

static int no_memory(struct error *error)
{
	return error_set(error, -ENOMEM, "out of memory");
}

static int add_name(struct compare_input *input, struct input_side *side, const char *start,
		    size_t length, struct error *error)
{
	char *name;

	if (length == 0)
		return error_set(error, -EINVAL, "a list of files has an empty name");
	name = arena_copy(&input->arena, start, length);
	if (!name || array_append(&side->names, name) < 0)
		return no_memory(error);
	return 0;
}

static int split_names(struct compare_input *input, struct input_side *side, const char *word,
		       struct error *error)
{
	const char *rest = word;

	if (access(word, F_OK) == 0)
		return add_name(input, side, word, strlen(word), error);
	while (rest) {
		size_t length = strcspn(rest, ",");
		int status = add_name(input, side, rest, length, error);

		if (status < 0)
			return error_mark(error, status, word, (size_t)(rest - word));
		rest = rest[length] ? rest + length + 1 : NULL;
	}
	return 0;
}

/* Takes ownership of the snapshot, even when it fails. */
static int add_snapshot(struct input_side *side, struct snapshot *snapshot, struct error *error)
{
	if (array_append(&side->snapshots, snapshot) == 0)
		return 0;
	snapshot_free(snapshot);
	return no_memory(error);
}

/* The last ".." with neither "/" beside it nor an end of the name; NULL: it is not an interval. */
static const char *find_dots(const char *name)
{
	size_t length = strlen(name);

	for (const char *at = name + length; at-- > name + 1;) {
		if (strncmp(at, "..", 2) != 0 || at[-1] == '/' || !at[2] || at[2] == '/')
			continue;
		return at;
	}
	return NULL;
}

bool compare_input_is_interval(const char *name)
{
	return access(name, F_OK) != 0 && find_dots(name);
}

/*
 * The name of an interval's end: in the folder of its beginning, unless it has
 * one; after FILE@TIME it may be just a time.
 */
static int name_end(const char *name, const char *dots, struct text *ret)
{
	const char *end = dots + 2;
	const char *slash = memrchr(name, '/', (size_t)(dots - name));
	const char *moment = memrchr(name, '@', (size_t)(dots - name));

	if (slash && !strchr(end, '/'))
		text_append(ret, name, (size_t)(slash - name) + 1);
	text_append_string(ret, end);
	if (moment && !strchr(end, '@') && !ret->failed && access(ret->data, F_OK) != 0) {
		text_clear(ret);
		text_append(ret, name, (size_t)(moment - name) + 1);
		text_append_string(ret, end);
	}
	return ret->failed ? -ENOMEM : 0;
}

static int read_interval(const char *name, const char *dots, struct snapshot **ret,
			 struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *from = NULL, *to = NULL;
	CLEANUP(text_free) struct text first = { 0 }, last = { 0 };
	int status;

	text_append(&first, name, (size_t)(dots - name));
	if (name_end(name, dots, &last) < 0 || first.failed)
		return no_memory(error);
	status = recording_read(first.data, &from, error);
	if (status == 0)
		status = recording_read(last.data, &to, error);
	if (status == 0)
		status = interval_snapshot_make(from, to, name, error);
	if (status == 0)
		*ret = TAKE_PTR(to);
	return status;
}

static int read_name(const char *name, struct snapshot **ret, struct error *error)
{
	if (compare_input_is_interval(name))
		return read_interval(name, find_dots(name), ret, error);
	return recording_read(name, ret, error);
}

static int read_side(struct input_side *side, struct error *error)
{
	for (size_t i = 0; i < side->names.count; i++) {
		struct snapshot *snapshot;
		int status = read_name(side->names.data[i], &snapshot, error);

		if (status == 0)
			status = add_snapshot(side, snapshot, error);
		if (status < 0)
			return status;
	}
	return 0;
}

struct side_reading {
	struct input_side *side;
	struct error error;
	int status;
};

static void *read_beside(void *context)
{
	struct side_reading *reading = context;

	reading->status = read_side(reading->side, &reading->error);
	return NULL;
}

static bool has_standard_input(const struct input_side *side)
{
	for (size_t i = 0; i < side->names.count; i++)
		if (strcmp(side->names.data[i], "-") == 0)
			return true;
	return false;
}

/* Reads both sides at once, unless they could both want standard input. */
static int read_sides(struct compare_input *input, struct error *error)
{
	struct side_reading before = { .side = &input->before };
	bool is_plain = !has_standard_input(&input->before) && !has_standard_input(&input->after);
	pthread_t thread;
	bool is_beside = is_plain && pthread_create(&thread, NULL, read_beside, &before) == 0;
	int status;

	if (!is_beside)
		read_beside(&before);
	status = before.status < 0 && !is_beside ? 0 : read_side(&input->after, error);
	if (is_beside)
		pthread_join(thread, NULL);
	if (before.status == 0)
		return status;
	*error = before.error;
	return before.status;
}

int compare_input_read(struct compare_input *input, char **words, struct error *error)
{
	int status = split_names(input, &input->before, words[0], error);

	if (status == 0)
		status = split_names(input, &input->after, words[1], error);
	return status < 0 ? status : read_sides(input, error);
}

int compare_input_capture(struct compare_input *input, const struct capture_args *args,
			  uint64_t wait_ns, struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *first = NULL, *second = NULL;
	int status = two_captures_take(args, wait_ns, &first, &second, error);

	if (status == 0)
		status = add_snapshot(&input->before, TAKE_PTR(first), error);
	return status < 0 ? status : add_snapshot(&input->after, TAKE_PTR(second), error);
}

int compare_input_read_and_capture(struct compare_input *input, const char *word,
				   const struct capture_args *args, uint64_t wait_ns,
				   struct error *error)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *now = NULL;
	int status = split_names(input, &input->before, word, error);

	if (status == 0)
		status = read_side(&input->before, error);
	if (status == 0)
		status = two_captures_interval(args, wait_ns, &now, error);
	return status < 0 ? status : add_snapshot(&input->after, TAKE_PTR(now), error);
}

int compare_input_filter(struct compare_input *input, const struct filter *filter,
			 struct error *error)
{
	const struct input_side *sides[] = { &input->before, &input->after };
	ARRAY_OF(struct snapshot *) all = { 0 };
	int status = 0;

	if (input->before.snapshots.count == 1 && input->after.snapshots.count == 1)
		return filter_apply_pair(filter, input->before.snapshots.data[0],
					 input->after.snapshots.data[0], error);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < sides[side]->snapshots.count && status == 0; i++)
			status = array_append(&all, sides[side]->snapshots.data[i]);
	status = status < 0 ? no_memory(error) : filter_apply(filter, all.data, all.count, error);
	array_free(&all);
	return status;
}
