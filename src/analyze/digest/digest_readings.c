/* SPDX-License-Identifier: MIT */
/* Rules of a digest about settings, limits and what was reached of them, and other readings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyze/digest/digest_parts.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "metric/unit.h"

/* Words of a setting may be long: the list of the scheduler's features. */
#define WORDS_MAX 24

static void append_words(struct text *out, const char *words)
{
	size_t length = words ? strlen(words) : 0, cut = length;

	if (!words) {
		text_append_string(out, "not known");
		return;
	}
	if (length > WORDS_MAX) {
		cut = WORDS_MAX - 1;
		while (cut > 0 && ((unsigned char)words[cut] & 0xc0) == 0x80)
			cut--;
	}
	text_append_escaped(out, words, cut);
	text_append_string(out, cut < length ? "…" : "");
}

static void append_host_value(struct text *out, const struct host_change *change, const char *words)
{
	uint64_t number;

	if (change->is_number && words && parse_u64(words, &number))
		unit_format(out, change->unit, number);
	else
		append_words(out, words);
}

static int say_more(struct digester *digester, const struct digest_rule *rule, size_t more,
		    const char *what)
{
	CLEANUP(text_free) struct text words = { 0 };

	if (more == 0)
		return 0;
	text_format(&words, "%zu more %s%s changed", more, what, more == 1 ? "" : "s");
	return digest_say(digester, (struct digest_line){ .resource = rule->resource }, "", &words);
}

int digest_host_changes(struct digester *digester, const struct digest_rule *rule)
{
	size_t count = digester->base->host_changes.count, said = 0;
	int status = 0;

	for (; said < count && said < rule->most && status == 0; said++) {
		const struct host_change *change = &digester->base->host_changes.data[said];
		struct digest_line line = { .resource = rule->resource,
					    .who = change->name,
					    .section = COMPARE_HOST,
					    .group = "host",
					    .metric = change->name };
		CLEANUP(text_free) struct text after = { 0 };

		text_append_string(&after, " ");
		append_host_value(&after, change, change->before);
		text_append_string(&after, " → ");
		append_host_value(&after, change, change->after);
		status = digest_say(digester, line, "host: ", &after);
	}
	return status < 0 ? status : say_more(digester, rule, count - said, "setting");
}

static void append_value(struct text *out, const struct metric *metric,
			 const struct compared_value *value)
{
	switch (value->shape) {
	case VALUE_NUMBER:
		unit_format(out, metric->unit, value->number);
		break;
	case VALUE_REAL:
		unit_format_real(out, metric->unit, value->real);
		break;
	case VALUE_RANGE:
		unit_format_real(out, metric->unit, (double)value->min);
		if (value->max == value->min)
			break;
		text_append_string(out, "..");
		unit_format_real(out, metric->unit, (double)value->max);
		break;
	case VALUE_TEXT:
		append_words(out, value->text);
		break;
	case VALUE_UNLIMITED:
		text_append_string(out, "max");
		break;
	case VALUE_ABSENT:
		text_append_string(out, "not known");
		break;
	}
}

static int say_limit(struct digester *digester, const struct digest_rule *rule,
		     const struct comparison_row *row)
{
	struct digest_line line = { .resource = rule->resource,
				    .who = digester->readings->groups.data[row->group].key,
				    .section = row->section,
				    .metric = row->metric->name };
	CLEANUP(text_free) struct text after = { 0 };

	if (row->delta.known) {
		line.has_delta = true;
		line.delta = row->delta.real;
	}
	text_format(&after, ": %s ", row->metric->name);
	append_value(&after, row->metric, &row->before);
	text_append_string(&after, " → ");
	append_value(&after, row->metric, &row->after);
	return digest_say(digester, line, "", &after);
}

/* What follows from another limit is not said again. */
static bool is_echo(const struct metric *metric)
{
	static const char *const ends[] = { ".effective", "period_usec", "weight.nice" };
	size_t length = strlen(metric->name);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		size_t end = strlen(ends[i]);

		if (length > end && strcmp(metric->name + length - end, ends[i]) == 0)
			return true;
	}
	return false;
}

int digest_limits(struct digester *digester, const struct digest_rule *rule)
{
	const struct comparison *readings = digester->readings;
	size_t said = 0, more = 0;
	int status = 0;

	for (size_t i = 0; i < readings->rows.count && status == 0; i++) {
		const struct comparison_row *row = &readings->rows.data[i];

		if (row->section != COMPARE_LIMITS || row->state != ROW_CHANGED ||
		    is_echo(row->metric))
			continue;
		if (said++ < rule->most)
			status = say_limit(digester, rule, row);
		else
			more++;
	}
	return status < 0 ? status : say_more(digester, rule, more, "limit");
}

bool digest_has_pattern(const char *name, const char *pattern, const char **word, size_t *length)
{
	size_t head = strcspn(pattern, "*");

	*word = NULL;
	if (!pattern[head])
		return strcmp(name, pattern) == 0;
	if (strncmp(name, pattern, head) != 0)
		return false;
	*word = name + head;
	*length = strcspn(*word, " ");
	return strcmp(*word + *length, pattern + head + 1) == 0;
}

static double real_of(const struct compared_value *value)
{
	if (value->shape == VALUE_REAL)
		return value->real;
	return value->shape == VALUE_NUMBER ? (double)value->number : 0;
}

/* What a row of a reading moved; false when it is not known or did not grow. */
static bool move_reading(const struct digester *digester, const struct comparison_row *row,
			 struct mover *mover)
{
	if (!row->delta.known || row->delta.real <= 0)
		return false;
	mover->moved = row->delta.real;
	mover->has_before = digester->form != DIGEST_DONE;
	mover->before = real_of(&row->before);
	mover->after = real_of(&row->after);
	return true;
}

static int say_reading(struct digester *digester, const struct digest_rule *rule,
		       const struct comparison_row *row, const char *word, size_t length)
{
	struct mover mover = { .who = digester->readings->groups.data[row->group].key,
			       .section = row->section,
			       .metric = row->metric };
	char name[64];

	if (!move_reading(digester, row, &mover) || mover.moved < rule->floor * digester->seconds)
		return 0;
	if (word) {
		snprintf(name, sizeof(name), "%s %.*s", rule->noun, (int)length, word);
		mover.group = "host";
		mover.who = name;
	}
	return digest_say_work(digester, rule, &mover);
}

/* What processes of the host send to each other does not use the network. */
static bool is_loopback(const struct digest_rule *rule, const char *word, size_t length)
{
	return rule->noun && strcmp(rule->noun, DIGEST_INTERFACE) == 0 && length == 2 &&
	       memcmp(word, "lo", 2) == 0;
}

/* Totals of cgroups and hosts that began at different times say nothing. */
int digest_reading(struct digester *digester, const struct digest_rule *rule)
{
	const struct comparison *readings = digester->readings;
	size_t first = digester->digest->lines.count;
	int status = 0;

	if (digester->form == DIGEST_LIVES)
		return 0;
	for (size_t i = 0; i < readings->rows.count && status == 0; i++) {
		const struct comparison_row *row = &readings->rows.data[i];
		const char *word;
		size_t length;

		if (digester->digest->lines.count - first >= rule->most)
			break;
		if (digest_has_pattern(row->metric->name, rule->reading, &word, &length) &&
		    !is_loopback(rule, word, length))
			status = say_reading(digester, rule, row, word, length);
	}
	return status;
}
