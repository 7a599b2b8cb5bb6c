/* SPDX-License-Identifier: MIT */
/*
 * Options as a table.  Parsing, help, man pages and completions all use the
 * same rows.
 *
 *	static const struct option options[] = {
 *		{ 'n', "limit", OPTION_NUMBER, &args.limit, "N", "show N groups" },
 *		{ 0 },
 *	};
 */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>

struct error;

enum option_type {
	OPTION_FLAG,	 /* bool */
	OPTION_TEXT,	 /* const char *; the last one given counts */
	OPTION_ALIAS,	 /* const char * of another option: the same as giving that one this name */
	OPTION_NAMES,	 /* the same; the choices are suggestions, other values are allowed */
	OPTION_NUMBER,	 /* struct option_number */
	OPTION_DURATION, /* struct option_number, in ns */
	OPTION_BYTES,	 /* struct option_number: 64MiB, 2G */
	OPTION_LIST,	 /* struct option_list: each one given counts; the choices are suggestions */
	OPTION_SET,	 /* unsigned: a bit for each choice given, all without an argument */
};

/* How an option takes its argument. */
enum option_argument {
	ARGUMENT_NONE,
	ARGUMENT_ATTACHED, /* may have one, but only as --name=argument */
	ARGUMENT_NEEDED,
};

enum option_argument option_argument(enum option_type type);

/* A number, and whether it was given. */
struct option_number {
	bool given;
	unsigned long long value;
};

#define OPTION_LIST_MAX 64

struct option_list {
	const char *values[OPTION_LIST_MAX];
	size_t count;
};

struct option {
	char letter;	  /* 0 for none */
	const char *name; /* without the dashes; NULL ends the table */
	enum option_type type;
	void *target;
	const char *argument; /* its name in help, NULL for flags; of an alias, the option that it is for */
	const char *help;
	/*
	 * "a|b|c": the only values; for completion and checking, or NULL.  Suggestions are completed
	 * as the items of a list with commas, also where the argument is more than a list.
	 */
	const char *choices;
};

/* Whether nothing but the choices is allowed. */
bool option_is_limited(const struct option *option);

/* Options that every verb takes, besides its own. */
extern const struct option common_options[];

/*
 * Parses options and moves the other words to the front of `words`, in order.
 * Options may be anywhere before "--".  Returns the number of words, or -EINVAL
 * with a sentence.
 */
int options_parse(const struct option *options, int count, char **arguments, char **words,
		  struct error *error);

/*
 * The same options from another place, such as a file: the option of that name, or NULL; whether it
 * was given; and giving it a value, which must live as long as the options do.  A flag takes "yes"
 * or "no".  option_set() returns 0, or -EINVAL with a sentence.
 */
const struct option *option_find(const struct option *options, const char *name);
bool option_is_given(const struct option *option);
int option_set(const struct option *option, const char *value, struct error *error);

/* The option that takes the word after this one as its argument, or NULL. */
const struct option *option_awaiting(const struct option *options, const char *word);

/*
 * How many arguments come before the first word, including a "--" in front of
 * it: for verbs whose words are a command with options of its own.
 */
int options_before_words(const struct option *options, int count, char **arguments);

#endif
