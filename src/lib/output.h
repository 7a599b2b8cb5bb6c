/* SPDX-License-Identifier: MIT */
/*
 * Where the heartbeat's lines go: the program's function, a file, or standard error.  Only the
 * heartbeat thread writes.  Nobody waits for a reader that does not read, beyond a moment: what it
 * does not take is left out, line by line, and counted.
 */
#ifndef LIB_OUTPUT_H
#define LIB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/control.h"
#include "lib/line.h"

enum {
	OUTPUT_CHUNK = 4096, /* what a pipe takes at once or not at all */
	OUTPUT_PATIENCE_MS = 1000,
};

struct output {
	int fd;
	bool is_own_fd;
	bool is_json;
	bool is_torn;	 /* the last write ended in the middle of a line */
	int patience_ms; /* left until the next output_refresh() */
	uint64_t *lost_lines;
	void (*log)(void *context, enum taskscope_level level, const char *line);
	void *log_context;
	size_t length;
	unsigned int line_count; /* in the buffer */
	char buffer[OUTPUT_CHUNK];
};

/*
 * As the options say.  0, or a negative errno when the file cannot be had: then lines go to standard
 * error.  Lines that are not taken are added to `lost_lines`.
 */
int output_open(struct output *output, const struct control *options, uint64_t *lost_lines);
void output_close(struct output *output);

/* Writes are waited for so long, all together, from now on. */
void output_refresh(struct output *output, int patience_ms);
void output_line(struct output *output, const struct line *line);
/* Lines are kept until a chunk is full: writes them. */
void output_flush(struct output *output);

#endif
