/* SPDX-License-Identifier: MIT */
#include "cli/help.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/text.h"
#include "cli/command.h"
#include "record/record_paths.h"
#include "render/scdoc.h"

#define HELP_COLUMN 28
#define HELP_WIDTH 80

static void append_argument(struct text *out, const struct option *option, bool of_man)
{
	enum option_argument argument = option_argument(option->type);
	const char *mark = of_man ? "_" : "";

	if (argument == ARGUMENT_ATTACHED)
		text_format(out, "[=%s%s%s]", mark, option->argument, mark);
	else if (argument == ARGUMENT_NEEDED)
		text_format(out, " %s%s%s", mark, option->argument, mark);
}

/* Appends the help of an option, with its choices. */
static void append_meaning(struct text *out, const struct option *option)
{
	text_append_string(out, option->help);
	if (!option_is_limited(option))
		return;
	text_append_string(out, ": ");
	for (const char *choice = option->choices; *choice; choice++)
		text_append(out, *choice == '|' ? ", " : choice, *choice == '|' ? 2 : 1);
}

void help_words(FILE *out, const char *words, const char *indent)
{
	size_t column = strlen(indent);

	while (*words) {
		size_t length = strcspn(words, " ");
		bool begins = column == strlen(indent);

		if (!begins && column + 1 + length > HELP_WIDTH) {
			fprintf(out, "\n%s", indent);
			column = strlen(indent);
			begins = true;
		}
		fprintf(out, "%s%.*s", begins ? "" : " ", (int)length, words);
		column += length + !begins;
		words += length + (words[length] == ' ');
	}
	fputc('\n', out);
}

static void print_option(FILE *out, const struct option *option)
{
	CLEANUP(text_free) struct text left = { 0 };
	CLEANUP(text_free) struct text meaning = { 0 };
	CLEANUP(text_free) struct text indent = { 0 };

	if (option->letter)
		text_format(&left, "  -%c, --%s", option->letter, option->name);
	else
		text_format(&left, "      --%s", option->name);
	append_argument(&left, option, false);
	append_meaning(&meaning, option);
	fprintf(out, "%-*s", HELP_COLUMN, text_string(&left));
	if (left.length >= HELP_COLUMN)
		fprintf(out, "\n%*s", HELP_COLUMN, "");
	text_format(&indent, "%*s", HELP_COLUMN, "");
	help_words(out, text_string(&meaning), text_string(&indent));
}

/* A line "left<TAB>right" of a list, printed somehow. */
typedef void row_printer(FILE *out, const char *left, size_t left_length, const char *right,
			 size_t right_length);

static void print_rows(FILE *out, const char *rows, row_printer *print)
{
	while (rows && *rows) {
		size_t left = strcspn(rows, "\t");
		size_t length = strcspn(rows, "\n");

		print(out, rows, left, rows + left + 1, length - left - 1);
		rows += length + (rows[length] == '\n');
	}
}

/* All statuses of a verb, as rows. */
static void append_exits(struct text *out, const struct command *command)
{
	CLEANUP(text_free) struct text error = { 0 };

	text_format(&error, "%d\t", command_error_status(command));
	if (!command->words_are_a_command)
		text_append_string(out, "0\tdone\n");
	if (command->exits)
		text_format(out, "%s\n", command->exits);
	if (!command->exits || !strstr(command->exits, text_string(&error)))
		text_format(out, "%san error: one sentence on standard error says which\n",
			    text_string(&error));
}

static void help_example(FILE *out, const char *command, size_t length, const char *meaning,
			 size_t meaning_length)
{
	fprintf(out, "  %.*s\n      %.*s\n", (int)length, command, (int)meaning_length, meaning);
}

static void help_exit(FILE *out, const char *status, size_t length, const char *meaning,
		      size_t meaning_length)
{
	fprintf(out, "  %-7.*s%.*s\n", (int)length, status, (int)meaning_length, meaning);
}

