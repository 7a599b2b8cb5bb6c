/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/filter/filter.h"
#include "analyze/filter/filter_match.h"
#include "analyze/group/glob.h"
#include "analyze/group/selection.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"
#include "metric/unit.h"

#define FILTER_MAX 4096 /* bytes of one text */
#define OPERATORS "= != > < >= <="
#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

struct parser {
	struct filter *filter;
	const char *text; /* all of it */
	const char *at;
	struct error *error;
	struct filter_term term;
};

/* Ends a parsing step with a sentence about the text at `at`. */
#define refuse(parser, place, ...)                                                                 \
	error_mark((parser)->error, error_set((parser)->error, -EINVAL, __VA_ARGS__),              \
		   (parser)->text, (size_t)((place) - (parser)->text))

static void skip_blanks(struct parser *parser)
{
	parser->at += strspn(parser->at, TERM_BLANKS);
}

static int unknown_name(struct parser *parser, const char *start)
{
	struct suggestion suggestion = suggest_for(parser->term.name, strlen(parser->term.name));

	for (int field = 0; field < FILTER_METRIC; field++)
		suggest(&suggestion, filter_fields[field].name);
	for (int id = 0; id < METRIC_COUNT; id++)
		suggest(&suggestion, metrics[id].name);
	return refuse(
		parser, start, "a filter has no field '%s'; %s", parser->term.name,
		suggestion_hint(&suggestion, "",
				"`taskscope metrics` and taskscope-filter(7) list what there is"));
}

static int resolve_name(struct parser *parser, const char *start)
{
	struct filter_term *term = &parser->term;
	int metric;

	for (int field = 0; field < FILTER_METRIC; field++) {
		term->field = (enum filter_field)field;
		if (strcmp(filter_fields[field].name, term->name) == 0)
			return 0;
	}
	term->field = FILTER_METRIC;
	metric = metric_find(term->name);
	if (metric < 0)
		return unknown_name(parser, start);
	term->metric = (enum metric_id)metric;
	return 0;
}

static int parse_name(struct parser *parser)
{
	const char *start = parser->at;
	size_t length = strspn(start, NAME_BYTES);

	if (length == 0)
		return refuse(parser, start,
			      "a term is NAME OPERATOR VALUE, such as pcomm=nginx or rss_bytes>1G");
	parser->term.name = arena_copy(&parser->filter->arena, start, length);
	if (!parser->term.name)
		return -ENOMEM;
	parser->at += length;
	return resolve_name(parser, start);
}

static int parse_relation(struct parser *parser)
{
	struct filter_term *term = &parser->term;
	const char *start = parser->at;

	if (!relation_scan(&parser->at, &term->relation))
		return refuse(parser, start, "'%s' needs an operator, one of " OPERATORS,
			      term->name);
	if (term->relation != RELATION_EQUAL && term->relation != RELATION_UNEQUAL &&
	    filter_term_has_names(term))
		return refuse(parser, start, "%s is a name: compare it with = or !=", term->name);
	return 0;
}

/* How a number of the term is written and stored. */
static enum metric_unit unit_of(const struct filter_term *term)
{
	return term->field == FILTER_METRIC ? metrics[term->metric].unit :
	       term->field == FILTER_cpu    ? UNIT_RATIO :
					      UNIT_ID;
}

static int refuse_unit(struct parser *parser, const char *start)
{
	const struct filter_term *term = &parser->term;

	if (term->field == FILTER_METRIC)
		return refuse(parser, start, "%s is measured in %s", term->name,
			      metric_unit_name(metrics[term->metric].unit));
	return refuse(parser, start, "%s is a plain number", term->name);
}

/* A number that the whole text between the blanks and commas is. */
static int parse_number(struct parser *parser)
{
	enum metric_unit unit = unit_of(&parser->term);
	const char *start = parser->at;
	struct filter_value value = { .has_number = true };
	bool negative = *start == '-';
	enum amount_scan scanned;

	parser->at += *start == '-' || *start == '+';
	scanned = unit_scan_amount(&parser->at, unit, &value.number);
	if (scanned == AMOUNT_NONE || (*parser->at && !strchr(TERM_BLANKS ",", *parser->at)))
		return refuse(parser, start, "%s takes %s", parser->term.name,
			      unit == UNIT_ID ? "a number" :
						"an amount such as 100, 5s, 10MiB, 3K or 20%");
	if (scanned == AMOUNT_OTHER || (scanned == AMOUNT_SHARE && unit != UNIT_RATIO))
		return refuse_unit(parser, start);
	/* A share of one: 5% and, of cpu, also a plain 5. */
	if (parser->term.field == FILTER_cpu && scanned == AMOUNT_SHARE)
		value.number *= 100;
	if (negative)
		value.number = -value.number;
	return array_append(&parser->term.values, value);
}

