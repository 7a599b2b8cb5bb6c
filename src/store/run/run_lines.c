/* SPDX-License-Identifier: MIT */
#include "store/run/run_lines.h"

#include <errno.h>
#include <string.h>

#define PIECE 16384

/* fgets() does not say where a text with NULs ends; unlocked getc() is fast enough. */
static size_t read_piece(FILE *in, char *piece, bool *ret_newline)
{
	size_t length = 0;
	int byte = 0;

	while (length < PIECE && (byte = getc_unlocked(in)) != EOF && byte != '\n')
		piece[length++] = (char)byte;
	*ret_newline = byte == '\n';
	return length;
}

int run_lines_next(struct run_lines *lines)
{
	char piece[PIECE];
	size_t length;

	text_clear(&lines->line);
	lines->number++;
	lines->complete = false;
	do {
		length = read_piece(lines->in, piece, &lines->complete);
		if (ferror(lines->in))
			return errno ? -errno : -EIO;
		if (lines->line.length + length > RUN_LINE_MAX)
			return -EFBIG;
		text_append(&lines->line, piece, length);
		if (lines->line.failed)
			return -ENOMEM;
	} while (length == PIECE && !lines->complete);
	return lines->line.length || lines->complete;
}

void run_lines_free(struct run_lines *lines)
{
	text_free(&lines->line);
}
