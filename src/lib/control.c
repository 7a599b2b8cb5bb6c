/* SPDX-License-Identifier: MIT */
#include "lib/control.h"

#include <limits.h>
#include <stddef.h>

#include "lib/lines/warnings.h"

struct recording recording;
struct control control;

enum {
	HEARTBEAT_MS = 60000,
	STALL_MS = 120000,
	PHASE_LINES = 8,
	PHASE_LINES_MAX = 1000000,
};

static const struct {
	const char *suffix;
	uint32_t milliseconds;
} duration_units[] = {
	{ "ms", 1 },
	{ "s", 1000 },
	{ "m", 60 * 1000 },
	{ "h", 60 * 60 * 1000 },
};

/* Reads the digits at the start, nine at most, so that nothing overflows. */
static bool parse_digits(const char *text, uint32_t *ret, const char **ret_rest)
{
	uint32_t value = 0;
	size_t length = strspn(text, "0123456789");

	if (length == 0 || length > 9)
		return false;
	for (size_t i = 0; i < length; i++)
		value = value * 10 + (uint32_t)(text[i] - '0');
	*ret = value;
	*ret_rest = text + length;
	return true;
}

/* A number of milliseconds, or TASKSCOPE_NEVER. */
static bool parse_duration(const char *text, uint32_t *ret)
{
	const char *rest;
	uint32_t number;

	if (strcmp(text, "off") == 0) {
		*ret = TASKSCOPE_NEVER;
		return true;
	}
	if (!parse_digits(text, &number, &rest) || number == 0)
		return false;
	for (size_t i = 0; i < sizeof(duration_units) / sizeof(*duration_units); i++) {
		if (strcmp(rest, duration_units[i].suffix) != 0)
			continue;
		if (number > TASKSCOPE_NEVER / duration_units[i].milliseconds)
			return false;
		*ret = number * duration_units[i].milliseconds;
		return true;
	}
	return false;
}

static bool set_heartbeat(struct control *ret, const char *value)
{
	uint32_t milliseconds;

	if (!parse_duration(value, &milliseconds))
		return false;
	ret->heartbeat_ms = milliseconds == TASKSCOPE_NEVER ? 0 : milliseconds;
	return true;
}

static bool set_stall(struct control *ret, const char *value)
{
	return parse_duration(value, &ret->stall_ms);
}

static bool set_phases(struct control *ret, const char *value)
{
	const char *rest;
	uint32_t number;

	if (!parse_digits(value, &number, &rest) || *rest || number > PHASE_LINES_MAX)
		return false;
	ret->phase_lines = number;
	return true;
}

/* One of two words. */
static bool parse_choice(const char *value, const char *no, const char *yes, bool *ret)
{
	bool chosen = strcmp(value, yes) == 0;

	if (!chosen && strcmp(value, no) != 0)
		return false;
	*ret = chosen;
	return true;
}

static bool set_format(struct control *ret, const char *value)
{
	return parse_choice(value, "text", "json", &ret->is_json);
}

static bool set_signal(struct control *ret, const char *value)
{
	return parse_choice(value, "off", "on", &ret->dumps_on_signal);
}

static bool set_statistics(struct control *ret, const char *value)
{
	bool at_exit = strcmp(value, "exit") == 0;

	if (!parse_choice(at_exit ? "on" : value, "off", "on", &ret->has_statistics))
		return false;
	ret->prints_statistics = at_exit;
	return true;
}

/* Keeps a copy, since the program may change its environment. */
static bool set_output(struct control *ret, const char *value)
{
	static char path[PATH_MAX];
	size_t length = strnlen(value, sizeof(path));

	if (length == 0 || length == sizeof(path))
		return false;
	memcpy(path, value, length + 1);
	ret->output = path;
	return true;
}

static const struct {
	const char *name;
	bool (*set)(struct control *ret, const char *value); /* false: the value is wrong */
} variables[] = {
	{ "TASKSCOPE_HEARTBEAT", set_heartbeat },   { "TASKSCOPE_STALL", set_stall },
	{ "TASKSCOPE_PHASES", set_phases },	    { "TASKSCOPE_FORMAT", set_format },
	{ "TASKSCOPE_STATISTICS", set_statistics }, { "TASKSCOPE_SIGNAL", set_signal },
	{ "TASKSCOPE_OUTPUT", set_output },
};

static void complain(struct warnings *warnings, const char *variable, const char *value)
{
	if (warnings)
		warnings_add(warnings, "%s=%.64s is not understood and ignored", variable, value);
}

static void choose_from_environment(struct control *ret, struct warnings *warnings)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = secure_getenv(variables[i].name);

		if (value && !variables[i].set(ret, value))
			complain(warnings, variables[i].name, value);
	}
}

/*
 * A program built with an older header has fewer options, one built with a newer header has more.
 */
static struct taskscope_options options_known(const struct taskscope_options *options)
{
	struct taskscope_options known = { .size = sizeof(known) };

	if (options)
		memcpy(&known, options,
		       options->size < sizeof(known) ? options->size : sizeof(known));
	return known;
}

static uint32_t value_or(uint32_t value, uint32_t otherwise)
{
	return value ? value : otherwise;
}

void control_choose(const struct taskscope_options *options, struct control *ret,
		    struct warnings *warnings)
{
	struct taskscope_options known = options_known(options);
	bool never_beats = known.heartbeat_ms == TASKSCOPE_NEVER;
	bool at_exit = known.flags & TASKSCOPE_STATISTICS_AT_EXIT;

	*ret = (struct control){
		.has_statistics = at_exit || (known.flags & TASKSCOPE_STATISTICS),
		.heartbeat_ms = never_beats ? 0 : value_or(known.heartbeat_ms, HEARTBEAT_MS),
		.stall_ms = value_or(known.stall_ms, STALL_MS),
		.phase_lines = value_or(known.phase_lines, PHASE_LINES),
		.prints_statistics = at_exit,
		.is_json = known.flags & TASKSCOPE_JSON,
		.dumps_on_signal = known.flags & TASKSCOPE_DUMP_ON_SIGUSR2,
		.log = known.log,
		.log_context = known.log_context,
	};
	choose_from_environment(ret, warnings);
}

enum control_wish control_wish(struct warnings *warnings)
{
	const char *value = secure_getenv("TASKSCOPE");
	bool on;

	if (!value)
		return CONTROL_NO_WISH;
	if (!parse_choice(value, "off", "on", &on)) {
		complain(warnings, "TASKSCOPE", value);
		return CONTROL_NO_WISH;
	}
	return on ? CONTROL_ON : CONTROL_OFF;
}
