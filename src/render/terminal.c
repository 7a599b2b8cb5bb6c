/* SPDX-License-Identifier: MIT */
#include "render/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_WHEN_UNKNOWN 80

static bool wants_colour(void)
{
	const char *none = getenv("NO_COLOR");
	const char *kind = getenv("TERM");

	return !(none && none[0]) && !(kind && strcmp(kind, "dumb") == 0);
}

struct terminal terminal_of(FILE *out)
{
	struct terminal terminal = { 0 };
	struct winsize size;
	int fd = fileno(out);

	if (fd < 0 || !isatty(fd))
		return terminal;
	terminal.colour = wants_colour();
	terminal.width = WIDTH_WHEN_UNKNOWN;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		terminal.width = size.ws_col;
	return terminal;
}
