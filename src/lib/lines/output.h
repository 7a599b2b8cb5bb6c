/* SPDX-License-Identifier: MIT */
/*
 * Writes the heartbeat's lines: to the program's function, a file, or standard error.  Only the
 * heartbeat thread uses it; without that thread, the thread that starts the library prints its
 * warnings with it.  It waits only a moment for a reader that does not read; lines that are not
 * taken by then are left out and counted.
 */
#ifndef LIB_OUTPUT_H
#define LIB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/control.h"
#include "lib/lines/line.h"

enum {
	OUTPUT_CHUNK = 4096, /* a pipe takes this much at once or not at all */
	OUTPUT_PATIENCE_MS = 1000,
};

struct output {
	int fd;
	bool is_own_fd;
	bool is_json;
	bool is_torn;	 /* the last write ended in the middle of a line */
	int patience_ms; /* how long all writes may wait from now on; the caller renews it */
	uint64_t *lost_lines;
	void (*log)(void *context, enum taskscope_level level, const char *line);
	void *log_context;
	size_t length;
	unsigned int line_count; /* in the buffer */
	char buffer[OUTPUT_CHUNK];
};

/*
 * Opens what the options name.  Returns 0, or a negative errno when the file cannot be opened:
 * lines then go to standard error.  The number of lines that are not taken is added to
 * `lost_lines`.
 */
int output_open(struct output *output, const struct control *options, uint64_t *lost_lines);
void output_close(struct output *output);

void output_line(struct output *output, const struct line *line);
/* Writes a line that only says how many others were left out. */
void output_left(struct output *output, enum line_kind kind, const char *form, uint64_t count);
/* Lines are kept until a chunk is full; this writes them now. */
void output_flush(struct output *output);

#endif
