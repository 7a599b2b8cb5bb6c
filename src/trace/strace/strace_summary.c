/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/text.h"
#include "model/syscall/call_lines.h"
#include "trace/strace/strace.h"

#define COLUMNS_MOST 10

/* What a column has; the first line of a table names them. */
enum column {
	COLUMN_IGNORED,
	COLUMN_SECONDS,
	COLUMN_LONGEST,
	COLUMN_CALLS,
	COLUMN_ERRORS, /* empty where there are none */
	COLUMN_NAME,   /* the last one */
};

static const struct {
	const char *title;
	enum column column;
} titles[] = {
	{ "%", COLUMN_IGNORED },	  { "seconds", COLUMN_SECONDS },
	{ "longest", COLUMN_LONGEST },	  { "shortest", COLUMN_IGNORED },
	{ "usecs/call", COLUMN_IGNORED }, { "calls", COLUMN_CALLS },
	{ "errors", COLUMN_ERRORS },	  { "syscall", COLUMN_NAME },
};

struct word {
	const char *start;
	size_t length;
};

/* Where in a text the parser is. */
struct parser {
	enum column columns[COLUMNS_MOST];
	size_t column_count; /* 0: not in a table */
	bool is_inside;	     /* after the line below the titles */
	size_t bad_lines;
	struct call_lines *lines;
};

/* The words of a line; COLUMNS_MOST + 1 when there are more. */
static size_t split(const char *line, size_t length, struct word words[COLUMNS_MOST])
{
	size_t count = 0, i = 0;

	for (;;) {
		while (i < length && strchr(" \t\r", line[i]))
			i++;
		if (i == length)
			return count;
		if (count == COLUMNS_MOST)
			return count + 1;
		words[count].start = line + i;
		while (i < length && !strchr(" \t\r", line[i]))
			i++;
		words[count].length = (size_t)(line + i - words[count].start);
		count++;
	}
}

static bool is_word(const struct word *word, const char *text)
{
	return word->length == strlen(text) && memcmp(word->start, text, word->length) == 0;
}

/* "% time" is one title of two words. */
static bool take_titles(struct parser *parser, const struct word *words, size_t count)
{
	size_t columns = 0;

	if (!count || !is_word(&words[count - 1], "syscall"))
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t found = 0;

		if (is_word(&words[i], "time") && i && is_word(&words[i - 1], "%"))
			continue;
		while (found < ARRAY_SIZE(titles) && !is_word(&words[i], titles[found].title))
			found++;
		if (found == ARRAY_SIZE(titles))
			return false;
		parser->columns[columns++] = titles[found].column;
	}
	parser->column_count = columns;
	parser->is_inside = false;
	return true;
}

static bool is_line_of_dashes(const struct word *words, size_t count)
{
	return count && words[0].length > 1 && strspn(words[0].start, "-") >= words[0].length;
}

static bool read_number(const struct word *word, uint64_t *ret)
{
	const char *cursor = word->start;

	return scan_u64(&cursor, ret) && cursor == word->start + word->length;
}

/* "0.007431": never through a double. */
static bool read_seconds(const struct word *word, uint64_t *ret_ns)
{
	const char *cursor = word->start, *end = word->start + word->length;
	uint64_t seconds, unit = 100000000, ns = 0;

	if (!scan_u64(&cursor, &seconds) || cursor >= end || *cursor++ != '.' ||
	    seconds > UINT64_MAX / 2 / 1000000000)
		return false;
	for (; cursor < end && *cursor >= '0' && *cursor <= '9'; cursor++, unit /= 10)
		ns += (uint64_t)(*cursor - '0') * unit;
	*ret_ns = seconds * 1000000000 + ns;
	return cursor == end;
}

static bool read_cell(enum column column, const struct word *word, struct call_line *ret)
{
	switch (column) {
	case COLUMN_IGNORED:
		return true;
	case COLUMN_SECONDS:
		return read_seconds(word, &ret->time_ns);
	case COLUMN_LONGEST:
		return read_seconds(word, &ret->max_ns);
	case COLUMN_CALLS:
		return read_number(word, &ret->calls);
	case COLUMN_ERRORS:
		return read_number(word, &ret->errors);
	case COLUMN_NAME:
		snprintf(ret->name, sizeof(ret->name), "%.*s", (int)word->length, word->start);
		return word->length < sizeof(ret->name);
	}
	return false;
}

static bool read_row(const struct parser *parser, const struct word *words, size_t count,
		     struct call_line *ret)
{
	bool has_errors = count == parser->column_count;
	size_t word = 0;

	if (!has_errors && count + 1 != parser->column_count)
		return false;
	for (size_t i = 0; i < parser->column_count; i++) {
		if (parser->columns[i] == COLUMN_ERRORS && !has_errors)
			continue;
		if (word == count || !read_cell(parser->columns[i], &words[word++], ret))
			return false;
	}
	return true;
}

/* Rows are between two lines of dashes; what comes after them is the total. */
static int take_line(struct parser *parser, const char *line, size_t length)
{
	struct word words[COLUMNS_MOST];
	size_t count = split(line, length, words);
	struct call_line row = { 0 };
	bool is_long = count > COLUMNS_MOST;

	if (!count || (!is_long && take_titles(parser, words, count)))
		return 0;
	if (!is_long && is_line_of_dashes(words, count)) {
		if (parser->is_inside)
			parser->column_count = 0;
		parser->is_inside = !parser->is_inside;
		return 0;
	}
	if (!parser->column_count || !parser->is_inside)
		return 0;
	if (!is_long && read_row(parser, words, count, &row))
		return call_lines_add(parser->lines, &row);
	parser->bad_lines++;
	return 0;
}

ssize_t strace_summary_parse(const char *text, size_t length, struct call_lines *lines)
{
	struct parser parser = { .lines = lines };
	int status = 0;

	while (length && status == 0) {
		const char *newline = memchr(text, '\n', length);
		size_t size = newline ? (size_t)(newline - text) : length;

		status = take_line(&parser, text, size);
		size += newline != NULL;
		text += size;
		length -= size;
	}
	return status < 0 ? status : (ssize_t)parser.bad_lines;
}
