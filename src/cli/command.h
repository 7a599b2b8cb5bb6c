/* SPDX-License-Identifier: MIT */
/*
 * A verb of the command line: its texts, options and exit statuses.  Each is a
 * const in a file of its own and is listed once, in verbs.def.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/error.h"
#include "cli/option.h"

/* Exit statuses that every verb shares. */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_REGRESSION = 1, /* compare --fail-on */
	EXIT_ERROR = 2,
};

struct command {
	const char *name;
	const char *arguments;	 /* synopsis of the words, "" for none */
	const char *summary;	 /* one line, no full stop */
	const char *description; /* paragraphs for help and the man page */
	const char *examples;	 /* lines "command\tmeaning", or NULL */
	const char *keys;	 /* of a screen: lines "keys\tmeaning", or NULL */
	const char *exits;	 /* other exit statuses than 0 and 2: lines "status\tmeaning", or NULL */
	const char *reads;	 /* for completion: endings of the files that its words name, or NULL */
	const char *first_words; /* "a|b": the kinds that the first word chooses from, or NULL */
	const struct option *options;
	int words_max;
	/*
	 * The words are a command with options of its own: our options end at
	 * the first word.  `exits` then describes all statuses but that of an
	 * error, since the status is mostly the command's.  A sentence in `error` is printed
	 * with any status.
	 */
	bool words_are_a_command;
	bool is_topic;	  /* not a verb, but something that verbs share: it has only a page */
	int error_status; /* for everything that goes wrong in the verb; 0: EXIT_ERROR */
};

/* All of them, then NULL. */
extern const struct command *const all_commands[];
const struct command *command_find(const char *name); /* NULL when there is none */
/* What help and the manual have beside the verbs; NULL when there is none. */
const struct command *topic_find(const char *name);
extern const struct command topic_filter;

static inline int command_error_status(const struct command *command)
{
	return command->error_status ? command->error_status : EXIT_ERROR;
}

/*
 * Runs the verb.  Returns an exit status, or a negative errno with a sentence
 * in `error`; main turns that into exit 2, or error_status.
 */
typedef int verb_function(char **words, int count, struct error *error);

#define VERB(name)                                                                                 \
	extern const struct command command_##name;                                                \
	verb_function verb_##name;
#include "cli/verbs.def"

#endif
