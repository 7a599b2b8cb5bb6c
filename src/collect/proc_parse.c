/* SPDX-License-Identifier: MIT */
#include "collect/proc_parse.h"

#include <string.h>

#include "base/text.h"
#include "collect/gate.h"

#define STAT_FIELDS 64	  /* more than any kernel has */
#define STAT_AFTER_NAME 3 /* number of the field that follows the name */
#define STAT_THREADS 20
#define STAT_START_TIME 22
#define RULE_LENGTH 16 /* dashes; longer than any name, so that no name can be a rule */
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

static const char *skip_blanks(const char *cursor)
{
	while (*cursor == ' ' || *cursor == '\t')
		cursor++;
	return cursor;
}

/* Something must end a number, lest one that was cut off is taken for a smaller one. */
static bool is_end(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n';
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
	*cursor = skip_blanks(*cursor);
	return scan_u64(cursor, ret);
}

/* The digits after the dot as millionths, however many there are. */
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

/* Milliseconds, a dot, nanoseconds; the kernel puts the sign of a negative one on either part. */
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
	return scanned && is_end(*cursor);
}

/* A value that comes again replaces the first, and takes it away if it does not parse. */
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

/* Takes values from fields in a row, the first of which has this number. */
static void take_fields(const char *cursor, unsigned number, const struct proc_plan *plan,
			struct proc_values *ret)
{
	const char *fields[STAT_FIELDS];
	unsigned count = 0;

	for (cursor = skip_blanks(cursor); *cursor && *cursor != '\n' && count < STAT_FIELDS;
	     cursor = skip_blanks(cursor)) {
		fields[count++] = cursor;
		while (*cursor && !is_end(*cursor))
			cursor++;
	}
	for (unsigned i = 0; i < plan->count; i++) {
		unsigned field = plan->items[i].field;

		if (field >= number && field - number < count)
			take_value(plan, i, fields[field - number], ret);
	}
}

void proc_parse_stat(const char *text, const struct proc_plan *plan, struct proc_values *ret)
{
	const char *name_end = strrchr(text, ')');

	values_clear(ret);
	if (name_end)
		take_fields(name_end + 1, STAT_AFTER_NAME, plan, ret);
}

void proc_parse_row(const char *text, const struct proc_plan *plan, struct proc_values *ret)
{
	values_clear(ret);
	take_fields(text, 1, plan, ret);
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
			take_key(plan, key, (size_t)(text - key), skip_blanks(text + 1), ret);
	}
}

/* What follows the line of dashes; NULL when there is none. */
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
	const char *colon = skip_blanks(end);
	const char *value;

	if (*colon != ':')
		return;
	value = skip_blanks(colon + 1);
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

		for (; *text && *text != ':' && !is_end(*text); text++)
			if (*text == '.')
				dot = text;
		take_sched_key(plan, key, text, dot, ret);
	}
	subtract_blocked(plan, ret);
}

static bool stat_number(const char *cursor, unsigned steps, uint64_t *ret)
{
	cursor = skip_blanks(cursor);
	for (; steps; steps--) {
		while (*cursor && !is_end(*cursor))
			cursor++;
		cursor = skip_blanks(cursor);
	}
	return scan_u64(&cursor, ret) && is_end(*cursor);
}

bool proc_parse_identity(const char *text, struct proc_identity *ret)
{
	const char *open = strchr(text, '(');
	const char *close = strrchr(text, ')');
	struct proc_identity identity = { 0 };

	if (!open || !close || close < open)
		return false;
	identity.comm = open + 1;
	identity.comm_length = (size_t)(close - open - 1);
	if (!stat_number(close + 1, STAT_START_TIME - STAT_AFTER_NAME, &identity.start_ticks))
		return false;
	(void)stat_number(close + 1, STAT_THREADS - STAT_AFTER_NAME, &identity.threads);
	*ret = identity;
	return true;
}

const char *proc_find_value(const char *text, const char *key, size_t *ret_length)
{
	size_t key_length = strlen(key);

	for (; *text; text = next_line(text)) {
		if (strncmp(text, key, key_length) != 0 || text[key_length] != ':')
			continue;
		text = skip_blanks(text + key_length + 1);
		*ret_length = strcspn(text, "\n");
		return text;
	}
	return NULL;
}

bool proc_parse_limits(const char *text, uint64_t *ret)
{
	static const char name[] = "Max open files";
	static const char none[] = "unlimited";

	for (; *text; text = next_line(text)) {
		uint64_t limit = UINT64_MAX;

		if (strncmp(text, name, sizeof(name) - 1) != 0 || !is_end(text[sizeof(name) - 1]))
			continue;
		text = skip_blanks(text + sizeof(name) - 1);
		if (strncmp(text, none, sizeof(none) - 1) == 0)
			text += sizeof(none) - 1;
		else if (!scan_u64(&text, &limit))
			return false;
		if (!is_end(*text))
			return false;
		*ret = limit;
		return true;
	}
	return false;
}
