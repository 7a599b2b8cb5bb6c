/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_words.h"

#include <string.h>

#define COMMAND_BYTES 48

void path_part_name(const struct path_part *part, struct text *out)
{
	if (part->thread[0] && strncmp(part->thread, part->program, TREE_COMM_SIZE - 1) != 0 &&
	    strncmp(part->thread, part->program, strlen(part->thread)) != 0)
		text_format(out, "%s of ", part->thread);
	text_append_string(out, part->program);
}

/* The command line without the folder of its first word. */
static const char *short_command(const struct path_part *part)
{
	const char *blank = strchr(part->command, ' ');
	const char *start = part->command;

	for (const char *at = start; *at && (!blank || at < blank); at++)
		if (*at == '/' && at[1])
			start = at + 1;
	return start;
}

/*
 * Appends a command line so that it can be read: without the backslashes before blanks, and of a
 * script inside of it the first line.
 */
static void append_words(const char *command, struct text *out)
{
	size_t limit = out->length + COMMAND_BYTES;
	char last = ' ';

	for (; *command && out->length < limit && (*command != '\n' || last == ' '); command++) {
		if (*command == '\n')
			continue;
		if (*command == '\\' && command[1])
			command++;
		text_append(out, command, 1);
		last = *command;
	}
	if (*command)
		text_append_string(out, last == ' ' || *command == '\n' ? " ..." : "...");
}

void path_part_command(const struct path_part *part, struct text *out)
{
	const char *command = short_command(part);
	size_t name = strlen(part->program);
	bool begins = strncmp(command, part->program, name) == 0 && part->processes <= 1;

	path_part_name(part, out);
	if (part->processes > 1)
		text_format(out, " x%llu", (unsigned long long)part->processes);
	if (begins) {
		append_words(command + name, out);
	} else if (command[0]) {
		text_append_string(out, " (");
		append_words(command, out);
		text_append_string(out, ")");
	}
}
