/* SPDX-License-Identifier: MIT */
#include "analyze/group/name_pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/text.h"

/* Independent of the locale: a name must be the same on every host. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_upper_hex(char c)
{
	return is_digit(c) || (c >= 'A' && c <= 'F');
}

static bool is_hex(char c)
{
	return is_lower_hex(c) || is_upper_hex(c);
}

/* Bytes above ASCII count as letters, except the blanks that separator_length() knows. */
static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ((unsigned char)c & 0x80);
}

static size_t span(const char *at, size_t limit, bool (*is)(char))
{
	size_t length = 0;

	while (length < limit && is(at[length]))
		length++;
	return length;
}

static bool has_digit(const char *at, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (is_digit(at[i]))
			return true;
	return false;
}

/* Blanks beyond ASCII, in UTF-8. */
static const char *const wide_blanks[] = {
	"\xc2\x85",	"\xc2\xa0",	"\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
	"\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
	"\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
	"\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80",
};

static size_t wide_blank_length(const char *at)
{
	for (size_t i = 0; i < ARRAY_SIZE(wide_blanks); i++) {
		size_t length = strlen(wide_blanks[i]);

		if (strncmp(at, wide_blanks[i], length) == 0)
			return length;
	}
	return 0;
}

/*
 * Bytes of the separator at `at`; 0 when a token is there.  "\x2d" is how
 * systemd writes a separator inside a unit's name.
 */
static size_t separator_length(const char *at)
{
	if (at[0] == '\\' && at[1] == 'x' && is_hex(at[2]) && is_hex(at[3]))
		return 4;
	if ((unsigned char)*at & 0x80)
		return wide_blank_length(at);
	return !is_digit(*at) && !is_letter(*at) && *at ? 1 : 0;
}

static bool ends_token(const char *at)
{
	return *at == '\0' || separator_length(at) > 0;
}

static size_t token_length(const char *at)
{
	size_t length = 0;

	while (!ends_token(at + length))
		length++;
	return length;
}

/* Length of a UUID, its fields joined by "-", or by "_" as the kubelet writes it; else 0. */
static size_t uuid_length(const char *at)
{
	static const unsigned char fields[] = { 8, 4, 4, 4, 12 };
	char joint = '-';
	size_t length = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (i == 1)
			joint = at[length] == '_' ? '_' : '-';
		if (i > 0 && at[length++] != joint)
			return 0;
		if (span(at + length, fields[i], is_hex) != fields[i])
			return 0;
		length += fields[i];
	}
	return ends_token(at + length) ? length : 0;
}

static bool is_one_case(const char *at, size_t length)
{
	return span(at, length, is_lower_hex) == length || span(at, length, is_upper_hex) == length;
}

/*
 * Length of a hexadecimal id: a short or full container id, an md5, a git or
 * sha1 name.  No word is that long without a letter after "f".
 */
static size_t hex_id_length(const char *at, size_t shortest)
{
	size_t length = span(at, 65, is_hex);

	if (length < shortest || !ends_token(at + length))
		return 0;
	if (!has_digit(at, length) && !is_one_case(at, length))
		return 0;
	return length == 12 || length == 32 || length == 40 || length == 64 ? length : 0;
}

/*
 * Prefixes that may precede an id directly: of a pod's uid in a cgroup of the
 * kubelet, of a transient unit of systemd-run.
 */
static const char *const id_prefixes[] = { "pod", "r" };

/* The first field of a UUID; an id never begins with a shorter one. */
#define SHORTEST_ID 8

/* Appends the id at `at` as {I}, its prefix kept.  Returns its length, 0 when there is none. */
static size_t append_id(const char *at, struct text *out)
{
	size_t length = uuid_length(at);

	if (length == 0)
		length = hex_id_length(at, 12);
	for (size_t i = 0; length == 0 && i < ARRAY_SIZE(id_prefixes); i++) {
		size_t prefix = strlen(id_prefixes[i]);
		size_t id;

		if (strncmp(at, id_prefixes[i], prefix) != 0)
			continue;
		id = uuid_length(at + prefix);
		if (id == 0)
			id = hex_id_length(at + prefix, 32);
		if (id == 0)
			continue;
		text_append(out, at, prefix);
		length = prefix + id;
	}
	if (length)
		text_append_string(out, "{I}");
	return length;
}

