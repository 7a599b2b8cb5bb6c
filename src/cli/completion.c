/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cli/command.h"
#include "cli/help.h"

/* Prints the words of "a|b|c" or "a, b, c". */
static void print_choices(FILE *out, const char *choices)
{
	choices += strspn(choices, "|");
	for (; *choices; choices++)
		if (*choices != ',')
			fputc(*choices == '|' ? ' ' : *choices, out);
}

/* What may precede the argument: "--name", "--name=" and "-n", or "--name=" alone. */
static void bash_argument(FILE *out, const struct option *option)
{
	if (option_argument(option->type) == ARGUMENT_NEEDED) {
		fprintf(out, "\t\t--%s|", option->name);
		if (option->letter)
			fprintf(out, "-%c|", option->letter);
		fprintf(out, "--%s=) words=\"", option->name);
	} else {
		fprintf(out, "\t\t--%s=) words=\"", option->name);
	}
	if (option->choices)
		print_choices(out, option->choices);
	fputs("\" ;;\n", out);
}

static void bash_command(FILE *out, const struct command *command)
{
	const struct option *option;

	fprintf(out, "\t%s)\n\t\tcase \"$previous\" in\n", command->name);
	for (option = command->options; option && option->name; option++)
		if (option_argument(option->type) != ARGUMENT_NONE)
			bash_argument(out, option);
	fputs("\t\t*) words=\"", out);
	for (option = command->options; option && option->name; option++)
		fprintf(out, "--%s ", option->name);
	fputs("\" ;;\n\t\tesac ;;\n", out);
}

/* Prints what help takes: every verb except help itself. */
static void print_topics(FILE *out, const struct command *const *commands)
{
	for (const char *before = ""; *commands; commands++, before = " ")
		fprintf(out, "%s%s", before, (*commands)->name);
}

static void print_verbs(FILE *out, const struct command *const *commands)
{
	print_topics(out, commands);
	fputs(" help", out);
}

static void bash_write(FILE *out, const struct command *const *commands)
{
	fputs("# bash completion for taskscope\n_taskscope()\n{\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} "
	      "words=\n"
	      /* bash treats "=" as a separate word. */
	      "\tif [[ $current == = ]]; then\n\t\tcurrent= previous+==\n"
	      "\telif [[ $previous == = ]]; then\n\t\tprevious=${COMP_WORDS[COMP_CWORD-2]}=\n"
	      "\tfi\n"
	      "\tif ((COMP_CWORD == 1)); then\n\t\twords=\"",
	      out);
	print_verbs(out, commands);
	fputs(" --help --version\"\n\telse\n\tcase ${COMP_WORDS[1]} in\n\thelp) words=\"", out);
	print_topics(out, commands);
	fputs("\" ;;\n", out);
	for (; *commands; commands++)
		bash_command(out, *commands);
	fputs("\tesac\n\tfi\n\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n}\n"
	      "complete -o default -F _taskscope taskscope\n",
	      out);
}

/* Text inside single quotes; zsh also reads brackets and colons in descriptions. */
static void print_quoted(FILE *out, const char *text, const char *escaped)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", out);
		else if (strchr(escaped, *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

/*
 * ":name:how to complete it"; "::" where the argument is optional; its name
 * says whether it is a path.
 */
static void zsh_argument(FILE *out, const struct option *option)
{
	if (option_argument(option->type) == ARGUMENT_ATTACHED)
		fputc(':', out);
	fprintf(out, ":%s:", option->argument);
	if (option->choices) {
		fputc('(', out);
		print_choices(out, option->choices);
		fputc(')', out);
	} else if (strcmp(option->argument, "FILE") == 0) {
		fputs("_files", out);
	} else if (strcmp(option->argument, "DIR") == 0) {
		fputs("_directories", out);
	}
}

static void zsh_option(FILE *out, const struct option *option)
{
	fputs(" \\\n\t\t\t'", out);
	if (option->type == OPTION_LIST || option->type == OPTION_SET)
		fputc('*', out);
	if (option->letter)
		fprintf(out, "(-%c --%s)'{-%c,--%s}'", option->letter, option->name, option->letter,
			option->name);
	else
		fprintf(out, "--%s", option->name);
	if (option_argument(option->type) == ARGUMENT_ATTACHED)
		fputs("=-", out);
	fputc('[', out);
	print_quoted(out, option->help, "[]:");
	fputc(']', out);
	if (option_argument(option->type) != ARGUMENT_NONE)
		zsh_argument(out, option);
	fputc('\'', out);
}

static void zsh_write(FILE *out, const struct command *const *commands)
{
	fputs("#compdef taskscope\n_taskscope() {\n\tif ((CURRENT == 2)); then\n\t\tcompadd ", out);
	print_verbs(out, commands);
	fputs("\n\t\treturn\n\tfi\n\tlocal verb=$words[2]\n\tshift words\n\t((CURRENT--))\n"
	      "\tcase $verb in\n\thelp) compadd ",
	      out);
	print_topics(out, commands);
	fputs(" ;;\n", out);
	for (; *commands; commands++) {
		fprintf(out, "\t%s)\n\t\t_arguments", (*commands)->name);
		for (const struct option *option = (*commands)->options; option && option->name;
		     option++)
			zsh_option(out, option);
		fputs(" \\\n\t\t\t'*:file:_files' ;;\n", out);
	}
	fputs("\tesac\n}\n_taskscope \"$@\"\n", out);
}

static void fish_option(FILE *out, const struct command *command, const struct option *option)
{
	fprintf(out, "complete -c taskscope -n '__fish_seen_subcommand_from %s' -l %s",
		command->name, option->name);
	if (option->letter)
		fprintf(out, " -s %c", option->letter);
	if (option_argument(option->type) == ARGUMENT_NEEDED)
		fputs(" -r", out);
	if (option->choices) {
		fputs(" -f -a '", out);
		print_choices(out, option->choices);
		fputc('\'', out);
	}
	fputs(" -d '", out);
	for (const char *letter = option->help; *letter; letter++) {
		if (*letter == '\'')
			fputc('\\', out);
		fputc(*letter, out);
	}
	fputs("'\n", out);
}

static void fish_write(FILE *out, const struct command *const *commands)
{
	fputs("# fish completion for taskscope\n"
	      "complete -c taskscope -n __fish_use_subcommand -f -a '",
	      out);
	print_verbs(out, commands);
	fputs("'\ncomplete -c taskscope -n '__fish_seen_subcommand_from help' -f -a '", out);
	print_topics(out, commands);
	fputs("'\n", out);
	for (; *commands; commands++)
		for (const struct option *option = (*commands)->options; option && option->name;
		     option++)
			fish_option(out, *commands, option);
}

static const struct {
	const char *shell;
	void (*write)(FILE *out, const struct command *const *commands);
} shells[] = {
	{ "bash", bash_write },
	{ "zsh", zsh_write },
	{ "fish", fish_write },
};

bool completion_write(FILE *out, const char *shell, const struct command *const *commands)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
		if (strcmp(shells[i].shell, shell) != 0)
			continue;
		shells[i].write(out, commands);
		return true;
	}
	return false;
}
