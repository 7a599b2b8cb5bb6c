/* SPDX-License-Identifier: MIT */
/*
 * Draws the live line on a terminal, in place, at most four times a second, and erases it at the
 * end.
 *
 * The command may use the terminal too.  So nothing is drawn while another process group has it,
 * or while it is in a mode that full-screen programs and password prompts use.  Drawing never
 * waits for the terminal and does not change its modes.
 */
#ifndef SESSION_LIVE_H
#define SESSION_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "model/tree/run.h"

struct live {
	int fd;	       /* -1: no live line */
	bool owns_fd;  /* opened here, so that writes do not block */
	bool is_plain; /* no escape sequences */
	bool drawn;    /* there is something to erase */
	size_t width;  /* of what was drawn */
	uint64_t drawn_ns, begin_ns;
	struct run_sample shown;  /* the sample of the last drawing */
	struct run_sample before; /* the sample before that, for rates */
	struct text line;
};

void live_open(struct live *live, int fd, uint64_t now_ns);
/* Draws, unless the last drawing was too recent. */
void live_draw(struct live *live, const struct run *run, uint64_t now_ns);
/* Erases the line and ends it. */
void live_close(struct live *live);

#endif
