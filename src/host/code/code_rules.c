/* SPDX-License-Identifier: MIT */
#include "host/code/code_rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <xxhash.h>

#include "host/code/code_state.h"

#define SLOTS_MIN 1024
#define NOT_ASKED (CODE_NO_RULES - 1)

void code_rows_clear(struct code_rows *rows)
{
	array_free(&rows->list);
}

void code_rules_clear(struct code_rules *rules)
{
	array_free(&rules->list);
	free(rules->slots);
	*rules = (struct code_rules){ 0 };
}

/* ---- equal rules are kept once ---- */

/* The slot that has the rules, or a free one. */
static uint32_t *find_slot(const struct code_rules *rules, const struct unwind_rules *wanted)
{
	size_t slot = XXH3_64bits(wanted, sizeof(*wanted)) & (rules->slot_count - 1);

	while (rules->slots[slot] &&
	       memcmp(&rules->list.data[rules->slots[slot] - 1], wanted, sizeof(*wanted)) != 0)
		slot = (slot + 1) & (rules->slot_count - 1);
	return &rules->slots[slot];
}

static int grow_slots(struct code_rules *rules)
{
	size_t count = rules->slot_count ? 2 * rules->slot_count : SLOTS_MIN;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(rules->slots);
	rules->slots = slots;
	rules->slot_count = count;
	for (size_t i = 0; i < rules->list.count; i++)
		*find_slot(rules, &rules->list.data[i]) = (uint32_t)i + 1;
	return 0;
}

static int intern(struct code_rules *rules, const struct unwind_rules *added, uint32_t *ret)
{
	uint32_t *slot;
	int status = 2 * (rules->list.count + 1) > rules->slot_count ? grow_slots(rules) : 0;

	if (status < 0)
		return status;
	slot = find_slot(rules, added);
	if (!*slot) {
		status = array_append(&rules->list, *added);
		if (status < 0)
			return status;
		*slot = (uint32_t)rules->list.count;
	}
	*ret = *slot - 1;
	return 0;
}

/* ---- rows ---- */

/* The number of rows that begin at the offset or before. */
static size_t rows_up_to(const struct code_rows *rows, uint32_t offset)
{
	return array_bisect(rows->list.data, rows->list.count, item->offset <= offset);
}

static uint32_t rules_at(const struct code_rows *rows, uint32_t offset)
{
	size_t count = rows_up_to(rows, offset);

	return count ? rows->list.data[count - 1].rules : NOT_ASKED;
}

/* Makes room for `count` rows in place of those in [start, end), plus one that goes on with what follows. */
static int make_room(struct code_rows *rows, uint32_t start, uint32_t end, size_t count,
		     size_t *ret_index)
{
	size_t from = start ? rows_up_to(rows, start - 1) : 0;
	size_t to = rows_up_to(rows, end);
	struct code_row next = { end, rules_at(rows, end) };
	size_t kept = rows->list.count - to;
	int status = array_reserve(&rows->list, from + count + 1 + kept);

	if (status < 0)
		return status;
	memmove(&rows->list.data[from + count + 1], &rows->list.data[to], kept * sizeof(next));
	rows->list.data[from + count] = next;
	rows->list.count = from + count + 1 + kept;
	*ret_index = from;
	return 0;
}

static int keep_none(struct code_rules *rules, struct code_rows *rows, uint32_t offset)
{
	size_t index = 0;
	int status = make_room(rows, offset, offset + 1, 1, &index);

	if (status < 0)
		return status;
	rows->list.data[index] = (struct code_row){ offset, CODE_NO_RULES };
	rules->row_count += 2;
	return 0;
}

