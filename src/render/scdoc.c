/* SPDX-License-Identifier: MIT */
#include "render/scdoc.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/* A dot at the start of a line, "~" and "^" are not here: scdoc itself escapes them for roff. */
#define SPECIAL "\\*_#<>[]|+`"

void scdoc_append(struct text *out, const char *words)
{
	bool begins_line = true;

	for (; *words; words++) {
		/* a dash that begins a line would be a list */
		if (strchr(SPECIAL, *words) || (begins_line && *words == '-'))
			text_append(out, "\\", 1);
		text_append(out, words, 1);
		begins_line = *words == '\n';
	}
}
