/* SPDX-License-Identifier: MIT */
#include "render/style.h"

#include <stdarg.h>

static const char *const styles[] = {
	[STYLE_PLAIN] = "",	     [STYLE_HEADING] = "\033[1m", [STYLE_TITLES] = "\033[1;36m",
	[STYLE_MORE] = "\033[33m",   [STYLE_LESS] = "\033[35m",   [STYLE_GOOD] = "\033[32m",
	[STYLE_WARNING] = "\033[33m", [STYLE_BAD] = "\033[1;31m",
};

const char *style_on(bool colour, enum style style)
{
	return colour ? styles[style] : "";
}

const char *style_off(bool colour, enum style style)
{
	return colour && style != STYLE_PLAIN ? "\033[0m" : "";
}

void style_line(FILE *out, bool colour, enum style style, const char *format, ...)
{
	va_list values;

	fputs(style_on(colour, style), out);
	va_start(values, format);
	vfprintf(out, format, values);
	va_end(values);
	fprintf(out, "%s\n", style_off(colour, style));
}