int code_rules_keep(struct code_rules *rules, struct code_rows *rows, uint32_t offset,
		    const struct code_rules_answer *answer)
{
	uint32_t interned[CODE_RULES_MAX];
	size_t index = 0;
	int status = 0;

	if (!answer->row_count)
		return keep_none(rules, rows, offset);
	for (size_t i = 0; i < answer->rules_count && status == 0; i++)
		status = intern(rules, &answer->rules[i], &interned[i]);
	if (status == 0)
		status = make_room(rows, offset, offset + answer->size, answer->row_count, &index);
	if (status < 0)
		return status;
	for (size_t i = 0; i < answer->row_count; i++)
		rows->list.data[index + i] = (struct code_row){ offset + answer->rows[i].offset,
								interned[answer->rows[i].rules] };
	rules->row_count += answer->row_count + 1;
	return 0;
}

/* ---- asking ---- */

static bool rows_are_valid(const struct code_rules_answer *answer)
{
	for (size_t i = 0; i < answer->row_count; i++) {
		uint32_t end =
			i + 1 < answer->row_count ? answer->rows[i + 1].offset : answer->size;

		if (answer->rows[i].offset >= end || answer->rows[i].rules >= answer->rules_count)
			return false;
	}
	return answer->rows[0].offset == 0;
}

bool code_rules_answer_is_valid(const struct code_rules_answer *answer, uint64_t address)
{
	if (answer->row_count > CODE_ROWS_MAX || answer->rules_count > CODE_RULES_MAX)
		return false;
	if (answer->row_count == 0)
		return answer->start == address;
	if (answer->start > address || address - answer->start >= answer->size ||
	    !rows_are_valid(answer))
		return false;
	for (size_t i = 0; i < answer->rules_count; i++)
		if (!unwind_rules_are_valid(&answer->rules[i]))
			return false;
	return true;
}

static void drop_all(struct code *code)
{
	for (size_t i = 0; i < code->files.count; i++)
		code_rows_clear(&code->files.data[i]->rows);
	code_rules_clear(&code->rules);
}

/* Half of the memory is for names. */
static bool are_too_many(const struct code *code)
{
	uint64_t bytes = code->rules.row_count * sizeof(struct code_row) +
			 code->rules.list.count * sizeof(struct unwind_rules);

	return bytes > code->limits.memory_bytes / 2;
}

/* Where the addresses of a file begin; the rows count from there. */
static uint64_t base_of(const struct code_file *file)
{
	uint64_t base = UINT64_MAX;

	for (size_t i = 0; i < file->segment_count; i++)
		if (file->segments[i].address < base)
			base = file->segments[i].address;
	return base;
}

static int learn(struct code *code, struct code_file *file, uint64_t address)
{
	struct code_question question = { .kind = CODE_ASK_RULES, .address = address };
	const struct code_rules_answer *answer = (void *)code->answer.bytes;
	ssize_t size = code_file_ask(code, file, &question);
	uint64_t base = base_of(file);

	if (size == -ENOENT)
		file->rows.has_none = true;
	if (size < 0)
		return (int)size;
	if (size != sizeof(*answer) || !code_rules_answer_is_valid(answer, address)) {
		code_file_distrust(code, file);
		return -EPROTO;
	}
	/* Rules that reach beyond the file's segments are nothing that is looked for. */
	if (answer->start < base || answer->start + answer->size - base > UINT32_MAX)
		return -ENODATA;
	if (are_too_many(code))
		drop_all(code);
	return code_rules_keep(&code->rules, &file->rows, (uint32_t)(answer->start - base), answer);
}

const struct unwind_rules *code_rules_find(struct code *code, struct code_file *file,
					   uint64_t address)
{
	uint64_t offset = address - base_of(file);
	uint32_t index;

	if (file->rows.has_none || file->state != CODE_FILE_KNOWN || offset >= UINT32_MAX)
		return NULL;
	index = rules_at(&file->rows, (uint32_t)offset);
	if (index == NOT_ASKED && learn(code, file, address) == 0)
		index = rules_at(&file->rows, (uint32_t)offset);
	return index < code->rules.list.count ? &code->rules.list.data[index] : NULL;
}
