/* SPDX-License-Identifier: MIT */
#include "collect/proc/proc_parse.h"

#include <string.h>

#include "base/text.h"
#include "collect/gate.h"
#include "host/proc/task_text.h"

#define RULE_LENGTH 16 /* dashes; longer than any name, so that no name looks like it */
#define NS_PER_MS 1000000
#define DOTTED_DIGITS 6
#define BLOCKED_KEY "sum_block_runtime"

static unsigned key_slot(const char *key, size_t length)
{
	unsigned first = (unsigned char)key[0];
	unsigned last = (unsigned char)key[length - 1];

	return (first * 31 + last * 7 + (unsigned)length) % PROC_SLOTS;
}

static void plan_add(struct proc_plan *plan, enum metric_id id, const struct metric_source *source,
		     uint64_t *mask)
{
	struct proc_item *item = &plan->items[plan->count];
	uint8_t *slot;

	if (plan->count == PROC_ITEMS)
		return;
	*item = (struct proc_item){
		.id = id,
		.key = source->key,
		.field = source->field,
		.raw = source->raw,
	};
	*mask |= 1ull << plan->count++;
	if (!item->key)
		return;
	item->key_length = strlen(item->key);
	slot = &plan->slots[key_slot(item->key, item->key_length)];
	item->next = *slot;
	*slot = (uint8_t)plan->count;
}

static int find_key(const struct proc_plan *plan, const char *key)
{
	for (unsigned i = 0; i < plan->count; i++)
		if (plan->items[i].key && strcmp(plan->items[i].key, key) == 0)
			return (int)i;
	return -1;
}

void proc_plan_init(struct proc_plan *plan, enum metric_place place, enum metric_place group_place,
		    const struct gate *gates)
{
	memset(plan, 0, sizeof(*plan));
	for (int id = 0; id < METRIC_STORED; id++) {
		const struct metric_source *own = metric_source(&metrics[id], place);
		const struct metric_source *group = NULL;

		if (gates && metrics[id].gate != GATE_NONE && !gates[metrics[id].gate].open)
			continue;
		if (group_place)
			group = metric_source(&metrics[id], group_place);
		if (own)
			plan_add(plan, id, own, &plan->own);
		if (group)
			plan_add(plan, id, group, &plan->group);
	}
	plan->blocked = find_key(plan, BLOCKED_KEY);
}

