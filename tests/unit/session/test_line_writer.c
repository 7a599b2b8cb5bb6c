/* SPDX-License-Identifier: MIT */
/* An output that never makes others wait. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "session/calls/line_writer.h"

#define HANG_NS UINT64_C(300000000000)
#define LINE "0123456789abcde\n" /* 16 bytes */
#define LINE_BYTES 16

static uint64_t count(const char *text, const char *what)
{
	uint64_t found = 0;

	while ((text = strstr(text, what))) {
		found++;
		text += strlen(what);
	}
	return found;
}

/* Adds to what was read before, until it is cleared. */
static char text_read[1 << 20];

static char *read_all(int fd)
{
	size_t length = strlen(text_read);
	ssize_t got;

	while ((got = read(fd, text_read + length, sizeof(text_read) - 1 - length)) > 0)
		length += (size_t)got;
	text_read[length] = '\0';
	return text_read;
}

static void all_lines_arrive_in_order(void **state)
{
	struct line_writer *writer;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	writer = line_writer_start(ends[1], 1000);
	assert_non_null(writer);
	line_writer_put(writer, "one\ntwo\n", 8);
	line_writer_put(writer, "three\n", 6);
	assert_int_equal(line_writer_finish(writer, HANG_NS), 0);
	close(ends[1]);
	assert_string_equal(read_all(ends[0]), "one\ntwo\nthree\n");
	text_read[0] = '\0';
	close(ends[0]);
}

/* The pipe is full before the first line, so that nothing is taken while lines are put. */
static void lines_that_nobody_takes_are_left_out_and_counted(void **state)
{
	const unsigned put = 2000;
	struct line_writer *writer;
	uint64_t told = 0, kept, left_out;
	char byte = '.', *text;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	while (write(ends[1], &byte, 1) == 1)
		;
	writer = line_writer_start(ends[1], 4096);
	for (unsigned i = 0; i < put; i++)
		line_writer_put(writer, LINE, LINE_BYTES);
	text = read_all(ends[0]);
	left_out = line_writer_finish(writer, HANG_NS);
	close(ends[1]);
	(void)read_all(ends[0]);
	kept = count(text, LINE);
	assert_true(left_out > 0);
	assert_true(kept + left_out == put);
	for (char *note = text; (note = strstr(note, "# ")); note++)
		told += strtoull(note + 2, NULL, 10);
	assert_true(told == left_out);
	close(ends[0]);
}

static void a_held_output_does_not_hold_the_end(void **state)
{
	struct line_writer *writer;
	char byte = '.';
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	while (write(ends[1], &byte, 1) == 1)
		;
	writer = line_writer_start(ends[1], 4096);
	for (unsigned i = 0; i < 3; i++)
		line_writer_put(writer, LINE, LINE_BYTES);
	assert_true(line_writer_finish(writer, 1000000) == 3);
	/* The thread ends once it can write. */
	close(ends[0]);
}

static void a_reader_that_has_gone_is_an_error(void **state)
{
	struct line_writer *writer;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	writer = line_writer_start(ends[1], 4096);
	line_writer_put(writer, LINE, LINE_BYTES);
	while (line_writer_status(writer) == 0)
		usleep(1000);
	assert_int_equal(line_writer_status(writer), -EPIPE);
	line_writer_put(writer, LINE, LINE_BYTES);
	assert_true(line_writer_finish(writer, HANG_NS) == 2);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_lines_arrive_in_order),
		cmocka_unit_test(lines_that_nobody_takes_are_left_out_and_counted),
		cmocka_unit_test(a_held_output_does_not_hold_the_end),
		cmocka_unit_test(a_reader_that_has_gone_is_an_error),
	};

	return cmocka_run_group_tests_name("line_writer", tests, NULL, NULL);
}
