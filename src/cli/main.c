/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common.h"
#include "cli/complete.h"
#include "cli/help.h"
#include "render/page.h"
#include "render/terminal.h"
#include "session/watch/launch.h"

/* In the order of all_commands[]. */
static verb_function *const functions[] = {
#define VERB(name) verb_##name,
#include "cli/verbs.def"
};

static verb_function *function_of(const struct command *command)
{
	size_t i = 0;

	while (all_commands[i] != command)
		i++;
	return functions[i];
}

/* Also printed when the actual sentence could not be made for lack of memory. */
static const char out_of_memory[] = "out of memory";

/* A sentence may quote a path or a word from anywhere: it must not control the terminal. */
static int complain(const char *message)
{
	CLEANUP(text_free) struct text sentence = { 0 };
	struct page page;

	text_append_escaped(&sentence, message, strlen(message));
	page_open(&page, stderr);
	fprintf(page.out, "taskscope: %s\n",
		sentence.failed ? out_of_memory : text_string(&sentence));
	if (page_close(&page) < 0)
		fprintf(stderr, "taskscope: %s\n", out_of_memory);
	return EXIT_ERROR;
}

/* With the indentation, a line of a terminal. */
#define EXCERPT_COLUMNS 78

/* Prints the part of the user's text that has a mistake, and an arrow below it. */
static void point_at(const struct error *error)
{
	CLEANUP(text_free) struct text shown = { 0 };
	size_t length = strlen(error->excerpt);
	size_t column;

	if (length == 0 || error->caret > length)
		return;
	if (length > EXCERPT_COLUMNS)
		length = error->caret > EXCERPT_COLUMNS ? error->caret : EXCERPT_COLUMNS;
	text_append_escaped(&shown, error->excerpt, error->caret);
	column = text_width(text_string(&shown));
	text_append_escaped(&shown, error->excerpt + error->caret, length - error->caret);
	fprintf(stderr, "  %s\n  %*s^\n", text_string(&shown), (int)column, "");
}

static int unknown_verb(const char *name)
{
	struct suggestion suggestion = suggest_for(name, strlen(name));
	struct error error = { 0 };

	for (size_t i = 0; all_commands[i]; i++)
		suggest(&suggestion, all_commands[i]->name);
	suggest_list(&suggestion, "help|--help|--version|--completions");
	error_set(&error, -EINVAL, "there is no verb '%s'; %s", name,
		  suggestion_hint(&suggestion, "", "`taskscope help` lists them"));
	return complain(error.message);
}

/* Checks that the output was really written; a reader that closed its pipe is not an error. */
static int flush_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (errno == EPIPE)
		return status;
	fprintf(stderr, "taskscope: cannot write to standard output: %s\n", strerror(errno));
	return EXIT_ERROR;
}

static int check_words(const struct command *command, int count, struct error *error)
{
	if (count > command->words_max)
		return error_set(
			error, -EINVAL, "%s takes %s; see `taskscope help %s`", command->name,
			command->words_max ? command->arguments : "no arguments", command->name);
	return 0;
}

/* A verb that ran a command keeps the command's status, whatever else is printed. */
static int finish(bool is_run, int status, const struct error *error)
{
	const char *problem = is_run ? error->message : "";

	if (!problem[0] && memory_was_missing())
		problem = "out of memory: what is shown is not complete";
	status = flush_output(status);
	if (problem[0])
		complain(problem);
	return problem[0] && !is_run ? EXIT_ERROR : status;
}

static int print_help(const struct command *command)
{
	static const struct error none;
	struct page page;

	page_open(&page, stdout);
	help_command(page.out, command);
	if (page_close(&page) < 0)
		memory_note_missing();
	return finish(false, EXIT_DONE, &none);
}

static bool asks_for_help(int count, char **arguments)
{
	for (int i = 0; i < count && strcmp(arguments[i], "--") != 0; i++)
		if (strcmp(arguments[i], "--help") == 0 || strcmp(arguments[i], "-h") == 0)
			return true;
	return false;
}

