/* SPDX-License-Identifier: MIT */
/* Writes how and where a snapshot was taken. */
#include <string.h>

#include "model/snapshot/snapshot.h"
#include "store/tscope/encoder.h"

static void put_number(struct bytes *body, const char *name, uint64_t number)
{
	bytes_put_string(body, name);
	bytes_put_u8(body, VALUE_NUMBER);
	bytes_put_varint(body, number);
}

void encode_facts(struct encoder *encoder)
{
	for (int id = 0; id < FACT_COUNT; id++) {
		const struct fact *fact = &encoder->snapshot->facts[id];

		if (!fact->present)
			continue;
		if (!facts[id].is_text) {
			put_number(&encoder->body, facts[id].name, fact->number);
			continue;
		}
		bytes_put_string(&encoder->body, facts[id].name);
		bytes_put_u8(&encoder->body, VALUE_TEXT);
		bytes_put_string(&encoder->body, fact->text);
	}
}

void encode_tally(struct encoder *encoder)
{
	for (size_t i = 0; i < tally_member_count; i++) {
		uint64_t number;

		memcpy(&number, (const char *)&encoder->snapshot->tally + tally_members[i].offset,
		       sizeof(number));
		put_number(&encoder->body, tally_members[i].name, number);
	}
}

void encode_reasons(struct encoder *encoder)
{
	for (int id = 0; id < METRIC_STORED; id++) {
		if (!encoder->snapshot->columns[id].absent)
			continue;
		bytes_put_string(&encoder->body, metrics[id].name);
		bytes_put_string(&encoder->body, encoder->snapshot->columns[id].absent);
	}
}

void encode_sources(struct encoder *encoder)
{
	for (size_t i = 0; i < encoder->snapshot->source_count; i++) {
		const struct source_report *source = &encoder->snapshot->sources[i];

		bytes_put_string(&encoder->body, source->name);
		bytes_put_string(&encoder->body, source_state_name(source->state));
		bytes_put_u8(&encoder->body, source->reason != NULL);
		if (source->reason)
			bytes_put_string(&encoder->body, source->reason);
		bytes_put_varint(&encoder->body, source->read);
		bytes_put_varint(&encoder->body, source->failed);
	}
}
