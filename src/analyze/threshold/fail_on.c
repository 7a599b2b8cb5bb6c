/* SPDX-License-Identifier: MIT */
#include "analyze/threshold/fail_on.h"

#include <errno.h>
#include <string.h>

#include "analyze/group/glob.h"
#include "analyze/group/selection.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/suggest.h"
#include "metric/reading.h"
#include "metric/unit.h"

#define EXPRESSION_MAX 2048 /* bytes */
#define OPERATORS "> < >= <="

struct parser {
	struct fail_on *fail_on;
	const char *text; /* all of it */
	const char *at;
	struct error *error;
	struct fail_condition condition;
};

/* Adds the position of the mistake to the sentence that was just set. */
static int mark(struct parser *parser, const char *at, int code)
{
	return error_mark(parser->error, code, parser->text, (size_t)(at - parser->text));
}

/* Ends a parsing step with a sentence about the text at `at`. */
#define refuse(parser, at, ...)                                                                    \
	mark((parser), (at), error_set((parser)->error, -EINVAL, __VA_ARGS__))

static const char *copy(struct parser *parser, const char *start, size_t length)
{
	return arena_copy(&parser->fail_on->arena, start, length);
}

static void skip_blanks(struct parser *parser)
{
	parser->at += strspn(parser->at, TERM_BLANKS);
}

static int unknown_axis(struct parser *parser, size_t length)
{
	struct suggestion suggestion = suggest_for(parser->at, length);

	suggest_list(&suggestion, "group|" GROUP_AXES);
	return refuse(parser, parser->at,
		      "groups are named by group|" GROUP_AXES ", not by '%.*s'%s%s", (int)length,
		      parser->at, suggestion.best ? "; " : "",
		      suggestion_hint(&suggestion, "", ""));
}

static int parse_axis(struct parser *parser, size_t length)
{
	char name[32] = "";
	int axis;

	if (length < sizeof(name))
		memcpy(name, parser->at, length);
	if (strcmp(name, "group") == 0)
		return 0;
	axis = group_axis_find(name);
	if (axis < 0)
		return unknown_axis(parser, length);
	parser->condition.has_axis = true;
	parser->condition.axis = (enum group_axis)axis;
	return 0;
}

static int check_glob(struct parser *parser, const struct written *written)
{
	CLEANUP(glob_free_pointer) struct glob *glob = NULL;
	struct glob_fault fault;
	int status = glob_new(parser->condition.glob, &glob, &fault);

	if (status != -EINVAL)
		return status;
	return refuse(parser, written_at(written, fault.position), "the glob '%s' is not valid: %s",
		      parser->condition.glob, fault.reason);
}

static bool has_placeholder(const char *glob)
{
	return strstr(glob, "{N}") || strstr(glob, "{H}") || strstr(glob, "{I}");
}

static int parse_glob(struct parser *parser)
{
	struct written written = written_scan(parser->at, TERM_BLANKS);

	if (written.quote && !*written.end)
		return refuse(parser, parser->at, "a quote is not closed");
	if (written.end == written.start)
		return refuse(parser, written.start, "the name of a group is missing");
	parser->condition.glob = written_copy(&written, &parser->fail_on->arena);
	if (!parser->condition.glob)
		return -ENOMEM;
	parser->condition.has_placeholder = has_placeholder(parser->condition.glob);
	parser->at = written_after(&written);
	return check_glob(parser, &written);
}

/* Parses AXIS=GLOB, if it is there. */
static int parse_group(struct parser *parser)
{
	size_t length = strspn(parser->at, "abcdefghijklmnopqrstuvwxyz-_");
	int status;

	if (length == 0 || parser->at[length] != '=' || parser->at[length + 1] == '=')
		return 0;
	status = parse_axis(parser, length);
	if (status < 0)
		return status;
	parser->at += length + 1;
	return parse_glob(parser);
}

/* The metric or the reading of that name; NULL without memory. */
static const struct metric *describe(struct parser *parser, const char *name)
{
	int id = metric_find(name);
	struct metric *reading;

	if (id >= 0)
		return &metrics[id];
	reading = arena_alloc(&parser->fail_on->arena, sizeof(*reading));
	if (reading)
		*reading = reading_metric(name);
	return reading;
}

