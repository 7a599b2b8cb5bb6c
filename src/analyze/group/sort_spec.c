/* SPDX-License-Identifier: MIT */
#include "analyze/group/sort_spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyze/compare/comparison.h"
#include "analyze/group/selection.h"
#include "base/cleanup.h"
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
		return error_mark(parser->error, metric_unknown(name, parser->error), parser->text,
				  (size_t)(word.start - parser->text));
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

/* A group's sort key: one difference for each metric. */
struct rank {
	const struct comparison *comparison;
	const struct sort_spec *spec;
	uint32_t group;
	const struct difference *const *differences; /* NULL or not known: last */
};

static int compare_reals(double a, double b)
{
	return (a > b) - (a < b);
}

/* Whole differences are compared exactly: a double keeps only the leading digits of large ones. */
static int compare_differences(const struct difference *a, const struct difference *b)
{
	bool a_below = a->is_negative && a->magnitude, b_below = b->is_negative && b->magnitude;
	int order;

	if (a->is_real || b->is_real)
		return compare_reals(a->real, b->real);
	if (a_below != b_below)
		return a_below ? -1 : 1;
	order = (a->magnitude > b->magnitude) - (a->magnitude < b->magnitude);
	return a_below ? -order : order;
}

static int compare_by_key(const struct difference *a, const struct difference *b, bool ascending)
{
	bool a_known = a && a->known, b_known = b && b->known;
	int order;

	if (a_known != b_known)
		return a_known ? -1 : 1;
	if (!a_known)
		return 0;
	order = compare_differences(a, b);
	return ascending ? order : -order;
}

static int compare_ranks(const void *first, const void *second)
{
	const struct rank *a = first, *b = second;
	int order = 0;

	for (size_t i = 0; order == 0 && i < a->spec->count; i++)
		order = compare_by_key(a->differences[i], b->differences[i],
				       a->spec->keys[i].ascending);
	if (order == 0)
		order = strcmp(a->comparison->groups.data[a->group].key,
			       a->comparison->groups.data[b->group].key);
	return order ? order : (a->group > b->group) - (a->group < b->group);
}

/* Collects the rows of the named metrics, spec->count for each group. */
static void find_differences(const struct comparison *comparison, const struct sort_spec *spec,
			     const struct difference **ret)
{
	for (size_t i = 0; i < comparison->rows.count; i++) {
		const struct comparison_row *row = &comparison->rows.data[i];

		for (size_t k = 0; k < spec->count; k++)
			if (row->metric == &metrics[spec->keys[k].metric])
				ret[row->group * spec->count + k] = &row->delta;
	}
}

/* Finds the place of each row; `next` has one entry for each group, all 0. */
static void find_places(const struct comparison *comparison, const struct rank *ranks, size_t *next,
			size_t *ret)
{
	size_t place = 0;

	for (size_t i = 0; i < comparison->rows.count; i++)
		next[comparison->rows.data[i].group]++;
	for (size_t i = 0; i < comparison->groups.count; i++) {
		size_t count = next[ranks[i].group];

		next[ranks[i].group] = place;
		place += count;
	}
	for (size_t i = 0; i < comparison->rows.count; i++)
		ret[i] = next[comparison->rows.data[i].group]++;
}

/* Moves rows in place: they are large and may be millions, too many for a second copy. */
static void move_rows(struct comparison *comparison, size_t *places)
{
	for (size_t i = 0; i < comparison->rows.count; i++)
		while (places[i] != i) {
			size_t place = places[i];
			struct comparison_row row = comparison->rows.data[place];

			comparison->rows.data[place] = comparison->rows.data[i];
			comparison->rows.data[i] = row;
			places[i] = places[place];
			places[place] = place;
		}
}

int sort_spec_apply(const struct sort_spec *spec, struct comparison *comparison)
{
	size_t groups = comparison->groups.count;
	CLEANUP(free_pointer) struct rank *ranks = calloc(groups + 1, sizeof(*ranks));
	CLEANUP(free_pointer) size_t *next = calloc(groups + 1, sizeof(*next));
	CLEANUP(free_pointer) size_t *places = calloc(comparison->rows.count + 1, sizeof(*places));
	CLEANUP(free_pointer)
	const struct difference **differences =
		calloc(groups * spec->count + 1, sizeof(*differences));

	if (!ranks || !next || !places || !differences)
		return -ENOMEM;
	find_differences(comparison, spec, differences);
	for (size_t i = 0; i < groups; i++)
		ranks[i] = (struct rank){ comparison, spec, (uint32_t)i,
					  differences + i * spec->count };
	qsort(ranks, groups, sizeof(*ranks), compare_ranks);
	find_places(comparison, ranks, next, places);
	move_rows(comparison, places);
	return 0;
}