/*
 * With fewer than eight digits an id cannot be told from a name: "cc1", "dd",
 * "cafe1", "e1000e".  Ids are written in one case, so "DeadBeef" is a word.
 */
#define SHORTEST_HEX 8

/* ctprof takes every word with a digit and no letter after "f" for hexadecimal. */
#define SHORTEST_CTPROF_HEX 2

static bool is_hex_token(const char *at, size_t length, size_t shortest)
{
	return (length >= SHORTEST_HEX || (length >= shortest && has_digit(at, length))) &&
	       is_one_case(at, length);
}

static void append_token(const char *at, size_t length, size_t shortest_hex, struct text *out)
{
	size_t digits = span(at, length, is_digit);
	size_t letters = span(at, length, is_letter);
	size_t digits_after = span(at + letters, length - letters, is_digit);
	size_t letters_after = span(at + digits, length - digits, is_letter);

	if (digits == length) {
		text_append_string(out, "{N}");
	} else if (is_hex_token(at, length, shortest_hex)) {
		text_append_string(out, "{H}");
	} else if (digits_after > 0 && letters + digits_after == length) {
		text_append(out, at, letters);
		text_append_string(out, "{N}");
	} else if (digits > 0 && digits + letters_after == length) {
		text_append_string(out, "{N}");
		text_append(out, at + digits, letters_after);
	} else {
		text_append(out, at, length);
	}
}

/* Appends the separator or token at `at` and returns its length. */
static size_t append_piece(const char *at, size_t shortest_hex, struct text *out)
{
	size_t length = separator_length(at);

	if (length) {
		text_append(out, at, length);
		return length;
	}
	length = token_length(at);
	if (length >= SHORTEST_ID) {
		size_t id = append_id(at, out);

		if (id)
			return id;
	}
	append_token(at, length, shortest_hex, out);
	return length;
}

/* The workqueue's name comes after "+" while the worker runs and after "-" while it rests. */
static const char *worker_mark(const char *name)
{
	static const char prefix[] = "kworker/";
	const char *mark;

	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return NULL;
	mark = strpbrk(name, "+-");
	return mark && *mark == '+' ? mark : NULL;
}

static void append_name(const char *name, size_t shortest_hex, struct text *out)
{
	const char *mark = worker_mark(name);

	while (*name) {
		if (name == mark) {
			text_append_string(out, "-");
			name++;
		} else {
			name += append_piece(name, shortest_hex, out);
		}
	}
}

/*
 * Length of the instance in "unit@instance.service", where `at` is just after
 * the "@".  An instance of several words is left to the token rules, which keep
 * the words.
 */
static size_t instance_length(const char *path, const char *at)
{
	static const char suffix[] = ".service";
	size_t length = strcspn(at, "._-/");
	const char *end = at + length;

	if (at - path < 2 || at[-1] != '@' || at[-2] == '/' || length == 0)
		return 0;
	if (strncmp(end, suffix, strlen(suffix)) != 0)
		return 0;
	end += strlen(suffix);
	return *end == '\0' || *end == '/' ? length : 0;
}

static void append_path(const char *path, size_t shortest_hex, struct text *out)
{
	const char *at = path;

	while (*at) {
		size_t instance = instance_length(path, at);

		if (instance)
			text_append_string(out, "{I}");
		at += instance ? instance : append_piece(at, shortest_hex, out);
	}
}

void name_pattern(const char *name, unsigned rules, struct text *out)
{
	size_t shortest_hex = rules & NAME_BY_CTPROF ? SHORTEST_CTPROF_HEX : SHORTEST_HEX;

	if (rules & NAME_IS_PATH)
		append_path(name, shortest_hex, out);
	else
		append_name(name, shortest_hex, out);
}
