/* SPDX-License-Identifier: MIT */
#include "cli/option.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/suggest.h"
#include "base/text.h"

/* The words still to be read. */
struct cursor {
	int count;
	char **arguments;
	int next;
	const struct option *alias; /* the last one given */
};

static const struct option *find_long(const struct option *options, const char *name, size_t length)
{
	for (; options && options->name; options++)
		if (strlen(options->name) == length && strncmp(options->name, name, length) == 0)
			return options;
	return NULL;
}

/* Of the verb, else of all verbs. */
static const struct option *find_any(const struct option *options, const char *name, size_t length)
{
	const struct option *own = find_long(options, name, length);

	return own ? own : find_long(common_options, name, length);
}

static const struct option *find_letter(const struct option *options, char letter)
{
	for (; options && options->name; options++)
		if (options->letter == letter)
			return options;
	return NULL;
}

enum option_argument option_argument(enum option_type type)
{
	if (type == OPTION_FLAG || type == OPTION_ALIAS)
		return ARGUMENT_NONE;
	return type == OPTION_SET ? ARGUMENT_ATTACHED : ARGUMENT_NEEDED;
}

bool option_is_limited(const struct option *option)
{
	return option->choices && option->type != OPTION_NAMES && option->type != OPTION_LIST;
}

/* Which of the choices the value is, or -1. */
static int find_choice(const char *choices, const char *value)
{
	size_t length = strlen(value);

	for (int i = 0; choices; i++) {
		size_t word = strcspn(choices, "|");

		if (word == length && strncmp(choices, value, length) == 0)
			return i;
		choices = choices[word] ? choices + word + 1 : NULL;
	}
	return -1;
}

static int store_in_list(const struct option *option, const char *value, struct error *error)
{
	struct option_list *list = option->target;

	if (list->count == OPTION_LIST_MAX)
		return error_set(error, -EINVAL, "--%s is given more than %d times", option->name,
				 OPTION_LIST_MAX);
	list->values[list->count++] = value;
	return 0;
}

static int not_a_choice(const struct option *option, const char *value, struct error *error)
{
	struct suggestion suggestion = suggest_for(value, strlen(value));

	suggest_list(&suggestion, option->choices);
	return error_set(error, -EINVAL, "--%s takes one of %s, not '%s'%s%s", option->name,
			 option->choices, value, suggestion.best ? "; " : "",
			 suggestion_hint(&suggestion, "", ""));
}

/* K, M and G mean KiB, MiB and GiB here. */
static bool scan_bytes(const char *value, uint64_t *ret)
{
	static const char suffixes[] = "KMGT";
	const char *cursor = value, *suffix;
	uint64_t number, shift = 0;

	if (!scan_u64(&cursor, &number))
		return false;
	suffix = *cursor ? strchr(suffixes, *cursor) : NULL;
	if (suffix) {
		shift = 10 * (uint64_t)(suffix - suffixes + 1);
		cursor++;
		cursor += strncmp(cursor, "iB", 2) == 0 ? 2 : 0;
	} else if (*cursor == 'B') {
		cursor++;
	}
	if (*cursor || (shift && number >> (64 - shift)))
		return false;
	*ret = number << shift;
	return true;
}

static int contradiction(const struct option *alias, struct error *error)
{
	return error_set(error, -EINVAL, "--%s contradicts --%s %s: leave out one of them",
			 alias->name, alias->argument, *(const char *const *)alias->target);
}

static int store(const struct option *option, const char *value, struct error *error)
{
	struct option_number *number = option->target;
	uint64_t parsed;

	if (option_is_limited(option) && value &&
	    find_choice(option->choices, value) < 0)
		return not_a_choice(option, value, error);
	switch (option->type) {
	case OPTION_FLAG:
		*(bool *)option->target = true;
		return 0;
	case OPTION_ALIAS:
		if (option_is_given(option) &&
		    strcmp(*(const char **)option->target, option->name) != 0)
			return contradiction(option, error);
		*(const char **)option->target = option->name;
		return 0;
	case OPTION_TEXT:
	case OPTION_NAMES:
		*(const char **)option->target = value;
		return 0;
	case OPTION_NUMBER:
		if (!parse_u64(value, &parsed))
			return error_set(error, -EINVAL, "--%s takes a whole number, not '%s'",
					 option->name, value);
		*number = (struct option_number){ .given = true, .value = parsed };
		return 0;
	case OPTION_DURATION:
		if (!parse_duration_ns(value, &parsed))
			return error_set(error, -EINVAL,
					 "--%s takes a duration such as " DURATION_FORMS ", not '%s'",
					 option->name, value);
		*number = (struct option_number){ .given = true, .value = parsed };
		return 0;
	case OPTION_BYTES:
		if (!scan_bytes(value, &parsed))
			return error_set(error, -EINVAL,
					 "--%s takes a size such as 64MiB or 2G, not '%s'",
					 option->name, value);
		*number = (struct option_number){ .given = true, .value = parsed };
		return 0;
	case OPTION_LIST:
		return store_in_list(option, value, error);
	case OPTION_SET:
		*(unsigned *)option->target |=
			value ? 1u << find_choice(option->choices, value) : ~0u;
		return 0;
	}
	return -EINVAL;
}

