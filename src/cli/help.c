/* SPDX-License-Identifier: MIT */
#include "cli/help.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/command.h"
#include "render/scdoc.h"

#define HELP_COLUMN 28

static bool is_attached(const struct option *option)
{
	return option_argument(option->type) == ARGUMENT_ATTACHED;
}

static void print_option(FILE *out, const struct option *option)
{
	CLEANUP(text_free) struct text left = { 0 };

	if (option->letter)
		text_format(&left, "  -%c, --%s", option->letter, option->name);
	else
		text_format(&left, "      --%s", option->name);
	if (option->argument)
		text_format(&left, is_attached(option) ? "[=%s]" : " %s", option->argument);
	fprintf(out, "%-*s", HELP_COLUMN, text_string(&left));
	if (left.length >= HELP_COLUMN)
		fprintf(out, "\n%*s", HELP_COLUMN, "");
	fputs(option->help, out);
	if (option->choices && option->type != OPTION_NAMES)
		fprintf(out, ": %s", option->choices);
	fputc('\n', out);
}

/* Each line of the examples is "command<TAB>meaning". */
static void print_examples(FILE *out, const char *examples, const char *before, const char *between,
			   const char *after)
{
	while (*examples) {
		size_t command = strcspn(examples, "\t");
		size_t length = strcspn(examples, "\n");

		fprintf(out, "%s%.*s%s%.*s%s", before, (int)command, examples, between,
			(int)(length - command - 1), examples + command + 1, after);
		examples += length + (examples[length] == '\n');
	}
}

/* Prints them only where there are more than 0 and 2. */
static void print_exits(FILE *out, const struct command *command)
{
	if (command->exits)
		fprintf(out, "\nExit status: %s%s, %d on an error.\n",
			command->words_are_a_command ? "" : "0 when done, ", command->exits,
			command_error_status(command));
}

void help_command(FILE *out, const struct command *command)
{
	fprintf(out, "taskscope %s - %s\n\nUsage: taskscope %s%s%s%s\n\n%s\n", command->name,
		command->summary, command->name, command->options ? " [OPTIONS]" : "",
		command->arguments[0] ? " " : "", command->arguments, command->description);
	if (command->options)
		fputs("\nOptions:\n", out);
	for (const struct option *option = command->options; option && option->name; option++)
		print_option(out, option);
	print_exits(out, command);
	if (command->examples) {
		fputs("\nExamples:\n", out);
		print_examples(out, command->examples, "  ", "\n      ", "\n");
	}
}

void help_overview(FILE *out, const struct command *const *commands)
{
	fputs("taskscope shows what processes and threads are doing, and where their time and\n"
	      "memory went. What was not measured is absent, with a reason.\n\n"
	      "Usage: taskscope VERB [OPTIONS] [ARGUMENTS]\n\nVerbs:\n",
	      out);
	for (; *commands; commands++)
		fprintf(out, "  %-10s %s\n", (*commands)->name, (*commands)->summary);
	fputs("\n  help VERB      more about a verb (also: VERB --help)\n"
	      "  --version      which taskscope this is\n"
	      "  --completions SHELL   completion script for bash, zsh or fish\n",
	      out);
}

static void print_scdoc(FILE *out, const char *words)
{
	CLEANUP(text_free) struct text escaped = { 0 };

	scdoc_append(&escaped, words);
	fputs(text_string(&escaped), out);
}

static void man_option(FILE *out, const struct option *option)
{
	if (option->letter)
		fprintf(out, "*-%c*, ", option->letter);
	fprintf(out, "*--%s*", option->name);
	if (option->argument)
		fprintf(out, is_attached(option) ? "[=_%s_]" : " _%s_", option->argument);
	fputs("\n\t", out);
	print_scdoc(out, option->help);
	if (option->choices && option->type != OPTION_NAMES) {
		fputs(": ", out);
		print_scdoc(out, option->choices);
	}
	fputs(".\n\n", out);
}

static void man_exits(FILE *out, const struct command *command)
{
	fputs("# EXIT STATUS\n\n", out);
	if (!command->words_are_a_command)
		fputs("0 when done, ", out);
	if (command->exits) {
		print_scdoc(out, command->exits);
		fputs(", ", out);
	}
	fprintf(out,
		"%d on an error: one sentence on standard error says what failed, on what and "
		"why.\n\n",
		command_error_status(command));
}

void man_command(FILE *out, const struct command *command)
{
	fprintf(out, "taskscope-%s(1)\n\n# NAME\n\ntaskscope-%s - %s\n\n", command->name,
		command->name, command->summary);
	fprintf(out, "# SYNOPSIS\n\n*taskscope %s*%s ", command->name,
		command->options ? " [_OPTIONS_]" : "");
	print_scdoc(out, command->arguments);
	fputs("\n\n# DESCRIPTION\n\n", out);
	print_scdoc(out, command->description);
	fputs("\n\n", out);
	if (command->options)
		fputs("# OPTIONS\n\n", out);
	for (const struct option *option = command->options; option && option->name; option++)
		man_option(out, option);
	if (command->examples) {
		fputs("# EXAMPLES\n\n", out);
		print_examples(out, command->examples, "```\n", "\n```\n\n", "\n\n");
	}
	man_exits(out, command);
	fputs("# SEE ALSO\n\n*taskscope*(1), *taskscope-metrics*(7)\n", out);
}

void man_overview(FILE *out, const struct command *const *commands)
{
	fputs("taskscope(1)\n\n# NAME\n\ntaskscope - what processes and threads are doing, and "
	      "where their time and memory went\n\n# SYNOPSIS\n\n*taskscope* _VERB_ [_OPTIONS_] "
	      "[_ARGUMENTS_]\n\n# DESCRIPTION\n\n"
	      "taskscope reads every thread of a host in one walk, keeps it in one file and shows "
	      "it by process, thread, cgroup, user or name. A value that was not measured is "
	      "absent, with a reason; it is never shown as zero.\n\n# VERBS\n\n",
	      out);
	for (; *commands; commands++)
		fprintf(out, "*%s*\n\t%s. See *taskscope-%s*(1).\n\n", (*commands)->name,
			(*commands)->summary, (*commands)->name);
	fputs("*help* _VERB_\n\tmore about a verb.\n\n# ENVIRONMENT\n\n*NO_COLOR*\n\tno colours, "
	      "also on a terminal.\n\n# SEE ALSO\n\n*taskscope-metrics*(7)\n",
	      out);
}
