/* SPDX-License-Identifier: MIT */
#include "collect/host/host_line.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "collect/collector.h"

/* Menus and lists of words end with a blank, as the kernel writes them. */
static void trim(char *line)
{
	size_t length = strcspn(line, "\n");

	while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
		length--;
	line[length] = '\0';
}

int host_line_read(struct source_tally *tally, int dir, const char *path, char ret[HOST_LINE_SIZE])
{
	ssize_t length;

	if (dir < 0)
		return -ENOENT;
	length = file_read(dir, path, ret, HOST_LINE_SIZE);
	if (tally)
		source_count(tally, length);
	if (length < 0)
		return (int)length;
	trim(ret);
	return ret[0] ? 0 : -ENODATA;
}