static void help_key(FILE *out, const char *keys, size_t length, const char *meaning,
		     size_t meaning_length)
{
	CLEANUP(text_free) struct text words = { 0 };

	text_append(&words, meaning, meaning_length);
	fprintf(out, "  %-17.*s", (int)length, keys);
	help_words(out, text_string(&words), "                   ");
}

/* Prints them only where there are more than 0 and 2. */
static void print_exits(FILE *out, const struct command *command)
{
	CLEANUP(text_free) struct text rows = { 0 };

	if (!command->exits)
		return;
	append_exits(&rows, command);
	fputs("\nExit status:\n", out);
	print_rows(out, text_string(&rows), help_exit);
}

static void print_options(FILE *out, const char *title, const struct option *options)
{
	if (options && options->name)
		fprintf(out, "\n%s:\n", title);
	for (; options && options->name; options++)
		print_option(out, options);
}

void help_command(FILE *out, const struct command *command)
{
	fprintf(out, "taskscope %s - %s\n\n", command->name, command->summary);
	if (!command->is_topic)
		fprintf(out, "Usage: taskscope %s%s%s%s\n\n", command->name,
			command->options ? " [OPTIONS]" : "", command->arguments[0] ? " " : "",
			command->arguments);
	fprintf(out, "%s\n", command->description);
	if (!command->is_topic) {
		print_options(out, "Options", command->options);
		print_options(out, "Options of all verbs", common_options);
	}
	if (command->keys)
		fputs("\nKeys:\n", out);
	print_rows(out, command->keys, help_key);
	print_exits(out, command);
	if (command->examples) {
		fputs("\nExamples:\n", out);
		print_rows(out, command->examples, help_example);
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
	      "  help filter    how --filter says which tasks are meant\n"
	      "  --version      which taskscope this is\n"
	      "  --completions SHELL   completion script for bash, zsh or fish\n\n"
	      "Times are 250ms, 5s, 10min, 1h30m or 2d; the file - is standard input or output.\n",
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
	CLEANUP(text_free) struct text argument = { 0 };
	CLEANUP(text_free) struct text meaning = { 0 };

	append_argument(&argument, option, true);
	append_meaning(&meaning, option);
	if (option->letter)
		fprintf(out, "*-%c*, ", option->letter);
	fprintf(out, "*--%s*%s\n\t", option->name, text_string(&argument));
	print_scdoc(out, text_string(&meaning));
	fputs(".\n\n", out);
}

static void man_example(FILE *out, const char *command, size_t length, const char *meaning,
			size_t meaning_length)
{
	fprintf(out, "```\n%.*s\n```\n\n%.*s\n\n", (int)length, command, (int)meaning_length,
		meaning);
}

/* A term in bold, and what it means. */
static void man_term(FILE *out, const char *term, size_t length, const char *meaning,
		     size_t meaning_length)
{
	CLEANUP(text_free) struct text words = { 0 };

	text_append(&words, term, length);
	fputs("*", out);
	print_scdoc(out, text_string(&words));
	fputs("*\n\t", out);
	text_clear(&words);
	text_append(&words, meaning, meaning_length);
	print_scdoc(out, text_string(&words));
	fputs(".\n\n", out);
}

/* What the environment and files decide; `verbs` are those that it is about, NULL all. */
static const struct {
	const char *heading, *verbs, *rows;
} man_sections[] = {
	/* clang-format off */
	{ "ENVIRONMENT", NULL,
	  "NO_COLOR\tno colours, unless --color says always\n"
	  "TERM\tdumb: no colours\n"
	  "COLUMNS\tthe width of text where the output is not a terminal" },
	{ "ENVIRONMENT", " run ",
	  "PATH\twhere the command is searched" },
	{ "ENVIRONMENT", " capture show compare record run attach doctor ",
	  "TASKSCOPE_GPU_PATH\twhere libnvidia-ml.so.1 and nvidia-smi are, instead of the usual places" },
	{ "ENVIRONMENT", " record events anomalies activity history latest stream ",
	  "XDG_STATE_HOME, HOME\twhere the recording of a plain user is" },
	{ "ENVIRONMENT", " record latest stream events ",
	  "XDG_RUNTIME_DIR\twhere the socket of a plain user is" },
	{ "ENVIRONMENT", " capture show compare ",
	  "XDG_CACHE_HOME, HOME\twhere it is kept what was learned about allocators" },
	{ "FILES", " record ",
	  RECORD_CONFIG "\toptions, unless --config names another file" },
	{ "FILES", " record events anomalies activity history latest stream ",
	  "/var/lib/taskscope/recording.db\tthe recording of root; of others "
	  "~/.local/state/taskscope/recording.db" },
	{ "FILES", " record latest stream events ",
	  "/run/taskscope/taskscope.sock\tthe socket of root's recorder" },
	{ "FILES", " capture show compare ",
	  "/var/cache/taskscope/jemalloc\twhat root learned about allocators; of others "
	  "~/.cache/taskscope/jemalloc" },
	/* clang-format on */
};

static bool is_about(const char *verbs, const char *name)
{
	CLEANUP(text_free) struct text word = { 0 };

	text_format(&word, " %s ", name);
	return !verbs || strstr(verbs, text_string(&word));
}

/* Prints the sections of a verb, or of none (NULL) those about all. */
static void man_surroundings(FILE *out, const char *verb)
{
	const char *heading = "";

	for (size_t i = 0; i < ARRAY_SIZE(man_sections); i++) {
		if (man_sections[i].verbs && (!verb || !is_about(man_sections[i].verbs, verb)))
			continue;
		if (strcmp(heading, man_sections[i].heading) != 0)
			fprintf(out, "# %s\n\n", man_sections[i].heading);
		heading = man_sections[i].heading;
		print_rows(out, man_sections[i].rows, man_term);
	}
}

static void man_options(FILE *out, const struct option *options)
{
	for (; options && options->name; options++)
		man_option(out, options);
}

static void man_exits(FILE *out, const struct command *command)
{
	CLEANUP(text_free) struct text rows = { 0 };

	append_exits(&rows, command);
	fputs("# EXIT STATUS\n\n", out);
	print_rows(out, text_string(&rows), man_term);
}

void man_command(FILE *out, const struct command *command)
{
	fprintf(out, "taskscope-%s(%d)\n\n# NAME\n\ntaskscope-%s - %s\n\n# SYNOPSIS\n\n",
		command->name, command->is_topic ? 7 : 1, command->name, command->summary);
	if (!command->is_topic)
		fprintf(out, "*taskscope %s*%s ", command->name,
			command->options ? " [_OPTIONS_]" : "");
	print_scdoc(out, command->arguments);
	fputs("\n\n# DESCRIPTION\n\n", out);
	print_scdoc(out, command->description);
	fputs("\n\n", out);
	if (!command->is_topic) {
		fputs("# OPTIONS\n\n", out);
		man_options(out, command->options);
		man_options(out, common_options);
	}
	if (command->keys)
		fputs("# KEYS\n\n", out);
	print_rows(out, command->keys, man_term);
	if (command->examples)
		fputs("# EXAMPLES\n\n", out);
	print_rows(out, command->examples, man_example);
	if (!command->is_topic) {
		man_exits(out, command);
		man_surroundings(out, command->name);
	}
	fputs("# SEE ALSO\n\n*taskscope*(1), *taskscope-metrics*(7), *taskscope-filter*(7)\n", out);
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
	fputs("*help* _VERB_\n\tmore about a verb.\n\n# OPTIONS\n\n", out);
	man_options(out, common_options);
	fputs("Times are written as 250ms, 5s, 10min, 1h30m or 2d. Where a file is read or written, "
	      "*-* is standard input or output; an ending says what is written there: "
	      "*-o -.folded*.\n\n# EXIT STATUS\n\n"
	      "0 when done, 2 on an error; the pages of the verbs name what else there is.\n\n",
	      out);
	man_surroundings(out, NULL);
	fputs("# SEE ALSO\n\n*taskscope-metrics*(7), *taskscope-filter*(7)\n", out);
}
