/* SPDX-License-Identifier: MIT */
#include "render/run/function_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"

static const char unnamed[] = "(anonymous namespace)";
static const char operator_word[] = "operator";

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), size = strlen(end);

	return length >= size && strcmp(name + length - size, end) == 0;
}

/* Names of other kinds, such as those of compilers at run time, have blanks with another meaning. */
static bool is_signature(const char *name)
{
	return *name != '<' && strchr(name, '(') &&
	       (ends_with(name, ")") || ends_with(name, ") const") || strstr(name, ") [clone "));
}

static bool begins_word(const char *name, const char *at)
{
	return at == name || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
}

/* The length of "operator<<" or "operator()" here; 0: there is none. */
static size_t operator_length(const char *name, const char *at)
{
	size_t length = sizeof(operator_word) - 1;

	if (strncmp(at, operator_word, length) != 0 || !begins_word(name, at))
		return 0;
	if (strncmp(at + length, "()", 2) == 0)
		return length + 2;
	return length + strspn(at + length, "<>=!+-*/%^&|~[],");
}

/* False when brackets do not match. */
static bool shorten(struct text *out, const char *name)
{
	bool is_operator = false;
	size_t depth = 0, length;

	for (const char *at = name; *at; at++) {
		if (depth == 0 && (length = operator_length(name, at)) > 0) {
			text_append(out, at, length);
			is_operator = true;
			at += length - 1;
		} else if (depth == 0 && strncmp(at, unnamed, sizeof(unnamed) - 1) == 0) {
			text_append_string(out, unnamed);
			at += sizeof(unnamed) - 2;
		} else if (*at == '<' || *at == '(') {
			depth++;
		} else if (*at == '>' || *at == ')') {
			if (depth-- == 0)
				return false;
		} else if (depth == 0 && (strcmp(at, " const") == 0 || strncmp(at, " [", 2) == 0)) {
			break; /* that, or which copy of it */
		} else if (depth == 0 && *at == ' ' && !is_operator) {
			text_clear(out); /* that was its result */
		} else if (depth == 0 && !(is_operator && *at == ' ' && at[1] == '<')) {
			text_append(out, at, 1);
		}
	}
	return depth == 0 && out->length > 0;
}

void function_name_append(struct text *out, const char *name)
{
	CLEANUP(text_free) struct text brief = { 0 };

	if (is_signature(name) && shorten(&brief, name) && !brief.failed)
		text_append_escaped(out, brief.data, brief.length);
	else
		text_append_escaped(out, name, strlen(name));
}