static int resolve_name(struct parser *parser, const char *name, const char *start)
{
	struct fail_condition *condition = &parser->condition;

	condition->metric = describe(parser, name);
	if (!condition->metric)
		return -ENOMEM;
	if (metric_is_reading(condition->metric) && !reading_is_known(name))
		return mark(parser, start, metric_unknown(name, "", parser->error));
	if (!metric_has_numbers(condition->metric) || condition->metric->unit == UNIT_ID)
		return refuse(parser, start,
			      "%s cannot be compared with a number: its values are names", name);
	return 0;
}

/* Takes everything up to the operator: names of readings have several words. */
static int parse_name(struct parser *parser)
{
	const char *start = parser->at;
	size_t length = strcspn(start, "<>=!");
	const char *name;

	parser->at += length;
	while (length > 0 && strchr(TERM_BLANKS, start[length - 1]))
		length--;
	if (length == 0)
		return refuse(parser, start, "the name of a metric is missing");
	if (!*parser->at)
		return refuse(parser, parser->at, "an operator is missing, one of " OPERATORS);
	name = copy(parser, start, length);
	return name ? resolve_name(parser, name, start) : -ENOMEM;
}

static int parse_relation(struct parser *parser)
{
	const char *start = parser->at;
	enum relation *relation = &parser->condition.relation;

	if (!relation_scan(&parser->at, relation) || *relation == RELATION_EQUAL ||
	    *relation == RELATION_UNEQUAL)
		return refuse(parser, start, "the operator must be one of " OPERATORS);
	return 0;
}

static int parse_rate(struct parser *parser)
{
	if (strncmp(parser->at, "/s", 2) != 0)
		return 0;
	if (parser->condition.metric->kind != KIND_COUNTER)
		return refuse(parser, parser->at, "%s has no rate: it does not count up",
			      parser->condition.metric->name);
	parser->condition.per_second = true;
	parser->at += 2;
	return 0;
}

static int parse_amount(struct parser *parser)
{
	struct fail_condition *condition = &parser->condition;
	bool negative = *parser->at == '-';
	const char *start = parser->at;

	parser->at += *parser->at == '-' || *parser->at == '+';
	switch (unit_scan_amount(&parser->at, condition->metric->unit, &condition->bound)) {
	case AMOUNT_NONE:
		return refuse(parser, start,
			      "the value must be an amount such as +20%%, -5ms, 10MiB, 3K or 100");
	case AMOUNT_OTHER:
		return refuse(parser, start, "%s is measured in %s", condition->metric->name,
			      metric_unit_name(condition->metric->unit));
	case AMOUNT_SHARE:
		condition->is_relative = true;
		break;
	case AMOUNT_FITS:
		break;
	}
	if (negative)
		condition->bound = -condition->bound;
	return parse_rate(parser);
}

static int parse_end(struct parser *parser)
{
	if (!*parser->at)
		return 0;
	return refuse(parser, parser->at,
		      "nothing may follow the value; give --fail-on once for each "
		      "condition");
}

static int parse(struct parser *parser)
{
	static int (*const steps[])(struct parser *) = {
		parse_group, parse_name, parse_relation, parse_amount, parse_end,
	};
	int status = 0;

	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(steps); i++) {
		skip_blanks(parser);
		status = steps[i](parser);
	}
	return status;
}

int fail_on_add(struct fail_on *fail_on, const char *expression, struct error *error)
{
	struct parser parser = {
		.fail_on = fail_on,
		.text = expression,
		.at = expression,
		.error = error,
	};
	size_t length = strnlen(expression, EXPRESSION_MAX + 1);
	int status;

	if (length > EXPRESSION_MAX)
		return error_set(error, -EINVAL, "the condition is longer than %d bytes",
				 EXPRESSION_MAX);
	parser.condition.text = copy(&parser, expression, length);
	if (!parser.condition.text)
		return -ENOMEM;
	status = parse(&parser);
	if (status < 0)
		return status;
	return array_append(&fail_on->conditions, parser.condition);
}

enum fail_names fail_condition_names(const struct fail_condition *condition)
{
	if (!condition->glob)
		return FAIL_NAMES_SHOWN;
	return condition->has_placeholder ? FAIL_NAMES_PATTERNS : FAIL_NAMES_LITERAL;
}

void fail_on_clear(struct fail_on *fail_on)
{
	array_free(&fail_on->conditions);
	arena_clear(&fail_on->arena);
}