/* Parses options, then words; the words of a command are not changed. */
static int parse(const struct command *command, int own, int count, char **arguments, char **words,
		 struct error *error)
{
	int found = options_parse(command->options, own, arguments, words, error);
	int status;

	if (found < 0)
		return found;
	terminal_choose_colour(common_args.color);
	for (int i = own; i < count; i++)
		words[found++] = arguments[i];
	status = check_words(command, found, error);
	return status < 0 ? status : found;
}

static int run_command(const struct command *command, int count, char **arguments)
{
	CLEANUP(free_pointer) char **words = calloc((size_t)count + 1, sizeof(*words));
	struct error error = { 0 };
	int own = count;
	int status;

	if (!words) {
		complain(out_of_memory);
		return command_error_status(command);
	}
	if (command->words_are_a_command)
		own = options_before_words(command->options, count, arguments);
	if (asks_for_help(own, arguments))
		return print_help(command);
	status = parse(command, own, count, arguments, words, &error);
	if (status >= 0)
		status = function_of(command)(words, status, &error);
	if (status >= 0)
		return finish(command->words_are_a_command, status, &error);
	fflush(stdout);
	complain(error.message[0] ? error.message : strerror(-status));
	point_at(&error);
	return command_error_status(command);
}

/* Refuses words where none is taken. */
static int check_count(int count, int most)
{
	return count > most ? complain("too many words; see `taskscope help`") : EXIT_DONE;
}

static int run_help(int count, char **arguments)
{
	const struct command *command;

	if (check_count(count, 1) != EXIT_DONE)
		return EXIT_ERROR;
	if (count == 0 || asks_for_help(count, arguments) || strcmp(arguments[0], "help") == 0) {
		help_overview(stdout, all_commands);
		return flush_output(EXIT_DONE);
	}
	command = command_find(arguments[0]);
	if (!command)
		command = topic_find(arguments[0]);
	if (!command)
		return unknown_verb(arguments[0]);
	return print_help(command);
}

static int run_completions(int count, char **arguments)
{
	if (count < 1 || !completion_write(stdout, arguments[0]))
		return complain("--completions takes bash, zsh or fish");
	return flush_output(EXIT_DONE);
}

/* For the shells; it fails silently, since nobody would see why. */
static int run_complete(int count, char **arguments)
{
	complete_words(stdout, all_commands, count, arguments);
	return fflush(stdout) == 0 ? EXIT_DONE : EXIT_ERROR;
}

static int run_version(int count, char **arguments)
{
	(void)arguments;
	if (check_count(count, 0) != EXIT_DONE)
		return EXIT_ERROR;
	printf("taskscope %s\n", TASKSCOPE_VERSION);
	return flush_output(EXIT_DONE);
}

/* First words that are not verbs. */
static const struct {
	const char *word;
	int (*run)(int count, char **arguments);
} specials[] = {
	{ "help", run_help },	      { "--help", run_help }, { "-h", run_help },
	{ "--version", run_version }, { "-V", run_version },  { "--completions", run_completions },
	{ "--complete", run_complete },
};

/*
 * If a standard stream is closed, keeps its number occupied, so that no other
 * file gets it and is overwritten by our output.  Using the stream still fails,
 * and a command that we run finds it closed.
 */
static void keep_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		int wrong_way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;

		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong_way | O_CLOEXEC) < 0)
			return;
	}
}

int main(int count, char **arguments)
{
	const struct command *command;

	keep_standard_streams();
	launch_take_signals();
	if (count < 2) {
		help_overview(stderr, all_commands);
		return EXIT_ERROR;
	}
	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
		if (strcmp(specials[i].word, arguments[1]) == 0)
			return specials[i].run(count - 2, arguments + 2);
	command = command_find(arguments[1]);
	if (!command)
		return unknown_verb(arguments[1]);
	return run_command(command, count - 2, arguments + 2);
}
