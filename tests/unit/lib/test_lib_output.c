/* SPDX-License-Identifier: MIT */
/* Where lines go, when they are written, and what becomes of those that nobody takes. */
#include "lib_support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lines/output.h"

enum { READ = 0, WRITE = 1 };

static char text[64 * 1024];
static uint64_t lost;
static int ends[2]; /* of a pipe */
static struct output output;

static int setup(void **state)
{
	(void)state;
	lost = 0;
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	output = (struct output){ .fd = ends[WRITE], .lost_lines = &lost };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	close(ends[READ]);
	close(ends[WRITE]);
	return 0;
}

static const char *read_text(int fd)
{
	ssize_t length = read(fd, text, sizeof(text) - 1);

	text[length < 0 ? 0 : length] = 0;
	return text;
}

static size_t lines_in_text(void)
{
	size_t count = 0;

	for (const char *at = text; (at = strchr(at, '\n')); at++)
		count++;
	return count;
}

static void write_line(uint64_t number)
{
	output_left(&output, LINE_UNINSTRUMENTED_LEFT, " ... and * more threads", number);
}

static void lines_are_kept_until_they_are_flushed(void **state)
{
	(void)state;
	write_line(7);
	write_line(8);
	assert_string_equal(read_text(ends[READ]), "");
	output_flush(&output);
	read_text(ends[READ]);
	assert_int_equal(lines_in_text(), 2);
	assert_non_null(strstr(text, " ... and 7 more threads\n"));
	assert_non_null(strstr(text, " ... and 8 more threads\n"));
	output_flush(&output);
	assert_string_equal(read_text(ends[READ]), "");
	assert_int_equal(lost, 0);
}

static void a_full_chunk_is_written_by_itself(void **state)
{
	enum { LINES = 300 };

	(void)state;
	for (uint64_t i = 0; i < LINES; i++)
		write_line(i);
	assert_in_range(output.length, 1, sizeof(output.buffer));
	read_text(ends[READ]);
	assert_in_range(lines_in_text() + output.line_count, LINES, LINES);
	assert_in_range(strlen(text) % OUTPUT_CHUNK, OUTPUT_CHUNK / 2, OUTPUT_CHUNK);
	output_flush(&output);
	assert_non_null(strstr(read_text(ends[READ]), " ... and 299 more threads\n"));
	assert_int_equal(lost, 0);
}

static void lines_that_nobody_takes_are_counted(void **state)
{
	(void)state;
	while (write(ends[WRITE], text, OUTPUT_CHUNK) > 0)
		;
	write_line(1);
	write_line(2);
	output_flush(&output);
	assert_int_equal(lost, 2);
	assert_int_equal(output.length, 0);
	close(ends[READ]);
	output.patience_ms = OUTPUT_PATIENCE_MS;
	write_line(3);
	output_flush(&output);
	assert_int_equal(lost, 3);
	assert_int_equal(output.patience_ms, OUTPUT_PATIENCE_MS); /* nobody can come: no wait */
	ends[READ] = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void a_file_gets_whole_lines_after_one_that_was_cut_off(void **state)
{
	char path[] = "/tmp/test_lib_output-XXXXXX";
	int fd = mkstemp(path);
	struct control options = { .output = path, .log = lines_ignore };

	(void)state;
	assert_int_equal(write(fd, "cut", 3), 3);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(output_open(&output, &options, &lost), 0);
		assert_true(output.is_own_fd);
		assert_null(output.log); /* the file wins */
		write_line(5);
		output_flush(&output);
		output_close(&output);
		assert_false(output.is_own_fd); /* the number may be another file's by now */
	}
	lseek(fd, 0, SEEK_SET);
	read_text(fd);
	assert_int_equal(strncmp(text, "cut\n", 4), 0);
	assert_int_equal(lines_in_text(), 3);
	assert_null(strstr(text, "\n\n"));
	close(fd);
	unlink(path);
}

static void a_file_that_cannot_be_opened_leaves_standard_error(void **state)
{
	char path[] = "/tmp/test_lib_output-XXXXXX";
	struct control options = { .output = path };

	(void)state;
	assert_non_null(mkdtemp(path));
	assert_int_equal(output_open(&output, &options, &lost), -EISDIR);
	assert_int_equal(output.fd, STDERR_FILENO);
	assert_false(output.is_own_fd);
	rmdir(path);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(output_open(&output, &options, &lost), -ELOOP);
	unlink(path);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(lines_are_kept_until_they_are_flushed),
		TEST(a_full_chunk_is_written_by_itself),
		TEST(lines_that_nobody_takes_are_counted),
		TEST(a_file_gets_whole_lines_after_one_that_was_cut_off),
		TEST(a_file_that_cannot_be_opened_leaves_standard_error),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
