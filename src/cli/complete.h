/* SPDX-License-Identifier: MIT */
/*
 * What may stand at the end of a command line: the one place that knows it, for all shells.  Their
 * scripts (completion.c) call `taskscope --complete WORD...`, where the last word is the one to be
 * completed, and do what the lines say:
 *
 *	+VALUE<TAB>DESCRIPTION	a candidate for the whole word; the description may be empty
 *	!files N ENDING...	the word from byte N on is a file, usually with one of the endings
 *	!directories N		the same for a directory
 *	!command N		from word N on it is a command of its own
 *	!nospace		the word may go on
 *
 * Names of processes come from strangers: as values only printable ones are offered, and in
 * descriptions control characters are escaped.  Scripts never let the shell evaluate a line.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include <stdio.h>

struct command;

void complete_words(FILE *out, const struct command *const *commands, int count, char **words);

#endif
