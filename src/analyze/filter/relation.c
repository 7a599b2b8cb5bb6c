/* SPDX-License-Identifier: MIT */
#include "analyze/filter/relation.h"

#include <string.h>

#include "base/collection/arena.h"
#include "base/collection/array.h"
#include "metric/metric.h"

/* Longer operators come before their own prefixes. */
static const struct {
	const char *text;
	enum relation relation;
} relations[] = {
	{ ">=", RELATION_AT_LEAST }, { "<=", RELATION_AT_MOST }, { "!=", RELATION_UNEQUAL },
	{ ">", RELATION_ABOVE },     { "<", RELATION_BELOW },	 { "=", RELATION_EQUAL },
};

bool relation_scan(const char **cursor, enum relation *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(relations); i++) {
		size_t length = strlen(relations[i].text);

		if (strncmp(*cursor, relations[i].text, length) != 0 || (*cursor)[length] == '=')
			continue;
		*ret = relations[i].relation;
		*cursor += length;
		return true;
	}
	return false;
}

bool relation_holds(enum relation relation, double value, double bound)
{
	switch (relation) {
	case RELATION_EQUAL:
		return value == bound;
	case RELATION_UNEQUAL:
		return value != bound;
	case RELATION_ABOVE:
		return value > bound;
	case RELATION_BELOW:
		return value < bound;
	case RELATION_AT_LEAST:
		return value >= bound;
	case RELATION_AT_MOST:
		return value <= bound;
	}
	return false;
}

/* A backslash is an escape only before the quote; elsewhere it is a backslash, as in \x2d. */
static bool is_escape(const struct written *written, const char *at)
{
	return written->quote && at[0] == '\\' && at[1] == written->quote;
}

struct written written_scan(const char *at, const char *stops)
{
	struct written written = { .quote = *at == '\'' || *at == '"' ? *at : '\0' };

	written.start = at + (written.quote != '\0');
	written.end = written.start;
	if (!written.quote) {
		written.end += strcspn(at, stops);
		return written;
	}
	while (*written.end && *written.end != written.quote)
		written.end += is_escape(&written, written.end) ? 2 : 1;
	return written;
}

const char *written_at(const struct written *written, size_t position)
{
	const char *at = written->start;

	for (; position > 0; position--)
		at += is_escape(written, at) ? 2 : 1;
	return at;
}

const char *written_copy(const struct written *written, struct arena *arena)
{
	char *copy = arena_copy(arena, written->start, (size_t)(written->end - written->start));
	size_t length = 0;

	if (!copy)
		return NULL;
	for (const char *at = written->start; at < written->end; at++) {
		at += is_escape(written, at);
		copy[length++] = *at;
	}
	copy[length] = '\0';
	return copy;
}

bool metric_has_numbers(const struct metric *metric)
{
	return metric->kind != KIND_CATEGORY && metric->kind != KIND_CPUSET &&
	       metric->unit != UNIT_TEXT;
}
