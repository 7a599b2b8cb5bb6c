/* SPDX-License-Identifier: MIT */
#include "lib/lines/warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void warnings_add(struct warnings *warnings, const char *format, ...)
{
	va_list arguments;

	if (warnings->count == WARNINGS)
		return;
	va_start(arguments, format);
	vsnprintf(warnings->texts[warnings->count++], WARNING_SIZE, format, arguments);
	va_end(arguments);
}

void warnings_open_output(struct warnings *warnings, struct output *output,
			  const struct control *options, uint64_t *lost_lines)
{
	int error = output_open(output, options, lost_lines);

	if (error)
		warnings_add(warnings, "%.128s cannot be written (%s): lines go to standard error",
			     options->output, strerrordesc_np(-error));
}

void warnings_print(struct warnings *warnings, struct output *output)
{
	for (unsigned int i = 0; i < warnings->count; i++) {
		struct line line;

		line_begin(&line, LINE_WARNING, getpid());
		line_add_as(&line, "message", " *", NULL, line_text(LINE_WORD, warnings->texts[i]));
		output_line(output, &line);
	}
	warnings->count = 0;
}
