/* SPDX-License-Identifier: MIT */
/*
 * The first line is a glob, the rest a text.  A glob is refused with a position
 * inside it, or answers, in bounded time, what a plain search answers that tries
 * one way after the other.
 */
#include <ctype.h>

#include "analyze/group/glob.h"
#include "base/cleanup.h"
#include "fuzz_text.h"

/* Longer ones may take the plain search for ever. */
#define PLAIN_GLOB 24
#define PLAIN_TEXT 24

/* Whether a set takes the character; `*at` is behind "[" and moves behind "]". */
static bool plain_set(const char **at, char character)
{
	bool is_negated = **at == '!' || **at == '^';
	const char *first = *at += is_negated;
	bool found = false;

	while (**at != ']' || *at == first) {
		char low = *(*at)++, high = low;

		if (**at == '-' && (*at)[1] != ']') {
			high = (*at)[1];
			*at += 2;
		}
		found |= character >= low && character <= high;
	}
	(*at)++;
	return found != is_negated && character != '/';
}

static bool plain_match(const char *glob, const char *start, const char *text, const char *all)
{
	size_t stars = strspn(glob, "*");
	bool whole = glob == start || glob[-1] == '/';
	const char *rest = glob + stars;

	if (!*glob)
		return !*text;
	if (stars && whole && stars > 1 && *rest == '/') {
		for (;; text++) {
			if ((text == all || text[-1] == '/') &&
			    plain_match(rest + 1, start, text, all))
				return true;
			if (!*text)
				return false;
		}
	}
	for (; stars; text++) {
		if (plain_match(rest, start, text, all))
			return true;
		if (!*text || (stars == 1 && *text == '/'))
			return false;
	}
	if (!*text)
		return false;
	if (*glob == '[')
		return glob++, plain_set(&glob, *text) && plain_match(glob, start, text + 1, all);
	if (*glob == '?' ? *text == '/' : *glob != *text)
		return false;
	return plain_match(glob + 1, start, text + 1, all);
}

static bool is_plain(const char *text, size_t longest)
{
	for (const char *at = text; *at; at++)
		if (!isascii((unsigned char)*at))
			return false;
	return strlen(text) <= longest;
}

static void check_glob(const char *pattern, const char *text)
{
	struct glob_fault fault = { .position = SIZE_MAX };
	CLEANUP(glob_free_pointer) struct glob *glob = NULL;
	bool matches;

	if (glob_new(pattern, &glob, &fault) < 0) {
		fuzz_require(fault.position <= strlen(pattern) && fault.reason);
		return;
	}
	matches = glob_match(glob, text);
	if (is_plain(pattern, PLAIN_GLOB) && is_plain(text, PLAIN_TEXT))
		fuzz_require(matches == plain_match(pattern, pattern, text, text));
	if (!strpbrk(pattern, "*?[")) {
		fuzz_require(matches == (strcmp(pattern, text) == 0));
		fuzz_require(glob_match(glob, pattern));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_pointer) char *pattern = fuzz_text(data, size);
	char *text = strchr(pattern, '\n');

	if (!text)
		return 0;
	*text++ = '\0';
	check_glob(pattern, text);
	check_glob("**", text);
	return 0;
}