const struct option *option_find(const struct option *options, const char *name)
{
	return find_long(options, name, strlen(name));
}

bool option_is_given(const struct option *option)
{
	switch (option->type) {
	case OPTION_FLAG:
		return *(const bool *)option->target;
	case OPTION_ALIAS:
	case OPTION_TEXT:
	case OPTION_NAMES:
		return *(const char *const *)option->target != NULL;
	case OPTION_NUMBER:
	case OPTION_DURATION:
	case OPTION_BYTES:
		return ((const struct option_number *)option->target)->given;
	case OPTION_LIST:
		return ((const struct option_list *)option->target)->count > 0;
	case OPTION_SET:
		return *(const unsigned *)option->target != 0;
	}
	return false;
}

int option_set(const struct option *option, const char *value, struct error *error)
{
	if (option->type != OPTION_FLAG)
		return store(option, value, error);
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return error_set(error, -EINVAL, "%s is yes or no, not '%s'", option->name, value);
	*(bool *)option->target = strcmp(value, "yes") == 0;
	return 0;
}

/* Takes the option's argument: the attached text, else the next word. */
static int store_argument(const struct option *option, const char *attached, struct cursor *cursor,
			  struct error *error)
{
	if (attached)
		return store(option, attached, error);
	if (cursor->next == cursor->count)
		return error_set(error, -EINVAL, "--%s needs an argument: %s", option->name,
				 option->argument);
	return store(option, cursor->arguments[cursor->next++], error);
}

static int unknown_option(const struct option *options, const char *name, size_t length,
			  struct error *error)
{
	struct suggestion suggestion = suggest_for(name, length);

	for (; options && options->name; options++)
		suggest(&suggestion, options->name);
	for (options = common_options; options->name; options++)
		suggest(&suggestion, options->name);
	return error_set(error, -EINVAL, "there is no option --%.*s; %s", (int)length, name,
			 suggestion_hint(&suggestion, "--", "--help lists them"));
}

static int parse_long(const struct option *options, const char *word, struct cursor *cursor,
		      struct error *error)
{
	size_t length = strcspn(word, "=");
	const struct option *option = find_any(options, word, length);
	const char *attached = word[length] ? word + length + 1 : NULL;

	if (!option)
		return unknown_option(options, word, length, error);
	switch (option_argument(option->type)) {
	case ARGUMENT_NEEDED:
		return store_argument(option, attached, cursor, error);
	case ARGUMENT_ATTACHED:
		return store(option, attached, error);
	case ARGUMENT_NONE:
		break;
	}
	if (attached)
		return error_set(error, -EINVAL, "--%s takes no argument", option->name);
	if (option->type == OPTION_ALIAS)
		cursor->alias = option;
	return store(option, NULL, error);
}

/* Parses a word of letters: flags may be joined, and the last one may take an argument. */
static int parse_letters(const struct option *options, const char *letters, struct cursor *cursor,
			 struct error *error)
{
	for (; *letters; letters++) {
		const struct option *option = find_letter(options, *letters);
		int status;

		if (!option)
			return error_set(error, -EINVAL,
					 "there is no option -%c; --help lists them", *letters);
		if (option_argument(option->type) == ARGUMENT_NEEDED)
			return store_argument(option, letters[1] ? letters + 1 : NULL, cursor,
					      error);
		status = store(option, NULL, error);
		if (status < 0)
			return status;
	}
	return 0;
}

int options_parse(const struct option *options, int count, char **arguments, char **words,
		  struct error *error)
{
	struct cursor cursor = { .count = count, .arguments = arguments };
	bool only_words = false;
	int word_count = 0;

	while (cursor.next < count) {
		char *word = arguments[cursor.next++];
		int status = 0;

		if (only_words || word[0] != '-' || !word[1])
			words[word_count++] = word;
		else if (strcmp(word, "--") == 0)
			only_words = true;
		else if (word[1] == '-')
			status = parse_long(options, word + 2, &cursor, error);
		else
			status = parse_letters(options, word + 1, &cursor, error);
		if (status < 0)
			return status;
	}
	if (cursor.alias && strcmp(*(char **)cursor.alias->target, cursor.alias->name) != 0)
		return contradiction(cursor.alias, error);
	return word_count;
}

static bool needs_argument(const struct option *option)
{
	return option && option_argument(option->type) == ARGUMENT_NEEDED;
}

/* Of several letters, it is the first that takes an argument. */
const struct option *option_awaiting(const struct option *options, const char *word)
{
	const struct option *option;

	if (word[0] != '-' || !word[1])
		return NULL;
	if (word[1] == '-') {
		option = find_any(options, word + 2, strcspn(word + 2, "="));
		return needs_argument(option) && !strchr(word, '=') ? option : NULL;
	}
	for (word++; *word; word++) {
		option = find_letter(options, *word);
		if (needs_argument(option))
			return word[1] ? NULL : option;
	}
	return NULL;
}

int options_before_words(const struct option *options, int count, char **arguments)
{
	int next = 0;

	while (next < count) {
		const char *word = arguments[next];

		if (word[0] != '-' || !word[1])
			return next;
		next++;
		if (strcmp(word, "--") == 0)
			return next;
		if (option_awaiting(options, word) && next < count)
			next++;
	}
	return count;
}
