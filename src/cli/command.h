/* SPDX-License-Identifier: MIT */
/*
 * A verb of the program.  Each is a const in a file of its own and is listed
 * once, in main.c.
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
	const char *exits;	 /* exit statuses beside 0 and 2, "1 when ...", or NULL */
	const struct option *options;
	int words_max;
	/*
	 * The words are a command with options of its own: ours end at the first word.  `exits`
	 * then says all, since the status is mostly the command's; with any status a sentence in
	 * `error` is printed.
	 */
	bool words_are_a_command;
	int error_status; /* of everything that goes wrong before `run` returns; 0: EXIT_ERROR */
	/*
	 * Returns an exit status, or a negative errno with a sentence in `error`; main turns that
	 * into exit 2, or error_status.
	 */
	int (*run)(char **words, int count, struct error *error);
};

extern const struct command command_capture;
extern const struct command command_show;
extern const struct command command_compare;
extern const struct command command_metrics;
extern const struct command command_doctor;
extern const struct command command_run;
extern const struct command command_attach;
extern const struct command command_why;
extern const struct command command_scopes;
extern const struct command command_report;

#endif
