/* SPDX-License-Identifier: MIT */
#include "tui/screen/display.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/text.h"

/* A terminal is one thing, and signals find it here. */
static struct {
	SCREEN *screen;
	bool colour, mouse, has_blocks;
	struct termios saved;
	char restore[128]; /* what the terminal is sent after a fault */
} display;

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS };

/* Only what may be called in a signal handler. */
static void restore_after_fault(int number)
{
	ssize_t ignored = write(STDOUT_FILENO, display.restore, strlen(display.restore));

	(void)ignored;
	tcsetattr(STDIN_FILENO, TCSANOW, &display.saved);
	signal(number, SIG_DFL);
	raise(number);
}

static void keep_restoring(void)
{
	static const char *const names[] = { "rmcup", "cnorm", "sgr0", "rmkx" };
	size_t length = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *sequence = tigetstr(names[i]);

		/* Delays are written as $<5>; no terminal of today needs them. */
		if (sequence && sequence != (const char *)-1 && !strchr(sequence, '$') &&
		    length + strlen(sequence) + 32 < sizeof(display.restore)) {
			memcpy(display.restore + length, sequence, strlen(sequence) + 1);
			length += strlen(sequence);
		}
	}
	if (display.mouse)
		snprintf(display.restore + length, sizeof(display.restore) - length,
			 "\033[?1000l\033[?1006l");
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		signal(faults[i], restore_after_fault);
}

/* What we print is UTF-8, whatever the locale is. */
static void choose_locale(void)
{
	setlocale(LC_CTYPE, "");
	display.has_blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (!display.has_blocks)
		setlocale(LC_CTYPE, "C.UTF-8");
}

static bool has_screen(const char *kind)
{
	const char *move;
	bool is_found;
	int code;

	if (!kind || !kind[0] || setupterm(kind, STDOUT_FILENO, &code) != OK)
		return false;
	move = tigetstr("cup");
	is_found = move && move != (const char *)-1;
	del_curterm(cur_term);
	return is_found;
}

static int check_terminal(struct error *error)
{
	const char *kind = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return error_set(
			error, -ENOTTY,
			"top needs a terminal to show its screen: give --json for lines, or "
			"`taskscope show -d 1s` for a table");
	if (!has_screen(kind))
		return error_set(
			error, -ENOTSUP,
			"a terminal of the kind '%s' has no screen: set TERM to its right kind, or "
			"give --json for lines, or `taskscope show -d 1s` for a table",
			kind ? kind : "");
	return 0;
}

static void start_colours(void)
{
	static const short pairs[][2] = {
		[STYLE_TITLES] = { STYLE_TITLES, COLOR_CYAN },
		[STYLE_MORE] = { STYLE_MORE, COLOR_YELLOW },
		[STYLE_LESS] = { STYLE_LESS, COLOR_MAGENTA },
		[STYLE_GOOD] = { STYLE_GOOD, COLOR_GREEN },
		[STYLE_WARNING] = { STYLE_WARNING, COLOR_YELLOW },
		[STYLE_BAD] = { STYLE_BAD, COLOR_RED },
	};

	display.colour = display.colour && has_colors();
	if (!display.colour)
		return;
	start_color();
	use_default_colors();
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (pairs[i][0])
			init_pair(pairs[i][0], pairs[i][1], -1);
}

static void take_keys(void)
{
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	if (display.mouse) {
		mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
		mouseinterval(0);
	}
}

int display_open(const struct display_options *options, struct error *error)
{
	int status;

	choose_locale();
	/* The terminal knows its size; COLUMNS and LINES may have been exported in another one. */
	use_env(FALSE);
	use_tioctl(TRUE);
	status = check_terminal(error);
	if (status < 0)
		return status;
	tcgetattr(STDIN_FILENO, &display.saved);
	display.colour = options->colour;
	display.mouse = options->mouse;
	display.screen = newterm(NULL, stdout, stdin);
	if (!display.screen)
		return error_set(error, -ENOTSUP,
				 "the terminal cannot be used: give --json for lines");
	keep_restoring();
	take_keys();
	start_colours();
	return 0;
}

/* A terminal without a second screen keeps what is on it, and a prompt would be among the keys. */
static void leave_screen(void)
{
	if (!isendwin()) {
		move(LINES - 1, 0);
		clrtoeol();
		refresh();
	}
	endwin();
}

