/* SPDX-License-Identifier: MIT */
#include "store/tscope/decoder.h"

#include <string.h>

#include "model/snapshot/snapshot.h"
#include "store/tscope/bytes.h"
#include "store/tscope/layout.h"

/* Copies the next string into the snapshot's memory; only skips it when `ret` is NULL. */
static int read_text(struct decoder *decoder, struct reader *body, const char **ret)
{
	size_t length;
	const char *string = reader_string(body, &length);
	const char *copy;

	if (body->bad)
		return damaged(decoder, "a text is wrong");
	if (!ret)
		return 0;
	copy = arena_copy(&decoder->snapshot->arena, string, length);
	if (!copy)
		return -ENOMEM;
	*ret = copy;
	return 0;
}

static int find_fact(const char *name)
{
	for (int id = 0; id < FACT_COUNT; id++)
		if (strcmp(facts[id].name, name) == 0)
			return id;
	return -1;
}

/* A fact that this version does not know, or knows with another type, is skipped. */
static int decode_fact(struct decoder *decoder, struct reader *body)
{
	struct fact fact = { .present = true };
	struct fact *wanted = NULL;
	char name[NAME_SIZE];
	uint8_t type;
	bool is_text;
	int status = 0;
	int id;

	reader_name(body, name);
	type = reader_u8(body);
	if (type != VALUE_NUMBER && type != VALUE_TEXT)
		return damaged(decoder, "a fact about the host is no number and no text");
	is_text = type == VALUE_TEXT;
	id = find_fact(name);
	if (id >= 0 && facts[id].is_text == is_text)
		wanted = &decoder->snapshot->facts[id];
	if (is_text)
		status = read_text(decoder, body, wanted ? &fact.text : NULL);
	else
		fact.number = reader_varint(body);
	if (status < 0 || body->bad || !wanted)
		return status;
	if (wanted->present)
		return damaged(decoder, "a fact about the host is there twice");
	*wanted = fact;
	return 0;
}

int decode_facts(struct decoder *decoder, const char *name, struct reader *body)
{
	int status = 0;

	(void)name;
	while (reader_left(body) && status == 0)
		status = decode_fact(decoder, body);
	return status;
}

int decode_tally(struct decoder *decoder, const char *block, struct reader *body)
{
	(void)block;
	while (reader_left(body)) {
		char name[NAME_SIZE];
		uint64_t number;

		reader_name(body, name);
		if (reader_u8(body) != VALUE_NUMBER)
			return damaged(decoder, "a count is not a number");
		number = reader_varint(body);
		for (size_t i = 0; i < tally_member_count && !body->bad; i++)
			if (strcmp(tally_members[i].name, name) == 0)
				memcpy((char *)&decoder->snapshot->tally + tally_members[i].offset,
				       &number, sizeof(number));
	}
	return 0;
}

int decode_reasons(struct decoder *decoder, const char *block, struct reader *body)
{
	int status = 0;

	(void)block;
	while (reader_left(body) && status == 0) {
		const char **wanted = NULL;
		char name[NAME_SIZE];
		int id;

		reader_name(body, name);
		id = metric_find(name);
		if (id >= 0 && id < METRIC_STORED && !decoder->snapshot->columns[id].absent)
			wanted = &decoder->snapshot->columns[id].absent;
		status = read_text(decoder, body, wanted);
	}
	return status;
}

/*
 * An unknown state of a newer version becomes the nearest known one, with its
 * name as the reason.
 */
static int read_state(struct decoder *decoder, struct reader *body, struct source_report *source)
{
	const char *name;
	int status = read_text(decoder, body, &name);
	int state = 0;

	if (status < 0)
		return status;
	while (state < SOURCE_STATE_COUNT &&
	       strcmp(source_state_name((enum source_state)state), name))
		state++;
	source->state = state < SOURCE_STATE_COUNT ? (enum source_state)state : SOURCE_PARTIAL;
	source->reason = state < SOURCE_STATE_COUNT ? NULL : name;
	return 0;
}

static int decode_source(struct decoder *decoder, struct reader *body)
{
	struct snapshot *snapshot = decoder->snapshot;
	size_t count = snapshot->source_count;
	struct source_report *source;
	const char *name;
	int status;

	if (count == SNAPSHOT_SOURCES)
		return damaged(decoder, "it has too many sources");
	status = read_text(decoder, body, &name);
	if (status < 0)
		return status;
	source = snapshot_source(snapshot, name);
	if (!source)
		return -ENOMEM;
	if (snapshot->source_count == count)
		return damaged(decoder, "a source is there twice");
	status = read_state(decoder, body, source);
	if (status == 0 && reader_u8(body))
		status = read_text(decoder, body, &source->reason);
	source->read = reader_varint(body);
	source->failed = reader_varint(body);
	return status;
}

int decode_sources(struct decoder *decoder, const char *name, struct reader *body)
{
	int status = 0;

	(void)name;
	while (reader_left(body) && status == 0)
		status = decode_source(decoder, body);
	return status;
}
