/* SPDX-License-Identifier: MIT */
#include "render/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"

#define WIDTH_WHEN_UNKNOWN 80
#define WIDEST 10000

/* Process-wide, as NO_COLOR is: what --color said. */
static const char *chosen_colour = "auto";

void terminal_choose_colour(const char *when)
{
	chosen_colour = when ? when : "auto";
}

static bool wants_colour(bool is_terminal)
{
	const char *none = getenv("NO_COLOR");
	const char *kind = getenv("TERM");

	if (strcmp(chosen_colour, "auto") != 0)
		return strcmp(chosen_colour, "always") == 0;
	return is_terminal && !(none && none[0]) && !(kind && strcmp(kind, "dumb") == 0);
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
	struct terminal terminal = { .width = given_width() };
	struct winsize size;
	int fd = fileno(out);
	bool is_terminal = fd >= 0 && isatty(fd);

	terminal.colour = wants_colour(is_terminal);
	if (!is_terminal)
		return terminal;
	if (!terminal.width)
		terminal.width = WIDTH_WHEN_UNKNOWN;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		terminal.width = size.ws_col;
	return terminal;
}
