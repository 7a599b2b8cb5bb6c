/* SPDX-License-Identifier: MIT */
#include "render/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/output/memory_stream.h"
#include "base/text.h"

/* Indentation of the rest of a broken line. */
#define INDENT 2

/* The length of an escape sequence (a colour) at `at`, else 0. */
static size_t escape_length(const char *at, size_t left)
{
	size_t length = 2;

	if (left < 3 || at[0] != '\033' || at[1] != '[')
		return 0;
	while (length < left && at[length] != 'm')
		length++;
	return length < left ? length + 1 : 0;
}

size_t page_break(const char *line, size_t length, size_t width)
{
	size_t at = 0, blank = 0, column = 0;

	while (at < length) {
		size_t escape = escape_length(line + at, length - at);
		size_t bytes = text_character(line + at, length - at);

		if (line[at] == ' ' && at > strspn(line, " "))
			blank = at;
		if (!escape)
			column += text_columns(line + at);
		if (column > width && at) /* at least one character, however narrow it is */
			return blank ? blank : at;
		at += escape ? escape : bytes ? bytes : 1;
	}
	return length;
}

static void print_line(const char *line, size_t length, size_t width, FILE *out)
{
	size_t indent = strspn(line, " ") + INDENT;
	size_t first = page_break(line, length, width);

	if (indent > width / 2)
		indent = INDENT < width / 2 ? INDENT : 0;
	fwrite(line, 1, first, out);
	while (first < length) {
		line += first;
		length -= first;
		if (line[0] == ' ') {
			line++;
			length--;
		}
		first = page_break(line, length, width - indent);
		fprintf(out, "\n%*s", (int)indent, "");
		fwrite(line, 1, first, out);
	}
}

static void print_lines(const char *bytes, size_t length, size_t width, FILE *out)
{
	while (length) {
		const char *end = memchr(bytes, '\n', length);
		size_t line = end ? (size_t)(end - bytes) : length;

		print_line(bytes, line, width, out);
		if (end)
			fputc('\n', out);
		line += end != NULL;
		bytes += line;
		length -= line;
	}
}

void page_open(struct page *page, FILE *to)
{
	page_open_for(page, terminal_of(to), to);
}

void page_open_for(struct page *page, struct terminal terminal, FILE *to)
{
	*page = (struct page){ .out = to, .to = to, .terminal = terminal };
	if (page->terminal.width)
		page->out = memory_stream_open(&page->bytes, &page->length);
	/* Lines broken at any place are better than none. */
	if (!page->out)
		page->out = to;
}

int page_close(struct page *page)
{
	bool failed = false;

	if (page->out == page->to)
		return 0;
	failed = fclose(page->out) != 0;
	if (page->bytes)
		print_lines(page->bytes, page->length, page->terminal.width, page->to);
	free(page->bytes);
	return failed ? -ENOMEM : 0;
}