void display_close(void)
{
	if (!display.screen)
		return;
	leave_screen();
	delscreen(display.screen);
	display.screen = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		signal(faults[i], SIG_DFL);
}

void display_suspend(void)
{
	leave_screen();
	raise(SIGSTOP);
	display_resize();
}

void display_resize(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col &&
	    (size.ws_row != LINES || size.ws_col != COLS))
		resizeterm(size.ws_row, size.ws_col);
	clearok(stdscr, TRUE);
}

int display_rows(void)
{
	return LINES;
}

int display_columns(void)
{
	return COLS;
}

/* The font of the console has no blocks, whatever the locale says. */
bool display_has_blocks(void)
{
	const char *kind = getenv("TERM");

	return display.has_blocks && kind && strcmp(kind, "linux") != 0;
}

void display_begin(void)
{
	erase();
	display_cursor(0, -1);
}

void display_end(void)
{
	refresh();
}

static attr_t attributes(enum style style, bool is_marked)
{
	bool is_bold = style == STYLE_HEADING || style == STYLE_TITLES || style == STYLE_BAD;
	attr_t result = is_bold ? A_BOLD : A_NORMAL;

	if (is_marked)
		return A_REVERSE;
	if (display.colour && style >= STYLE_TITLES)
		result |= (attr_t)COLOR_PAIR(style);
	return result;
}

static int put(int row, int column, const char *text, attr_t look)
{
	if (row < 0 || row >= LINES || column < 0 || column >= COLS)
		return 0;
	attrset((int)look);
	mvaddstr(row, column, text);
	attrset(A_NORMAL);
	return (int)text_width(text);
}

static int fitting_width(int column, int width)
{
	return width < COLS - column ? width : COLS - column;
}

int display_put(int row, int column, int width, enum style style, bool is_marked, const char *text)
{
	CLEANUP(text_free) struct text cut = { 0 };

	width = fitting_width(column, width);
	if (width <= 0)
		return 0;
	text_append_start(&cut, text, (size_t)width);
	return put(row, column, text_string(&cut), attributes(style, is_marked));
}

int display_put_name(int row, int column, int width, bool is_marked, const char *text)
{
	CLEANUP(text_free) struct text cut = { 0 };

	width = fitting_width(column, width);
	if (width <= 0)
		return 0;
	text_append_cut(&cut, text, (size_t)width);
	return put(row, column, text_string(&cut), attributes(STYLE_PLAIN, is_marked));
}

void display_fill(int row, int column, bool is_marked)
{
	if (row < 0 || row >= LINES || column < 0 || column >= COLS || !is_marked)
		return;
	mvchgat(row, column, -1, A_REVERSE, 0, NULL);
}

void display_cursor(int row, int column)
{
	curs_set(column >= 0);
	if (column >= 0)
		move(row, column < COLS ? column : COLS - 1);
}

static struct input read_mouse(void)
{
	MEVENT event;
	struct input input = { .kind = INPUT_NONE };

	if (getmouse(&event) != OK)
		return (struct input){ .kind = INPUT_KEY };
	input.row = event.y;
	input.column = event.x;
	input.code = (event.bstate & BUTTON5_PRESSED) != 0;
	input.kind = event.bstate & BUTTON1_PRESSED ? INPUT_CLICK : INPUT_WHEEL;
	return input;
}

/* A terminal that is gone is always ready and never has anything. */
static bool is_gone(void)
{
	struct pollfd terminal = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&terminal, 1, 0) > 0 && (terminal.revents & (POLLHUP | POLLERR));
}

struct input display_read(void)
{
	wint_t code;
	int status = get_wch(&code);

	if (status == ERR)
		return (struct input){ .kind = is_gone() ? INPUT_END : INPUT_NONE };
	if (status == KEY_CODE_YES && code == KEY_MOUSE)
		return read_mouse();
	/* The size is asked for when the signal comes. */
	if (status == KEY_CODE_YES && code == KEY_RESIZE)
		return display_read();
	return (struct input){ .kind = status == KEY_CODE_YES ? INPUT_SPECIAL : INPUT_KEY,
			       .code = code };
}
