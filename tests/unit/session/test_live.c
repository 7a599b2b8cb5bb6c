/* SPDX-License-Identifier: MIT */
/* The live line, on terminals of the test's own. */
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "model/tree/run.h"
#include "session/watch/live.h"

#define BEGIN (1000 * NS_PER_SECOND)
#define FIRST (BEGIN + 500 * NS_PER_MS)
#define BETWEEN (250 * NS_PER_MS)

/* A run of one process, and its terminal. */
struct scene {
	int fd;
	struct run *run;
	struct live live;
};

static void begin(struct scene *scene)
{
	if (run_new(&scene->run) < 0)
		abort();
	scene->run->begin_ns = BEGIN;
	scene->run->last.time_ns = BEGIN + NS_PER_SECOND;
	scene->run->last.processes = scene->run->last.threads = 1;
	live_open(&scene->live, scene->fd, BEGIN);
}

static void end(struct scene *scene)
{
	live_close(&scene->live);
	run_free(scene->run);
}

/* Shows what is drawn on a terminal that is the test's, by a process that owns it. */
static const char *drawn_by(void (*play)(struct scene *scene), unsigned short columns)
{
	static char text[4096];
	struct winsize size = { .ws_row = 24, .ws_col = columns };
	size_t length = 0;
	int master, slave, status;
	ssize_t got;
	pid_t child;

	assert_int_equal(openpty(&master, &slave, NULL, NULL, &size), 0);
	child = fork();
	if (child == 0) {
		struct scene scene = { .fd = slave };

		setsid();
		if (ioctl(slave, TIOCSCTTY, 0) < 0)
			abort();
		play(&scene);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	fcntl(master, F_SETFL, O_NONBLOCK);
	while ((got = read(master, text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = 0;
	close(master);
	close(slave);
	return text;
}

#define LINE "\r1.00 s  1 proc 1 thr\033[K\r"
#define ERASED "\r\033[K\r"

static void draw_early(struct scene *scene)
{
	begin(scene);
	live_draw(&scene->live, scene->run, FIRST - 1);
	end(scene);
}

static void draw_once(struct scene *scene)
{
	begin(scene);
	live_draw(&scene->live, scene->run, FIRST);
	live_draw(&scene->live, scene->run, FIRST + BETWEEN - 1);
	end(scene);
}

static void draw_twice(struct scene *scene)
{
	begin(scene);
	live_draw(&scene->live, scene->run, FIRST);
	live_draw(&scene->live, scene->run, FIRST + BETWEEN);
	end(scene);
}

static void draw_before_a_sample(struct scene *scene)
{
	begin(scene);
	scene->run->last.time_ns = 0;
	live_draw(&scene->live, scene->run, FIRST);
	end(scene);
}

static void it_is_drawn_late_and_seldom_and_erased(void **state)
{
	(void)state;
	setenv("TERM", "xterm", 1);
	assert_string_equal(drawn_by(draw_early, 80), "");
	assert_string_equal(drawn_by(draw_once, 80), LINE ERASED);
	assert_string_equal(drawn_by(draw_twice, 80), LINE LINE ERASED);
	assert_string_equal(drawn_by(draw_before_a_sample, 80), "");
}

static void draw_a_shorter_one(struct scene *scene)
{
	begin(scene);
	scene->run->last.processes = 100;
	live_draw(&scene->live, scene->run, FIRST);
	scene->run->last.processes = 1;
	live_draw(&scene->live, scene->run, FIRST + BETWEEN);
	end(scene);
}

static void without_escapes_blanks_cover_the_old_line(void **state)
{
	static const char expected[] = "\r1.00 s  100 procs 1 thr\r"
				       "\r1.00 s  1 proc 1 thr   \r"
				       "\r                    \r";

	(void)state;
	setenv("TERM", "dumb", 1);
	assert_string_equal(drawn_by(draw_a_shorter_one, 80), expected);
	unsetenv("TERM");
	assert_string_equal(drawn_by(draw_a_shorter_one, 80), expected);
	setenv("TERM", "xterm", 1);
	setenv("NO_COLOR", "1", 1);
	assert_string_equal(drawn_by(draw_a_shorter_one, 80), expected);
	setenv("NO_COLOR", "", 1);
	assert_string_equal(drawn_by(draw_once, 80), LINE ERASED);
	unsetenv("NO_COLOR");
}

/* As wide as its columns, but for the last, in which a terminal may begin a new line. */
static void it_fits_the_terminal(void **state)
{
	(void)state;
	assert_string_equal(drawn_by(draw_once, 20), "\r1.00 s\033[K\r" ERASED);
	assert_string_equal(drawn_by(draw_once, 21), LINE ERASED);
	assert_string_equal(drawn_by(draw_once, 0), LINE ERASED);
	assert_string_equal(drawn_by(draw_once, 1000), LINE ERASED);
}

static void set_modes(int fd, tcflag_t flags)
{
	struct termios modes;

	tcgetattr(fd, &modes);
	modes.c_lflag &= ~flags;
	tcsetattr(fd, TCSANOW, &modes);
}

static void draw_without_echo(struct scene *scene)
{
	set_modes(scene->fd, ECHO);
	draw_once(scene);
}

static void draw_without_lines(struct scene *scene)
{
	set_modes(scene->fd, ICANON);
	draw_once(scene);
}

static void draw_behind_another(struct scene *scene)
{
	pid_t other = fork();

	if (other == 0) {
		setpgid(0, 0);
		for (;;)
			pause();
	}
	setpgid(other, other);
	tcsetpgrp(scene->fd, other);
	draw_once(scene);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

static void lose_the_terminal(struct scene *scene)
{
	begin(scene);
	live_draw(&scene->live, scene->run, FIRST);
	set_modes(scene->fd, ECHO);
	end(scene);
}

static void a_terminal_that_others_use_is_left_alone(void **state)
{
	(void)state;
	assert_string_equal(drawn_by(draw_without_echo, 80), "");
	assert_string_equal(drawn_by(draw_without_lines, 80), "");
	assert_string_equal(drawn_by(draw_behind_another, 80), "");
	assert_string_equal(drawn_by(lose_the_terminal, 80), LINE);
}

static void draw_blocked(struct scene *scene)
{
	int before = fcntl(scene->fd, F_GETFL);

	begin(scene);
	if (!scene->live.owns_fd || !(fcntl(scene->live.fd, F_GETFL) & O_NONBLOCK) ||
	    fcntl(scene->fd, F_GETFL) != before)
		abort();
	tcflow(scene->fd, TCOOFF);
	for (uint64_t i = 0; i < 100; i++)
		live_draw(&scene->live, scene->run, FIRST + i * BETWEEN);
	tcflow(scene->fd, TCOON);
	end(scene);
}

static void a_terminal_that_stands_still_is_not_waited_for(void **state)
{
	(void)state;
	(void)drawn_by(draw_blocked, 80);
}

static void draw_rates(struct scene *scene)
{
	begin(scene);
	scene->run->last.has_rss = false;
	amounts_set(&scene->run->last.amounts, AMOUNT_read_bytes, 0);
	amounts_set(&scene->run->last.amounts, AMOUNT_write_bytes, 0);
	live_draw(&scene->live, scene->run, FIRST);
	scene->run->last.time_ns += NS_PER_SECOND;
	amounts_set(&scene->run->last.amounts, AMOUNT_read_bytes, 1 << 20);
	live_draw(&scene->live, scene->run, FIRST + BETWEEN);
	live_draw(&scene->live, scene->run, FIRST + 2 * BETWEEN);
	end(scene);
}

static void rates_are_between_two_samples(void **state)
{
	const char *drawn = drawn_by(draw_rates, 80), *first, *second;

	(void)state;
	first = strstr(drawn, "2.00 s  1 proc 1 thr  rd 1.00 MiB/s wr 0 B");
	assert_non_null(first);
	second = strstr(first + 1, "2.00 s  1 proc 1 thr  rd 1.00 MiB/s wr 0 B");
	assert_non_null(second);
}

static void nowhere_nothing_is_drawn(void **state)
{
	struct live live;
	struct run *run;

	(void)state;
	assert_int_equal(run_new(&run), 0);
	run->last.time_ns = BEGIN;
	live_open(&live, -1, BEGIN);
	assert_int_equal(live.fd, -1);
	live_draw(&live, run, FIRST);
	assert_int_equal(live.drawn_ns, 0);
	live_close(&live);
	run_free(run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_drawn_late_and_seldom_and_erased),
		cmocka_unit_test(without_escapes_blanks_cover_the_old_line),
		cmocka_unit_test(it_fits_the_terminal),
		cmocka_unit_test(a_terminal_that_others_use_is_left_alone),
		cmocka_unit_test(a_terminal_that_stands_still_is_not_waited_for),
		cmocka_unit_test(rates_are_between_two_samples),
		cmocka_unit_test(nowhere_nothing_is_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
