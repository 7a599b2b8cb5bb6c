/* SPDX-License-Identifier: MIT */
#include "lib/lines/line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *tag;
	const char *name; /* in JSON */
	enum taskscope_level level;
} kinds[] = {
	[LINE_HEARTBEAT] = { "[taskscope]", "heartbeat", TASKSCOPE_INFO },
	[LINE_FINAL] = { "[taskscope] final", "final", TASKSCOPE_INFO },
	[LINE_PHASE] = { "[taskscope] phase", "phase", TASKSCOPE_INFO },
	[LINE_PHASES_LEFT] = { "[taskscope] phase", "phases_left", TASKSCOPE_INFO },
	[LINE_UNINSTRUMENTED] = { "[taskscope] uninstrumented", "uninstrumented", TASKSCOPE_INFO },
	[LINE_UNINSTRUMENTED_LEFT] = { "[taskscope] uninstrumented", "uninstrumented_left",
				       TASKSCOPE_INFO },
	[LINE_STALL] = { "[taskscope][STALL]", "stall", TASKSCOPE_WARNING },
	[LINE_RECOVERED] = { "[taskscope][RECOVERED]", "recovered", TASKSCOPE_INFO },
	[LINE_STALLS_LEFT] = { "[taskscope][STALL]", "stalls_left", TASKSCOPE_WARNING },
	[LINE_STOPPED] = { "[taskscope][STOPPED]", "stopped", TASKSCOPE_WARNING },
	[LINE_SCOPE] = { "[taskscope] scope", "scope", TASKSCOPE_INFO },
	[LINE_LOST] = { "[taskscope][LOST]", "lost", TASKSCOPE_WARNING },
	[LINE_WARNING] = { "[taskscope][WARNING]", "warning", TASKSCOPE_WARNING },
};

static const char *const type_units[] = {
	[LINE_BYTES] = "_bytes",
	[LINE_DURATION] = "_ns",
	[LINE_WORD] = NULL,
};

/* Text that is written into a buffer until that is full. */
struct writer {
	char *buffer;
	size_t length, capacity;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *writer, const char *format,
						      ...)
{
	size_t room = writer->capacity - writer->length;
	va_list arguments;
	int wanted;

	va_start(arguments, format);
	wanted = vsnprintf(writer->buffer + writer->length, room, format, arguments);
	va_end(arguments);
	if (wanted > 0)
		writer->length += (size_t)wanted < room ? (size_t)wanted : room - 1;
}

static const struct {
	uint64_t first;
	unsigned char length, lowest, highest; /* bounds of the byte after the first one */
} utf8_forms[] = {
	{ 0xc2, 2, 0x80, 0xbf }, { 0xe0, 3, 0xa0, 0xbf }, { 0xe1, 3, 0x80, 0xbf },
	{ 0xed, 3, 0x80, 0x9f }, { 0xee, 3, 0x80, 0xbf }, { 0xf0, 4, 0x90, 0xbf },
	{ 0xf1, 4, 0x80, 0xbf }, { 0xf4, 4, 0x80, 0x8f }, { 0xf5, 0, 0, 0 },
};

/* Characters that control a terminal, or reorder, split or hide the text around them. */
static const struct {
	uint32_t first, last;
} unprintable[] = {
	{ 0x80, 0x9f },	    { 0x061c, 0x061c }, { 0x180e, 0x180e },
	{ 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f },
	{ 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0xe0000, 0xe0fff },
};

static bool is_unprintable(const unsigned char *bytes, size_t length)
{
	uint32_t code = bytes[0] & (0x7fU >> length);

	for (size_t i = 1; i < length; i++)
		code = code << 6 | (bytes[i] & 0x3f);
	for (size_t i = 0; i < sizeof(unprintable) / sizeof(unprintable[0]); i++)
		if (code >= unprintable[i].first && code <= unprintable[i].last)
			return true;
	return false;
}

/*
 * The length of a character of more than one byte; 0: it is not valid UTF-8, or must not get to a
 * terminal.
 */
