/* SPDX-License-Identifier: MIT */
#include "session/watch/live.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "render/run/run_text.h"

#define FIRST_NS UINT64_C(500000000) /* a run that ends soon needs no line */
#define BETWEEN_NS UINT64_C(250000000)
#define WIDTH_WHEN_UNKNOWN 80
#define WIDTH_MOST 240

static bool is_plain_terminal(void)
{
	const char *none = getenv("NO_COLOR");
	const char *kind = getenv("TERM");

	return (none && none[0]) || !kind || strcmp(kind, "dumb") == 0;
}

/*
 * Opens the terminal again: the open file of standard error is shared with others, so it must stay
 * blocking.
 */
static int open_again(int fd)
{
	char name[PATH_MAX];

	if (ttyname_r(fd, name, sizeof(name)) != 0)
		return -1;
	return open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void live_open(struct live *live, int fd, uint64_t now_ns)
{
	int own = fd >= 0 ? open_again(fd) : -1;

	*live = (struct live){
		.fd = own >= 0 ? own : fd,
		.owns_fd = own >= 0,
		.is_plain = is_plain_terminal(),
		.begin_ns = now_ns,
	};
}

/* Whether we may write to the terminal now, and it has room. */
static bool may_draw(const struct live *live)
{
	struct pollfd room = { .fd = live->fd, .events = POLLOUT };
	struct termios modes;

	return tcgetpgrp(live->fd) == getpgrp() && tcgetattr(live->fd, &modes) == 0 &&
	       modes.c_lflag & ICANON && modes.c_lflag & ECHO && poll(&room, 1, 0) == 1 &&
	       room.revents & POLLOUT;
}

static size_t terminal_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return WIDTH_WHEN_UNKNOWN;
	return size.ws_col < WIDTH_MOST ? size.ws_col : WIDTH_MOST;
}

/*
 * Overwrites the rest of a longer old line with blanks, and returns to the left for the command's
 * output.
 */
static void put(struct live *live, const char *words)
{
	CLEANUP(text_free) struct text out = { 0 };
	size_t width = text_width(words);

	text_format(&out, "\r%s", words);
	if (!live->is_plain)
		text_append_string(&out, "\033[K");
	for (size_t i = width; live->is_plain && i < live->width; i++)
		text_append_string(&out, " ");
	text_append_string(&out, "\r");
	live->width = width;
	if (!out.failed)
		(void)!write(live->fd, text_string(&out), out.length);
}

static void draw(struct live *live, const struct run *run)
{
	size_t width = terminal_width(live->fd);

	if (live->shown.time_ns != run->last.time_ns) {
		live->before = live->shown;
		live->shown = run->last;
	}
	text_clear(&live->line);
	run_text_live(&live->line, run, &live->before, width > 1 ? width - 1 : 1);
	put(live, text_string(&live->line));
	live->drawn = true;
}

void live_draw(struct live *live, const struct run *run, uint64_t now_ns)
{
	if (live->fd < 0 || run->last.time_ns == 0 || now_ns < live->begin_ns + FIRST_NS ||
	    now_ns < live->drawn_ns + BETWEEN_NS)
		return;
	live->drawn_ns = now_ns;
	if (may_draw(live))
		draw(live, run);
}

void live_close(struct live *live)
{
	if (live->drawn && may_draw(live))
		put(live, "");
	if (live->owns_fd)
		close(live->fd);
	text_free(&live->line);
	*live = (struct live){ .fd = -1 };
}
