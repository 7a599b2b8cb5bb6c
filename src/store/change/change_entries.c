/* SPDX-License-Identifier: MIT */
/* Changes of blocks that are lists of entries: facts, the tally, sources, reasons. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/snapshot/column.h"
#include "store/change/change_parts.h"
#include "store/tscope/layout.h"

static void entries_clear(struct entries *entries)
{
	array_free(&entries->list);
}

/* Skips the bytes of an entry, and tells how many numbers follow. */
static unsigned skip_entry(struct reader *body, uint8_t type)
{
	size_t length;
	uint8_t kind;

	reader_string(body, &length);
	if (type == BLOCK_SOURCES || type == BLOCK_REASONS)
		reader_string(body, &length);
	if (type == BLOCK_SOURCES && reader_u8(body))
		reader_string(body, &length);
	if (type != BLOCK_VALUES)
		return type == BLOCK_SOURCES ? 2 : 0;
	kind = reader_u8(body);
	if (kind == VALUE_NUMBER)
		return 1;
	body->bad |= kind != VALUE_TEXT;
	reader_string(body, &length);
	return 0;
}

int entries_read(struct reader body, uint8_t type, struct entries *ret)
{
	if (type != BLOCK_VALUES && type != BLOCK_SOURCES && type != BLOCK_REASONS)
		return -EBADMSG;
	while (reader_left(&body)) {
		struct entry_part entry = { .bytes = { .next = body.next } };

		entry.count = skip_entry(&body, type);
		entry.bytes.end = body.next;
		for (unsigned i = 0; i < entry.count; i++)
			entry.numbers[i] = reader_varint(&body);
		if (body.bad)
			return -EBADMSG;
		if (array_append(&ret->list, entry) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* All numbers of the entries, ENTRY_NUMBERS each, as cells. */
static int gather_numbers(const struct entries *entries, struct cells *ret)
{
	size_t count = entries->list.count;

	if (cells_reserve(ret, count * ENTRY_NUMBERS) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		for (unsigned j = 0; j < ENTRY_NUMBERS; j++)
			ret->values[i * ENTRY_NUMBERS + j] = entries->list.data[i].numbers[j];
	memset(ret->states, CELL_NUMBER, count * ENTRY_NUMBERS);
	return 0;
}

/* Writes the entries whose bytes differ: how many are the same before each, and its bytes. */
static void write_texts(const struct entries *was, const struct entries *is, struct bytes *out)
{
	size_t same = 0;

	for (size_t i = 0; i < is->list.count; i++) {
		const struct reader *a = &was->list.data[i].bytes, *b = &is->list.data[i].bytes;

		if (reader_left(a) == reader_left(b) &&
		    memcmp(a->next, b->next, reader_left(b)) == 0) {
			same++;
			continue;
		}
		bytes_put_varint(out, same);
		bytes_put_varint(out, reader_left(b));
		bytes_put(out, b->next, reader_left(b));
		same = 0;
	}
	bytes_put_varint(out, same);
}

int find_entries_change(struct change *change, const struct part *base, const struct part *now)
{
	CLEANUP(entries_clear) struct entries was = { 0 }, is = { 0 };
	int status = entries_read(base->body, base->type, &was);

	if (status == 0)
		status = entries_read(now->body, now->type, &is);
	if (status == 0 && was.list.count != is.list.count)
		return -EBADMSG;
	if (status == 0)
		status = gather_numbers(&was, &change->predicted);
	if (status == 0)
		status = gather_numbers(&is, &change->cells);
	change_list_empty(&change->list);
	if (status == 0)
		status = change_list_compare(&change->list, 0, &change->predicted, &change->cells,
					     is.list.count * ENTRY_NUMBERS);
	if (status < 0)
		return status;
	bytes_put_u8(change->out, CHANGE_ENTRIES);
	change_list_write(&change->list, change->out);
	write_texts(&was, &is, change->out);
	return 0;
}

/* The bytes of the next entry; `same` is how many entries to go are as they were. */
static struct reader next_bytes(struct change *change, const struct entry_part *was, uint64_t *same)
{
	struct reader bytes;

	if ((*same)-- > 0)
		return was->bytes;
	bytes = reader_part(change->changes, reader_varint(change->changes));
	*same = reader_varint(change->changes);
	return bytes;
}

static int write_entry(struct bytes *body, struct reader bytes, uint8_t type,
		       const uint64_t *numbers)
{
	struct reader rest = bytes;
	unsigned count = skip_entry(&rest, type);

	if (rest.bad || reader_left(&rest))
		return -EBADMSG;
	bytes_put(body, bytes.next, reader_left(&bytes));
	for (unsigned i = 0; i < count; i++)
		bytes_put_varint(body, numbers[i]);
	return 0;
}

int apply_entries_change(struct change *change, const struct part *base, struct bytes *body)
{
	CLEANUP(entries_clear) struct entries was = { 0 };
	struct change_cursor cursor = { 0 };
	int status = entries_read(base->body, base->type, &was);
	uint64_t count = was.list.count, same;

	if (status == 0)
		status = gather_numbers(&was, &change->cells);
	if (status == 0)
		status = change_list_read(&change->list, change->changes, count * ENTRY_NUMBERS);
	if (status == 0)
		status = change_list_apply(&change->list, &cursor, 0, &change->cells,
					   count * ENTRY_NUMBERS);
	same = reader_varint(change->changes);
	for (uint64_t i = 0; i < count && status == 0; i++)
		status = write_entry(body, next_bytes(change, &was.list.data[i], &same), base->type,
				     &change->cells.values[i * ENTRY_NUMBERS]);
	return status == 0 && (same || change->changes->bad) ? -EBADMSG : status;
}