static bool scan_letter(const char **cursor, uint64_t *ret)
{
	char letter = **cursor;

	if (!((letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z')))
		return false;
	*ret = (unsigned char)letter;
	(*cursor)++;
	return true;
}

static bool scan_level(const char **cursor, uint64_t *ret)
{
	int64_t level;

	if (!scan_i64(cursor, &level))
		return false;
	*ret = (uint64_t)level;
	return true;
}

static bool scan_second(const char **cursor, uint64_t *ret)
{
	uint64_t first;

	if (!scan_u64(cursor, &first))
		return false;
	*cursor = task_text_skip_blanks(*cursor);
	return scan_u64(cursor, ret);
}

/* Reads any number of digits after the dot as millionths. */
static uint64_t scan_millionths(const char **cursor)
{
	uint64_t millionths = 0;
	unsigned digits = 0;

	for (; **cursor >= '0' && **cursor <= '9'; (*cursor)++)
		if (digits++ < DOTTED_DIGITS)
			millionths = millionths * 10 + (uint64_t)(**cursor - '0');
	for (; digits < DOTTED_DIGITS; digits++)
		millionths *= 10;
	return millionths;
}

/*
 * Reads milliseconds, a dot, nanoseconds.  The kernel may put the sign of a negative time on
 * either part.
 */
static bool scan_dotted(const char **cursor, uint64_t *ret, unsigned *negative)
{
	const char *start = *cursor;
	const char *digits = start + (*start == '-');
	uint64_t whole, total;

	if (!scan_u64(&digits, &whole))
		return false;
	if (*start == '-' || (*digits == '.' && digits[1] == '-')) {
		(*negative)++;
		return false;
	}
	*cursor = digits;
	*ret = whole;
	if (*digits != '.')
		return true;
	(*cursor)++;
	if (__builtin_mul_overflow(whole, NS_PER_MS, &total) ||
	    __builtin_add_overflow(total, scan_millionths(cursor), &total))
		return false;
	*ret = total;
	return true;
}

static bool scan_raw(const char *cursor, enum raw_unit raw, uint64_t *ret, unsigned *negative)
{
	bool scanned;

	switch (raw) {
	case RAW_LEVEL:
		scanned = scan_level(&cursor, ret);
		break;
	case RAW_STATE:
		scanned = scan_letter(&cursor, ret);
		break;
	case RAW_SECOND:
		scanned = scan_second(&cursor, ret);
		break;
	case RAW_DOTTED:
	case RAW_SLEEP:
		scanned = scan_dotted(&cursor, ret, negative);
		break;
	default:
		scanned = scan_u64(&cursor, ret);
		break;
	}
	return scanned && task_text_is_end(*cursor);
}

/*
 * If a key appears again, its value replaces the first; if that does not parse, the value is
 * absent.
 */
static void take_value(const struct proc_plan *plan, unsigned i, const char *text,
		       struct proc_values *ret)
{
	if (scan_raw(text, plan->items[i].raw, &ret->raw[i], &ret->negative))
		ret->present |= 1ull << i;
	else
		ret->present &= ~(1ull << i);
}

static void values_clear(struct proc_values *values)
{
	values->present = 0;
	values->negative = 0;
}

/* Takes values from fields by their numbers.  The fields from `first` up to before `end` exist. */
static void take_fields(const char *const *fields, unsigned first, unsigned end,
			const struct proc_plan *plan, struct proc_values *ret)
{
	for (unsigned i = 0; i < plan->count; i++) {
		unsigned field = plan->items[i].field;

		if (field >= first && field < end)
			take_value(plan, i, fields[field], ret);
	}
}

void proc_parse_stat(const char *text, const struct proc_plan *plan, struct proc_values *ret)
{
	struct task_stat stat;

	values_clear(ret);
	if (task_stat_parse(text, &stat))
		take_fields(stat.fields, TASK_STAT_STATE, stat.end, plan, ret);
}

void proc_parse_row(const char *text, const struct proc_plan *plan, struct proc_values *ret)
{
	const char *fields[TASK_STAT_FIELDS];

	values_clear(ret);
	take_fields(fields, 1, task_row_split(text, 1, TASK_STAT_FIELDS, fields), plan, ret);
}

static void take_key(const struct proc_plan *plan, const char *key, size_t length,
		     const char *value, struct proc_values *ret)
{
	for (unsigned i = length ? plan->slots[key_slot(key, length)] : 0; i;
	     i = plan->items[i - 1].next) {
		const struct proc_item *item = &plan->items[i - 1];

		if (item->key_length == length && memcmp(item->key, key, length) == 0)
			take_value(plan, i - 1, value, ret);
	}
}

static const char *next_line(const char *cursor)
{
	cursor = strchrnul(cursor, '\n');
	return *cursor ? cursor + 1 : cursor;
}

void proc_parse_keyed(const char *text, const struct proc_plan *plan, struct proc_values *ret)
{
	values_clear(ret);
	for (; *text; text = next_line(text)) {
		const char *key = text;

		while (*text && *text != ':' && *text != '\n')
			text++;
		if (*text == ':')
			take_key(plan, key, (size_t)(text - key), task_text_skip_blanks(text + 1),
				 ret);
	}
}

/* The text after the line of dashes; NULL when there is no such line. */
static const char *after_rule(const char *text)
{
	for (; *text; text = next_line(text)) {
		size_t dashes = strspn(text, "-");

		if (dashes >= RULE_LENGTH && text[dashes] == '\n')
			return text + dashes + 1;
	}
	return NULL;
}

/* One line of sched, given where its key starts and ends and where its last dot is. */
static void take_sched_key(const struct proc_plan *plan, const char *key, const char *end,
			   const char *dot, struct proc_values *ret)
{
	const char *colon = task_text_skip_blanks(end);
	const char *value;

	if (*colon != ':')
		return;
	value = task_text_skip_blanks(colon + 1);
	if (dot)
		take_key(plan, dot + 1, (size_t)(end - dot - 1), value, ret);
	take_key(plan, key, (size_t)(end - key), value, ret);
}

/* The kernel counts blocked time as sleep too. */
static void subtract_blocked(const struct proc_plan *plan, struct proc_values *ret)
{
	int blocked = plan->blocked;

	for (unsigned i = 0; i < plan->count; i++) {
		if (plan->items[i].raw != RAW_SLEEP || !(ret->present >> i & 1))
			continue;
		if (blocked < 0 || !(ret->present >> blocked & 1))
			ret->present &= ~(1ull << i);
		else if (ret->raw[i] > ret->raw[blocked])
			ret->raw[i] -= ret->raw[blocked];
		else
			ret->raw[i] = 0;
	}
}

void proc_parse_sched(const char *text, const struct proc_plan *plan, struct proc_values *ret)
{
	values_clear(ret);
	text = after_rule(text);
	for (; text && *text; text = next_line(text)) {
		const char *key = text;
		const char *dot = NULL;

		for (; *text && *text != ':' && !task_text_is_end(*text); text++)
			if (*text == '.')
				dot = text;
		take_sched_key(plan, key, text, dot, ret);
	}
	subtract_blocked(plan, ret);
}

bool proc_parse_identity(const char *text, struct proc_identity *ret)
{
	struct task_stat stat;
	struct proc_identity identity = { 0 };

	if (!task_stat_parse_to(text, TASK_STAT_START, &stat) ||
	    !task_stat_number(&stat, TASK_STAT_START, &identity.start_ticks))
		return false;
	identity.comm = stat.comm;
	identity.comm_length = stat.comm_length;
	(void)task_stat_number(&stat, TASK_STAT_THREADS, &identity.threads);
	*ret = identity;
	return true;
}

bool proc_parse_limits(const char *text, uint64_t *ret)
{
	static const char name[] = "Max open files";
	static const char none[] = "unlimited";

	for (; *text; text = next_line(text)) {
		uint64_t limit = UINT64_MAX;

		if (strncmp(text, name, sizeof(name) - 1) != 0 ||
		    !task_text_is_end(text[sizeof(name) - 1]))
			continue;
		text = task_text_skip_blanks(text + sizeof(name) - 1);
		if (strncmp(text, none, sizeof(none) - 1) == 0)
			text += sizeof(none) - 1;
		else if (!scan_u64(&text, &limit))
			return false;
		if (!task_text_is_end(*text))
			return false;
		*ret = limit;
		return true;
	}
	return false;
}