static size_t utf8_length(const unsigned char *bytes)
{
	size_t form = 0;

	if (bytes[0] < utf8_forms[0].first)
		return 0;
	while (form + 1 < sizeof(utf8_forms) / sizeof(utf8_forms[0]) &&
	       bytes[0] >= utf8_forms[form + 1].first)
		form++;
	if (!utf8_forms[form].length || bytes[1] < utf8_forms[form].lowest ||
	    bytes[1] > utf8_forms[form].highest)
		return 0;
	for (size_t i = 2; i < utf8_forms[form].length; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	return is_unprintable(bytes, utf8_forms[form].length) ? 0 : utf8_forms[form].length;
}

/*
 * Bytes that a terminal should not get become \xNN; in quotes, quotes and backslashes are escaped.
 */
static void put_escaped(struct writer *writer, const char *text, bool is_quoted, bool is_json)
{
	const unsigned char *bytes = (const unsigned char *)text;

	while (*bytes) {
		size_t length = *bytes >= 0x20 && *bytes < 0x7f ? 1 : utf8_length(bytes);

		if (!length)
			put(writer, is_json ? "\\\\x%02x" : "\\x%02x", *bytes);
		else if (is_quoted && (*bytes == '"' || *bytes == '\\'))
			put(writer, "\\%c", *bytes);
		else
			put(writer, "%.*s", (int)length, (const char *)bytes);
		bytes += length ? length : 1;
	}
}

static bool is_text(const struct line_value *value)
{
	return value->type == LINE_LABEL || value->type == LINE_WORD;
}

static bool is_known(const struct line_value *value)
{
	return is_text(value) ? value->text != NULL : value->amount.is_known;
}

static void put_quoted(struct writer *writer, const char *text, bool is_json)
{
	put(writer, "\"");
	put_escaped(writer, text, true, is_json);
	put(writer, "\"");
}

static void put_text_value(struct writer *writer, const struct line_value *value)
{
	char formatted[LINE_DURATION_SIZE];

	switch (value->type) {
	case LINE_COUNT:
		put(writer, "%" PRIu64, value->amount.value);
		return;
	case LINE_BYTES:
		line_format_bytes(value->amount.value, formatted, sizeof(formatted));
		break;
	case LINE_DURATION:
		line_format_duration(value->amount.value, formatted, sizeof(formatted));
		break;
	case LINE_REAL:
		line_format_real(value->real, 4, formatted, sizeof(formatted));
		break;
	case LINE_CORES:
		line_format_real(value->real, 2, formatted, sizeof(formatted));
		break;
	case LINE_LABEL:
		put_quoted(writer, value->text, false);
		return;
	case LINE_WORD:
		put_escaped(writer, value->text, false, false);
		return;
	}
	put(writer, "%s", formatted);
}

/* Where there is no value, its place says so and the rest of the form is left out. */
static void put_text_field(struct writer *writer, const struct line_field *field)
{
	const char *missing = field->missing ? field->missing : "<unknown>";
	const char *form = field->form ? field->form : "*";
	size_t before = strcspn(form, "*");

	if (!is_known(&field->value) && !*missing)
		return;
	if (!field->form)
		put(writer, " %s=", field->key);
	put(writer, "%.*s", (int)before, form);
	if (!is_known(&field->value)) {
		put(writer, "%s", missing);
		return;
	}
	put_text_value(writer, &field->value);
	put(writer, "%s", form + before + 1);
}

static void put_json_value(struct writer *writer, const struct line_value *value)
{
	double thousandths = value->real * 1000;

	if (!is_known(value) || !(thousandths >= 0 && thousandths < 1e18))
		put(writer, "null");
	else if (is_text(value))
		put_quoted(writer, value->text, true);
	else if (value->type == LINE_REAL || value->type == LINE_CORES)
		put(writer, "%" PRIu64 ".%03u", (uint64_t)thousandths / 1000,
		    (unsigned int)((uint64_t)thousandths % 1000));
	else
		put(writer, "%" PRIu64, value->amount.value);
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);

	return length >= end_length && !strcmp(text + length - end_length, end);
}

static void put_json_field(struct writer *writer, const struct line_field *field)
{
	const char *unit = type_units[field->value.type];

	if (!field->key)
		return;
	if (!unit || ends_with(field->key, unit))
		unit = "";
	put(writer, ",\"%s%s\":", field->key, unit);
	put_json_value(writer, &field->value);
}

void line_add_as(struct line *line, const char *key, const char *form, const char *missing,
		 struct line_value value)
{
	if (line->field_count < LINE_FIELDS)
		line->fields[line->field_count++] = (struct line_field){
			.key = key, .form = form, .missing = missing, .value = value
		};
}

void line_add(struct line *line, const char *key, struct line_value value)
{
	line_add_as(line, key, NULL, NULL, value);
}

