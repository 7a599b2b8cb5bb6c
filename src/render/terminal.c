/* SPDX-License-Identifier: MIT */
#include "render/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

#define WIDTH_WHEN_UNKNOWN 80
#define WIDEST 10000

static bool wants_colour(void)
{
	const char *none = getenv("NO_COLOR");
	const char *kind = getenv("TERM");

	return !(none && none[0]) && !(kind && strcmp(kind, "dumb") == 0);
}

/* The width that COLUMNS gives; 0 for none. */
static size_t given_width(void)
{
	const char *columns = getenv("COLUMNS");
	uint64_t width;

	return columns && parse_u64(columns, &width) && width <= WIDEST ? width : 0;
}

struct terminal terminal_of(FILE *out)
{
	struct terminal terminal = { 0 };
	struct winsize size;
	int fd = fileno(out);

	terminal.width = given_width();
	if (fd < 0 || !isatty(fd))
		return terminal;
	terminal.colour = wants_colour();
	if (!terminal.width)
		terminal.width = WIDTH_WHEN_UNKNOWN;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		terminal.width = size.ws_col;
	return terminal;
}
