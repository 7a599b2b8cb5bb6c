/* SPDX-License-Identifier: MIT */
#include "store/tscope/decoder.h"

#include <errno.h>
#include <string.h>

#include "model/snapshot/snapshot.h"
#include "store/tscope/bytes.h"
#include "store/tscope/layout.h"

/* Copies the next string into the snapshot's memory; NULL after a failure. */
static const char *read_text(struct decoder *decoder, struct reader *body)
{
	size_t length;
	const char *string = reader_string(body, &length);
	const char *copy;

	if (body->bad)
		decoder_damaged(decoder, "a text is wrong");
	if (decoder->status < 0)
		return NULL;
	copy = arena_copy(&decoder->snapshot->arena, string, length);
	decoder_check(decoder, copy ? 0 : -ENOMEM);
	return copy;
}

static int find_fact(const char *name)
{
	for (int id = 0; id < FACT_COUNT; id++)
		if (strcmp(facts[id].name, name) == 0)
			return id;
	return -1;
}

/* A fact that this version does not know, or knows with another type, is skipped. */
static void decode_fact(struct decoder *decoder, struct reader *body)
{
	struct fact fact = { .present = true };
	char name[NAME_SIZE];
	uint8_t type;
	int id;

	reader_name(body, name);
	type = reader_u8(body);
	if (type == VALUE_TEXT)
		fact.text = read_text(decoder, body);
	else if (type == VALUE_NUMBER)
		fact.number = reader_varint(body);
	else
		decoder_damaged(decoder, "a fact about the host is no number and no text");
	id = find_fact(name);
	if (decoder->status < 0 || body->bad || id < 0 || facts[id].is_text != (type == VALUE_TEXT))
		return;
	if (decoder->snapshot->facts[id].present)
		decoder_damaged(decoder, "a fact about the host is there twice");
	decoder->snapshot->facts[id] = fact;
}

void decode_facts(struct decoder *decoder, const char *name, struct reader *body)
{
	(void)name;
	while (reader_left(body) && decoder->status == 0)
		decode_fact(decoder, body);
}

void decode_tally(struct decoder *decoder, const char *block, struct reader *body)
{
	(void)block;
	while (reader_left(body) && decoder->status == 0) {
		char name[NAME_SIZE];
		uint64_t number;

		reader_name(body, name);
		if (reader_u8(body) != VALUE_NUMBER)
			decoder_damaged(decoder, "a count is not a number");
		number = reader_varint(body);
		for (size_t i = 0; i < tally_member_count && !body->bad; i++)
			if (strcmp(tally_members[i].name, name) == 0)
				memcpy((char *)&decoder->snapshot->tally + tally_members[i].offset,
				       &number, sizeof(number));
	}
}

void decode_reasons(struct decoder *decoder, const char *block, struct reader *body)
{
	(void)block;
	while (reader_left(body) && decoder->status == 0) {
		char name[NAME_SIZE];
		const char *reason;
		int id;

		reader_name(body, name);
		reason = read_text(decoder, body);
		id = metric_find(name);
		if (id >= 0 && id < METRIC_STORED && !decoder->snapshot->columns[id].absent)
			decoder->snapshot->columns[id].absent = reason;
	}
}

/*
 * An unknown state of a newer version becomes the nearest known one, with its
 * name as the reason.
 */
static void read_state(struct decoder *decoder, struct reader *body, struct source_report *source)
{
	const char *name = read_text(decoder, body);
	int state = 0;

	if (!name)
		return;
	while (state < SOURCE_STATE_COUNT &&
	       strcmp(source_state_name((enum source_state)state), name))
		state++;
	source->state = state < SOURCE_STATE_COUNT ? (enum source_state)state : SOURCE_PARTIAL;
	source->reason = state < SOURCE_STATE_COUNT ? NULL : name;
}

static void decode_source(struct decoder *decoder, struct reader *body)
{
	struct snapshot *snapshot = decoder->snapshot;
	size_t count = snapshot->source_count;
	struct source_report *source;
	const char *name;

	if (count == SNAPSHOT_SOURCES)
		decoder_damaged(decoder, "it has too many sources");
	name = read_text(decoder, body);
	if (!name)
		return;
	source = snapshot_source(snapshot, name);
	if (!decoder_check(decoder, source ? 0 : -ENOMEM))
		return;
	if (snapshot->source_count == count)
		decoder_damaged(decoder, "a source is there twice");
	read_state(decoder, body, source);
	if (reader_u8(body))
		source->reason = read_text(decoder, body);
	source->read = reader_varint(body);
	source->failed = reader_varint(body);
}

void decode_sources(struct decoder *decoder, const char *name, struct reader *body)
{
	(void)name;
	while (reader_left(body) && decoder->status == 0)
		decode_source(decoder, body);
}
