/* SPDX-License-Identifier: MIT */
#include "cli/config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/output/place.h"
#include "base/suggest.h"
#include "cli/help.h"

#define CONFIG_BYTES_MOST (256 * 1024)

static char *trim(char *text)
{
	size_t length;

	text += strspn(text, " \t\r");
	length = strlen(text);
	while (length && strchr(" \t\r", text[length - 1]))
		text[--length] = '\0';
	return text;
}

static int unknown_name(const struct option *options, const char *name, struct error *error)
{
	struct suggestion suggestion = suggest_for(name, strlen(name));

	for (; options->name; options++)
		suggest(&suggestion, options->name);
	return error_set(error, -EINVAL, "there is no setting '%s'; %s", name,
			 suggestion_hint(&suggestion, "", "--print-config lists them"));
}

static int take_line(char *line, const struct option *options, const bool *was_given,
		     struct error *error)
{
	char *value = strchr(line, '=');
	const struct option *option;

	if (!value)
		return error_set(error, -EINVAL, "a line is NAME = VALUE");
	*value++ = '\0';
	option = option_find(options, trim(line));
	if (!option)
		return unknown_name(options, trim(line), error);
	return was_given[option - options] ? 0 : option_set(option, trim(value), error);
}

#define OPTIONS_MOST 128

static int take_lines(const char *path, char *text, const struct option *options,
		      struct error *error)
{
	bool was_given[OPTIONS_MOST] = { 0 };
	char *rest = text, *line;

	for (size_t i = 0; options[i].name && i < OPTIONS_MOST; i++)
		was_given[i] = option_is_given(&options[i]);
	for (unsigned number = 1; (line = strsep(&rest, "\n")); number++) {
		struct error why = { 0 };
		int status = 0;

		/* A comment is a whole line, since paths and commands may have a '#' in them. */
		line = trim(line);
		if (*line && *line != '#')
			status = take_line(line, options, was_given, &why);
		if (status < 0)
			return error_set(error, status, "%s, line %u: %s", path, number,
					 why.message);
	}
	return 0;
}

/* Whether nobody but root and the caller can have written the file. */
static bool is_trusted(int fd)
{
	struct stat file;

	return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && place_trusts(file.st_uid) &&
	       !(file.st_mode & (S_IWGRP | S_IWOTH));
}

static int read_all(const char *path, int fd, struct text *text, struct error *error)
{
	char bytes[4096];
	uint64_t offset = 0;
	ssize_t got;

	while ((got = file_read_at(fd, offset, bytes, sizeof(bytes))) > 0) {
		text_append(text, bytes, (size_t)got);
		offset += (uint64_t)got;
		if (offset > CONFIG_BYTES_MOST)
			return error_set(error, -EFBIG, "'%s' is too long for a configuration file",
					 path);
	}
	if (got < 0)
		return error_set(error, (int)got, "cannot read '%s': %s", path,
				 strerror((int)-got));
	if (text->failed)
		return error_set(error, -ENOMEM, "out of memory");
	if (memchr(text_string(text), '\0', text->length))
		return error_set(error, -EINVAL, "'%s' is not a text file", path);
	return 0;
}

int config_read(const char *path, const struct option *options, struct text *text,
		struct error *error)
{
	CLEANUP(place_close) struct place place = { .dir = -1 };
	CLEANUP(close_fd) int fd = -1;
	int status = place_open(&place, path);

	if (status == 0)
		fd = openat(place.dir, place.name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (status == 0 && fd < 0)
		status = -errno;
	if (status == -ENOENT)
		return status;
	/* The way to it is refused in the same words; a file of ours says itself that it cannot be read. */
	if ((fd < 0 && place.dir < 0 && status == -EACCES) ||
	    (fd >= 0 && (place.is_exposed || !is_trusted(fd))))
		return error_set(
			error, -EACCES,
			"'%s' is not used, because others can change it: it must be a file "
			"of root or yours, with mode 0644 or less, in a directory of such a "
			"one, and so must be all links that lead to it",
			path);
	if (status < 0)
		return error_set(error, status, "cannot read '%s': %s", path, strerror(-status));
	status = read_all(path, fd, text, error);
	return status < 0 || !text->length ? status : take_lines(path, text->data, options, error);
}

/* In the largest unit that is exact. */
static void print_duration(FILE *out, uint64_t ns)
{
	static const struct {
		const char *suffix;
		uint64_t ns;
	} units[] = { { "d", 86400 * NS_PER_SECOND },
		      { "h", 3600 * NS_PER_SECOND },
		      { "m", 60 * NS_PER_SECOND },
		      { "s", NS_PER_SECOND },
		      { "ms", NS_PER_MS },
		      { "us", 1000 },
		      { "ns", 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (ns % units[i].ns == 0) {
			fprintf(out, "%" PRIu64 "%s", ns / units[i].ns, units[i].suffix);
			return;
		}
}

static void print_bytes(FILE *out, uint64_t bytes)
{
	static const char suffixes[] = "GMK";

	for (size_t i = 0; suffixes[i]; i++) {
		unsigned shift = 30 - 10 * (unsigned)i;

		if (bytes && bytes % (UINT64_C(1) << shift) == 0) {
			fprintf(out, "%" PRIu64 "%ciB", bytes >> shift, suffixes[i]);
			return;
		}
	}
	fprintf(out, "%" PRIu64, bytes);
}

/* Texts that nobody gave, and numbers without a default, have no value: their line is a comment. */
static bool has_value(const struct option *option)
{
	const struct option_number *number = option->target;

	if (option->type == OPTION_NUMBER || option->type == OPTION_DURATION)
		return number->given || number->value;
	return option_is_given(option) || option->type == OPTION_FLAG ||
	       option->type == OPTION_BYTES;
}

/* The first of those that were chosen: a line has one. */
static void print_choice(FILE *out, const struct option *option)
{
	const char *choice = option->choices;

	for (unsigned rest = *(const unsigned *)option->target; !(rest & 1); rest >>= 1)
		choice += strcspn(choice, "|") + 1;
	fprintf(out, "%.*s", (int)strcspn(choice, "|"), choice);
}

static void print_value(FILE *out, const struct option *option)
{
	const struct option_number *number = option->target;

	if (!has_value(option))
		fputs(option->argument, out);
	else if (option->type == OPTION_FLAG)
		fputs(*(const bool *)option->target ? "yes" : "no", out);
	else if (option->type == OPTION_DURATION)
		print_duration(out, number->value);
	else if (option->type == OPTION_BYTES)
		print_bytes(out, number->value);
	else if (option->type == OPTION_NUMBER)
		fprintf(out, "%llu", number->value);
	else if (option->type == OPTION_SET)
		print_choice(out, option);
	else
		fputs(*(const char *const *)option->target, out);
}

/* These two are about the file itself. */
static bool is_setting(const struct option *option)
{
	return strcmp(option->name, "config") != 0 && strcmp(option->name, "print-config") != 0;
}

void config_print(FILE *out, const struct option *options)
{
	for (const struct option *option = options; option->name; option++) {
		const struct option_list *list = option->target;

		if (!is_setting(option))
			continue;
		fputs("# ", out);
		help_words(out, option->help, "# ");
		for (size_t i = 0; option->type == OPTION_LIST && i < list->count; i++)
			fprintf(out, "%s = %s\n", option->name, list->values[i]);
		if (option->type != OPTION_LIST) {
			fprintf(out, "%s%s = ", has_value(option) ? "" : "# ", option->name);
			print_value(out, option);
			fputc('\n', out);
		}
	}
}
