/* SPDX-License-Identifier: MIT */
#include "model/run/run_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/dictionary.h"
#include "model/profile/profile.h"
#include "model/run/run_records.h"

#define NOWHERE UINT32_MAX

static int add_row(struct snapshot *snapshot, const struct record_kind *kind, const void *record)
{
	uint32_t row;
	int status = sheet_add_row(&snapshot->sheets[kind->sheet], 0, &row);

	return status < 0 ? status : record_write(snapshot, kind, row, record);
}

/* The numbers that the texts of the profile have in the snapshot; the caller frees them. */
static uint32_t *intern_texts(struct snapshot *snapshot, const struct profile *profile)
{
	uint32_t count = dictionary_count(profile->texts);
	uint32_t *strings = calloc(count, sizeof(*strings));

	for (uint32_t i = 0; i < count && strings; i++) {
		const char *text = profile_string(profile, i);

		if (snapshot_intern(snapshot, text, strlen(text), &strings[i]) < 0) {
			free(strings);
			return NULL;
		}
	}
	return strings;
}

int run_add_profile(struct snapshot *snapshot, const struct profile *profile)
{
	CLEANUP(free_pointer) uint32_t *strings = intern_texts(snapshot, profile);
	int status = strings ? 0 : -ENOMEM;

	for (size_t i = 0; i < profile->frames.count && status == 0; i++) {
		struct profile_frame frame = profile->frames.data[i];

		frame.function = strings[frame.function];
		frame.module = strings[frame.module];
		frame.build_id = strings[frame.build_id];
		frame.source = strings[frame.source];
		status = add_row(snapshot, &frame_record, &frame);
	}
	for (size_t i = 1; i < profile->nodes.count && status == 0; i++)
		status = add_row(snapshot, &node_record, &profile->nodes.data[i]);
	for (size_t i = 0; i < profile->samples.count && status == 0; i++) {
		struct profile_sample sample = profile->samples.data[i];

		sample.process_name = strings[sample.process_name];
		sample.thread_name = strings[sample.thread_name];
		sample.scope = strings[sample.scope];
		status = add_row(snapshot, &stack_sample_record, &sample);
	}
	return status;
}

/* What the numbers of the file are in the profile: of strings, frames and nodes. */
struct numbers {
	uint32_t *texts, *frames, *nodes;
};

static void free_numbers(struct numbers *numbers)
{
	free(numbers->texts);
	free(numbers->frames);
	free(numbers->nodes);
}

static int new_numbers(const struct snapshot *snapshot, struct numbers *ret)
{
	const struct sheet *sheets = snapshot->sheets;
	size_t strings = dictionary_count(snapshot->strings);

	ret->texts = malloc((strings + 1) * sizeof(*ret->texts));
	ret->frames = malloc((sheets[SHEET_STACK_FRAMES].row_count + 1) * sizeof(*ret->frames));
	ret->nodes = malloc((sheets[SHEET_STACK_NODES].row_count + 1) * sizeof(*ret->nodes));
	if (!ret->texts || !ret->frames || !ret->nodes)
		return -ENOMEM;
	memset(ret->texts, 0xff, strings * sizeof(*ret->texts));
	return 0;
}

static void move_text(const struct snapshot *snapshot, struct profile *profile,
		      struct numbers *numbers, uint32_t *text)
{
	uint32_t *known = &numbers->texts[*text];

	if (*known == NOWHERE)
		*known = profile_text(profile, snapshot_text(snapshot, *text));
	*text = *known;
}

static int restore_frame(const struct snapshot *snapshot, struct profile *profile,
			 struct numbers *numbers, uint32_t row)
{
	struct profile_frame frame = { 0 };
	int status = record_read(snapshot, &frame_record, row, NULL, &frame);

	if (status < 0)
		return status;
	move_text(snapshot, profile, numbers, &frame.function);
	move_text(snapshot, profile, numbers, &frame.module);
	move_text(snapshot, profile, numbers, &frame.build_id);
	move_text(snapshot, profile, numbers, &frame.source);
	numbers->frames[row] = NOWHERE;
	status = profile_add_frame(profile, &frame, &numbers->frames[row]);
	return status == -ENOSPC ? 0 : status;
}

/* The file has no row for the root; a parent is above its children. */
static int restore_node(const struct snapshot *snapshot, struct profile *profile,
			struct numbers *numbers, uint32_t row)
{
	struct profile_node node = { 0 };
	int status = record_read(snapshot, &node_record, row, NULL, &node);

	numbers->nodes[row + 1] = NOWHERE;
	if (status < 0 || node.parent > row ||
	    node.frame >= snapshot->sheets[SHEET_STACK_FRAMES].row_count)
		return status;
	status = profile_add_node(profile, numbers->nodes[node.parent], numbers->frames[node.frame],
				  &numbers->nodes[row + 1]);
	return status == -ENOMEM ? status : 0;
}

static int restore_sample(const struct snapshot *snapshot, struct profile *profile,
			  struct numbers *numbers, uint32_t row)
{
	struct profile_sample sample = { 0 };
	int status = record_read(snapshot, &stack_sample_record, row, NULL, &sample);

	if (status < 0)
		return status;
	move_text(snapshot, profile, numbers, &sample.process_name);
	move_text(snapshot, profile, numbers, &sample.thread_name);
	move_text(snapshot, profile, numbers, &sample.scope);
	sample.node = sample.node <= snapshot->sheets[SHEET_STACK_NODES].row_count ?
			      numbers->nodes[sample.node] :
			      NOWHERE;
	if (sample.node == NOWHERE) {
		sample.node = 0;
		sample.end = PROFILE_NO_STACK;
		sample.inferred_ns = 0;
	}
	status = profile_add_sample(profile, &sample);
	return status == -ENOMEM ? status : 0;
}

static int restore_rows(const struct snapshot *snapshot, struct profile *profile)
{
	static const struct {
		enum sheet_id sheet;
		int (*restore)(const struct snapshot *snapshot, struct profile *profile,
			       struct numbers *numbers, uint32_t row);
	} sheets[] = {
		{ SHEET_STACK_FRAMES, restore_frame },
		{ SHEET_STACK_NODES, restore_node },
		{ SHEET_STACK_SAMPLES, restore_sample },
	};
	CLEANUP(free_numbers) struct numbers numbers = { 0 };
	int status = new_numbers(snapshot, &numbers);

	if (status == 0)
		numbers.nodes[0] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(sheets) && status == 0; i++)
		for (uint32_t row = 0;
		     row < snapshot->sheets[sheets[i].sheet].row_count && status == 0; row++)
			status = sheets[i].restore(snapshot, profile, &numbers, row);
	return status;
}

int run_restore_profile(const struct snapshot *snapshot, struct run *run)
{
	int status;

	if (!sheet_find(&snapshot->sheets[SHEET_RUN], "profile frequency_hz") &&
	    !snapshot->sheets[SHEET_STACK_SAMPLES].row_count)
		return 0;
	status = profile_new(&run->profile);
	return status < 0 ? status : restore_rows(snapshot, run->profile);
}
