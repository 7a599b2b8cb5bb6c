/* SPDX-License-Identifier: MIT */
/*
 * The live line on a terminal: drawn in place at most four times a second, erased at the end.
 *
 * The terminal is the command's too.  Nothing is drawn while another process group has it, nor
 * while it is in a mode that programs with a screen of their own and password prompts use; it is
 * never waited for, and its modes are not touched.
 */
#ifndef SESSION_LIVE_H
#define SESSION_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "model/run.h"

struct live {
	int fd;	       /* -1: no live line */
	bool owns_fd;  /* opened here, so that writes to it need not wait */
	bool is_plain; /* no escapes */
	bool drawn;    /* there is something to erase */
	size_t width;  /* of what was drawn */
	uint64_t drawn_ns, begin_ns;
	struct run_sample shown;  /* the sample of the last drawing */
	struct run_sample before; /* the one that was shown before that, for rates */
	struct text line;
};

void live_open(struct live *live, int fd, uint64_t now_ns);
/* Draws unless that would be too often. */
void live_draw(struct live *live, const struct run *run, uint64_t now_ns);
/* Erases the line and ends it. */
void live_close(struct live *live);

#endif
