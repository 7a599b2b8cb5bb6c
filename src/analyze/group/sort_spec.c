/* SPDX-License-Identifier: MIT */
#include "analyze/group/sort_spec.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "analyze/group/selection.h"
#include "base/error.h"

#define BLANKS " \t"
#define NAME_SIZE 64 /* bytes; longer than every metric's name */

/* A part of the text, without blanks around it. */
struct word {
	const char *start;
	size_t length;
};

struct parser {
	const char *text;
	struct error *error;
	struct sort_spec spec;
};

#define refuse(parser, word, ...)                                                                  \
	error_mark((parser)->error, error_set((parser)->error, -EINVAL, __VA_ARGS__),              \
		   (parser)->text, (size_t)((word).start - (parser)->text))

static struct word word_between(const char *start, const char *end)
{
	while (start < end && strchr(BLANKS, *start))
		start++;
	while (end > start && strchr(BLANKS, end[-1]))
		end--;
	return (struct word){ start, (size_t)(end - start) };
}

static bool word_is(struct word word, const char *name)
{
	return word.length == strlen(name) && strncasecmp(word.start, name, word.length) == 0;
}

static int parse_direction(struct parser *parser, struct word word, struct sort_key *key)
{
	key->ascending = word_is(word, "asc");
	if (key->ascending || word_is(word, "desc"))
		return 0;
	return refuse(parser, word, "the direction must be asc or desc, not '%.*s'",
		      (int)word.length, word.start);
}

static bool has_order(const struct metric *metric)
{
	return metric->kind != KIND_CATEGORY && metric->kind != KIND_CPUSET &&
	       metric->unit != UNIT_ID;
}

static int parse_metric(struct parser *parser, struct word word, struct sort_key *key)
{
	char name[NAME_SIZE] = "";
	int id;

	if (word.length == 0)
		return refuse(parser, word, "the name of a metric is missing");
	memcpy(name, word.start, word.length < NAME_SIZE ? word.length : NAME_SIZE - 1);
	id = metric_find(name);
	if (id < 0)
		return error_mark(parser->error, metric_unknown(name, "", parser->error),
				  parser->text, (size_t)(word.start - parser->text));
	if (!has_order(&metrics[id]))
		return refuse(parser, word, "cannot sort by %s: its values are names, not numbers",
			      name);
	for (size_t i = 0; i < parser->spec.count; i++)
		if (parser->spec.keys[i].metric == (enum metric_id)id)
			return refuse(parser, word, "%s is named twice", name);
	key->metric = (enum metric_id)id;
	return 0;
}

/* METRIC or METRIC:DIRECTION. */
static int parse_key(struct parser *parser, const char *start, const char *end)
{
	const char *colon = memchr(start, ':', (size_t)(end - start));
	struct word name = word_between(start, colon ? colon : end);
	struct sort_key key = { .ascending = false };
	int status = parse_metric(parser, name, &key);

	if (status == 0 && colon)
		status = parse_direction(parser, word_between(colon + 1, end), &key);
	if (status < 0)
		return status;
	if (parser->spec.count == SORT_KEYS_MAX)
		return refuse(parser, name, "groups can be ordered by at most %d metrics",
			      SORT_KEYS_MAX);
	parser->spec.keys[parser->spec.count++] = key;
	return 0;
}

int sort_spec_parse(const char *text, struct sort_spec *ret, struct error *error)
{
	struct parser parser = { .text = text, .error = error };
	const char *start = text;

	while (start) {
		const char *end = start + strcspn(start, ",");
		int status = parse_key(&parser, start, end);

		if (status < 0)
			return status;
		start = *end ? end + 1 : NULL;
	}
	*ret = parser.spec;
	return 0;
}
