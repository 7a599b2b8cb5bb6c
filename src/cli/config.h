/* SPDX-License-Identifier: MIT */
/*
 * A configuration file gives options that the command line does not: a line is the name of an
 * option, "=" and its value; a flag is "yes" or "no".  A line that begins with "#" is a comment.
 * The table of options of the verb is all that it takes.
 *
 *	# /etc/taskscope.conf
 *	interval = 1s
 *	keep-raw = 48h
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include <stdio.h>

#include "base/text.h"
#include "cli/option.h"

struct error;

/*
 * Reads the file into *text, which the values point into.  What the command line gave stays.  A file
 * can name a command to run, so it must belong to root or the caller, and others must not be able to
 * change it.  0; -ENOENT, without a sentence, when there is no such file; or another negative errno
 * with a sentence that names the line.
 */
int config_read(const char *path, const struct option *options, struct text *text,
		struct error *error);

/* Prints the options as such a file, with the values that are in effect. */
void config_print(FILE *out, const struct option *options);

#endif