static int parse_glob(struct parser *parser)
{
	struct written written = written_scan(parser->at, TERM_BLANKS ",");
	struct filter_value value = { 0 };
	struct glob_fault fault;
	uint64_t number;
	int status;

	if (written.quote && !*written.end)
		return refuse(parser, parser->at, "a quote is not closed");
	if (written.end == written.start)
		return refuse(parser, written.start, "the value of '%s' is missing",
			      parser->term.name);
	value.text = written_copy(&written, &parser->filter->arena);
	if (!value.text)
		return -ENOMEM;
	status = glob_new(value.text, &value.glob, &fault);
	if (status == -EINVAL)
		return refuse(parser, written_at(&written, fault.position),
			      "the glob '%s' is not valid: %s", value.text, fault.reason);
	if (status < 0)
		return status;
	if (filter_term_may_have_number(&parser->term) && parse_u64(value.text, &number)) {
		value.number = (double)number;
		value.has_number = true;
	}
	parser->at = written_after(&written);
	status = array_append(&parser->term.values, value);
	if (status < 0)
		glob_free(value.glob);
	return status;
}

static int parse_values(struct parser *parser)
{
	const struct filter_term *term = &parser->term;
	int status;

	do {
		status = filter_term_has_names(term) ? parse_glob(parser) : parse_number(parser);
	} while (status == 0 && *parser->at == ',' && parser->at++);
	if (status < 0)
		return status;
	if (*parser->at && !strchr(TERM_BLANKS, *parser->at))
		return refuse(parser, parser->at, "a blank or a comma must follow the value");
	if (term->values.count > 1 && term->relation != RELATION_EQUAL &&
	    term->relation != RELATION_UNEQUAL)
		return refuse(parser, parser->at, "several values go with = and != only");
	return 0;
}

static void term_clear(struct filter_term *term)
{
	for (size_t i = 0; i < term->values.count; i++)
		glob_free(term->values.data[i].glob);
	array_free(&term->values);
}

static int parse_term(struct parser *parser)
{
	static int (*const steps[])(struct parser *) = { parse_name, parse_relation, parse_values };
	const char *start = parser->at;
	int status = 0;

	parser->term = (struct filter_term){ 0 };
	if (parser->filter->terms.count == FILTER_TERMS_MAX)
		return refuse(parser, start, "a filter has at most %d terms", FILTER_TERMS_MAX);
	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(steps); i++) {
		skip_blanks(parser);
		status = steps[i](parser);
	}
	if (status == 0)
		status = array_append(&parser->filter->terms, parser->term);
	if (status < 0)
		term_clear(&parser->term);
	return status;
}

/* Keeps what was given, without the blanks around it. */
static int keep_text(struct filter *filter, const char *text)
{
	size_t length;

	text += strspn(text, TERM_BLANKS);
	length = strlen(text);
	while (length && strchr(TERM_BLANKS, text[length - 1]))
		length--;
	if (!filter->text)
		filter->text = arena_alloc(&filter->arena, sizeof(*filter->text));
	if (!filter->text)
		return -ENOMEM;
	text_append_string(filter->text, filter->text->length ? " " : "");
	text_append(filter->text, text, length);
	return filter->text->failed ? -ENOMEM : 0;
}

int filter_add(struct filter *filter, const char *text, struct error *error)
{
	struct parser parser = { .filter = filter, .text = text, .at = text, .error = error };
	int status = 0;

	if (strnlen(text, FILTER_MAX + 1) > FILTER_MAX)
		return error_set(error, -EINVAL, "a filter is at most %d bytes long", FILTER_MAX);
	skip_blanks(&parser);
	if (!*parser.at)
		return error_set(error, -EINVAL,
				 "the filter is empty: write terms such as pcomm=nginx");
	while (status == 0 && *parser.at) {
		status = parse_term(&parser);
		skip_blanks(&parser);
	}
	return status < 0 ? status : keep_text(filter, text);
}

void filter_clear(struct filter *filter)
{
	for (size_t i = 0; i < filter->terms.count; i++)
		term_clear(&filter->terms.data[i]);
	array_free(&filter->terms);
	if (filter->text)
		text_free(filter->text);
	arena_clear(&filter->arena);
}

void filter_append_literal(struct text *out, const char *value, const char *glob)
{
	const char *quote = !*value || strpbrk(value, TERM_BLANKS ",'\"") ? "\"" : "";

	text_append_string(out, quote);
	for (; *value; value++) {
		/* A backslash before the closing quote would be an escape. */
		bool ends = *quote && *value == '\\' && !value[1];

		if (strchr("*?[", *value) || ends)
			text_format(out, "[%c]", *value);
		else
			text_format(out, "%s%c", *value == '"' ? "\\" : "", *value);
	}
	text_format(out, "%s%s", glob, quote);
}
