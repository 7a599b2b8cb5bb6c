#include "render/scdoc.h"

#include <string.h>

#include "base/text.h"

/* A dot that begins a line, "~" and "^" are not among them: scdoc writes those for roff itself. */
#define SPECIAL "\\*_#<>[]|+`"

void scdoc_append(struct text *out, const char *words)
{
	for (; *words; words++) {
		if (strchr(SPECIAL, *words))
			text_append(out, "\\", 1);
		text_append(out, words, 1);
	}
}
