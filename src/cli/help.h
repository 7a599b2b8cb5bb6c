/* SPDX-License-Identifier: MIT */
/*
 * Makes help and man pages (as scdoc source) from the tables of commands and
 * options; and has the scripts that complete command lines (complete.h).
 */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdbool.h>
#include <stdio.h>

struct command;

/* All of them take the commands as an array that ends with NULL. */
void help_overview(FILE *out, const struct command *const *commands);
void help_command(FILE *out, const struct command *command);

/* The rest of a line, in as many lines of 80 columns as it needs; `indent` begins each further one. */
void help_words(FILE *out, const char *words, const char *indent);

void man_overview(FILE *out, const struct command *const *commands);
void man_command(FILE *out, const struct command *command);

/* Writes the completion script of "bash", "zsh" or "fish"; false for another shell. */
bool completion_write(FILE *out, const char *shell);

#endif