void line_add_count(struct line *line, const char *key, uint64_t value)
{
	line_add(line, key, line_amount(LINE_COUNT, amount_of(value)));
}

void line_add_duration(struct line *line, const char *key, uint64_t nanoseconds)
{
	line_add(line, key, line_amount(LINE_DURATION, amount_of(nanoseconds)));
}

void line_add_thread(struct line *line, int tid, const char *name)
{
	line_add_count(line, "thread", (uint64_t)tid);
	line_add_as(line, "thread_name", "/*", "", line_text(LINE_WORD, *name ? name : NULL));
}

void line_begin(struct line *line, enum line_kind kind, int pid)
{
	line->kind = kind;
	line->field_count = 0;
	line_add_count(line, "pid", (uint64_t)pid);
}

enum taskscope_level line_level(enum line_kind kind)
{
	return kinds[kind].level;
}

size_t line_render(const struct line *line, bool is_json, char *buffer, size_t capacity)
{
	struct writer writer = { .buffer = buffer, .capacity = capacity };

	if (is_json)
		put(&writer, "{\"kind\":\"%s\"", kinds[line->kind].name);
	else
		put(&writer, "%s", kinds[line->kind].tag);
	for (unsigned int i = 0; i < line->field_count; i++)
		(is_json ? put_json_field : put_text_field)(&writer, &line->fields[i]);
	if (is_json)
		put(&writer, "}");
	return writer.length;
}

static const struct {
	uint64_t nanoseconds;
	const char *name;
} time_units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };

/* Formats less than a minute: with one decimal below ten of a unit, unless that is 0. */
static void format_short(uint64_t nanoseconds, char *buffer, size_t capacity)
{
	size_t i = 0;
	uint64_t unit, whole, tenth;

	while (i + 1 < sizeof(time_units) / sizeof(time_units[0]) &&
	       nanoseconds < time_units[i].nanoseconds)
		i++;
	unit = time_units[i].nanoseconds;
	whole = nanoseconds / unit;
	tenth = whole < 10 && unit > 1 ? nanoseconds % unit / (unit / 10) : 0;
	if (tenth)
		snprintf(buffer, capacity, "%" PRIu64 ".%" PRIu64 "%s", whole, tenth,
			 time_units[i].name);
	else
		snprintf(buffer, capacity, "%" PRIu64 "%s", nanoseconds ? whole : 0,
			 nanoseconds ? time_units[i].name : "s");
}

void line_format_duration(uint64_t nanoseconds, char *buffer, size_t capacity)
{
	uint64_t seconds = nanoseconds / 1000000000;
	unsigned int minutes = (unsigned int)(seconds / 60 % 60);

	if (seconds < 60)
		format_short(nanoseconds, buffer, capacity);
	else if (seconds < 3600)
		snprintf(buffer, capacity, "%um%02us", minutes, (unsigned int)(seconds % 60));
	else
		snprintf(buffer, capacity, "%" PRIu64 "h%02um%02us", seconds / 3600, minutes,
			 (unsigned int)(seconds % 60));
}

void line_format_bytes(uint64_t bytes, char *buffer, size_t capacity)
{
	static const char *const units[] = { "KiB", "MiB", "GiB" };
	unsigned int i = 0;

	if (bytes < 1024) {
		snprintf(buffer, capacity, "%" PRIu64 "B", bytes);
		return;
	}
	while (i + 1 < sizeof(units) / sizeof(units[0]) && bytes >> (10 * (i + 2)))
		i++;
	snprintf(buffer, capacity, "%" PRIu64 ".%u%s", bytes >> (10 * (i + 1)),
		 (unsigned int)((bytes >> (10 * i)) % 1024 * 10 / 1024), units[i]);
}

void line_format_real(double value, unsigned int most_decimals, char *buffer, size_t capacity)
{
	unsigned int decimals = value >= 1 || value == 0 ? 1 : value >= 0.095 ? 2 : 4;
	uint64_t scale = 1, scaled;

	if (decimals > most_decimals)
		decimals = most_decimals;
	for (unsigned int i = 0; i < decimals; i++)
		scale *= 10;
	if (!(value >= 0 && value < 1e15)) {
		snprintf(buffer, capacity, "<unknown>");
		return;
	}
	scaled = (uint64_t)(value * (double)scale + 0.5);
	snprintf(buffer, capacity, "%" PRIu64 ".%0*" PRIu64, scaled / scale, (int)decimals,
		 scaled % scale);
}
