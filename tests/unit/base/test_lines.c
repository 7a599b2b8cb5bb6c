/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/output/lines.h"

#define SECOND UINT64_C(1000000000)

struct file {
	char path[64];
	FILE *out;
	struct lines lines;
};

static void file_open(struct file *file)
{
	int fd;

	snprintf(file->path, sizeof(file->path), "/tmp/taskscope-lines-XXXXXX");
	fd = mkostemp(file->path, O_CLOEXEC);
	assert_true(fd >= 0);
	file->out = fdopen(fd, "w");
	assert_non_null(file->out);
	assert_int_equal(lines_open(&file->lines, file->out), 0);
}

static void file_close(struct file *file)
{
	lines_close(&file->lines);
	fclose(file->out);
	unlink(file->path);
}

static void add(struct lines *lines, const char *line)
{
	fprintf(lines_begin(lines), "%s\n", line);
	lines_end(lines);
}

static void expect(const struct file *file, const char *text)
{
	char buffer[4096] = "";
	FILE *in = fopen(file->path, "re");

	assert_non_null(in);
	buffer[fread(buffer, 1, sizeof(buffer) - 1, in)] = '\0';
	fclose(in);
	assert_string_equal(buffer, text);
}

static void lines_that_go_nowhere_are_not_printed(void **state)
{
	struct lines lines;

	(void)state;
	assert_int_equal(lines_open(&lines, NULL), 0);
	assert_null(lines_begin(&lines));
	assert_int_equal(lines_flush(&lines), 0);
	lines_tick(&lines, SECOND);
	lines_close(&lines);
}

static void lines_are_written_at_once_after_a_pause_and_then_wait_a_little(void **state)
{
	struct file file;

	(void)state;
	file_open(&file);
	assert_true(lines_due_ns(&file.lines) == UINT64_MAX);
	add(&file.lines, "one");
	lines_tick(&file.lines, SECOND);
	expect(&file, "one\n");
	add(&file.lines, "two");
	assert_true(lines_due_ns(&file.lines) == SECOND + LINES_WAIT_NS);
	lines_tick(&file.lines, SECOND + LINES_WAIT_NS - 1);
	expect(&file, "one\n");
	lines_tick(&file.lines, SECOND + LINES_WAIT_NS);
	expect(&file, "one\ntwo\n");
	assert_true(lines_due_ns(&file.lines) == UINT64_MAX);
	file_close(&file);
}

static void a_shorter_batch_after_a_longer_one_is_written_alone(void **state)
{
	struct file file;

	(void)state;
	file_open(&file);
	add(&file.lines, "a long line");
	add(&file.lines, "another one");
	assert_int_equal(lines_flush(&file.lines), 0);
	add(&file.lines, "x");
	assert_int_equal(lines_flush(&file.lines), 0);
	expect(&file, "a long line\nanother one\nx\n");
	file_close(&file);
}

static void many_lines_are_written_at_once(void **state)
{
	struct file file;

	(void)state;
	file_open(&file);
	for (int i = 0; i < 10000; i++)
		add(&file.lines, "0123456789");
	assert_true(lseek(fileno(file.out), 0, SEEK_END) > 0);
	assert_int_equal(file.lines.lost, 0);
	file_close(&file);
}

static void a_file_without_room_keeps_whole_lines_and_the_rest_is_counted(void **state)
{
	struct rlimit before, limit;
	struct file file;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	file_open(&file);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 12;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	add(&file.lines, "first");
	add(&file.lines, "second");
	add(&file.lines, "third");
	assert_int_equal(lines_flush(&file.lines), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(file.lines.lost, 2);
	expect(&file, "first\n");
	/* There is room again: the file goes on with whole lines. */
	add(&file.lines, "fourth");
	assert_int_equal(lines_flush(&file.lines), -EFBIG);
	assert_int_equal(file.lines.lost, 2);
	expect(&file, "first\nfourth\n");
	file_close(&file);
}

static void a_device_without_room_loses_all_lines(void **state)
{
	struct lines lines;
	FILE *full = fopen("/dev/full", "we");

	(void)state;
	assert_non_null(full);
	assert_int_equal(lines_open(&lines, full), 0);
	add(&lines, "first");
	add(&lines, "second");
	assert_int_equal(lines_flush(&lines), -ENOSPC);
	add(&lines, "third");
	lines_flush(&lines);
	assert_int_equal(lines.lost, 3);
	lines_close(&lines);
	fclose(full);
}

static void a_reader_that_went_away_loses_all_lines(void **state)
{
	struct lines lines;
	int ends[2];
	FILE *out;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	out = fdopen(ends[1], "w");
	assert_non_null(out);
	assert_int_equal(lines_open(&lines, out), 0);
	add(&lines, "first");
	assert_int_equal(lines_flush(&lines), -EPIPE);
	assert_int_equal(lines.lost, 1);
	lines_close(&lines);
	fclose(out);
}

static off_t room_of(const struct file *file)
{
	struct stat stat;

	assert_int_equal(fstat(fileno(file->out), &stat), 0);
	return stat.st_blocks * 512 - stat.st_size;
}

static void room_for_the_last_line_is_kept_and_given_back(void **state)
{
	struct file file;

	(void)state;
	file_open(&file);
	add(&file.lines, "first");
	assert_int_equal(lines_flush(&file.lines), 0);
	assert_true(room_of(&file) >= 60 * 1024);
	lines_use_room(&file.lines);
	fprintf(lines_begin(&file.lines), "too long\n");
	assert_true(lines_fit(&file.lines));
	lines_withdraw(&file.lines);
	add(&file.lines, "last");
	assert_int_equal(lines_finish(&file.lines, 0), 0);
	expect(&file, "first\nlast\n");
	lines_close(&file.lines);
	assert_true(room_of(&file) <= 4096);
	file_close(&file);
}

static bool is_disk_full;

int __real_fallocate64(int fd, int mode, off_t offset, off_t length);
int __wrap_fallocate64(int fd, int mode, off_t offset, off_t length);

int __wrap_fallocate64(int fd, int mode, off_t offset, off_t length)
{
	if (!is_disk_full)
		return __real_fallocate64(fd, mode, offset, length);
	errno = ENOSPC;
	return -1;
}

static void on_a_full_disk_only_the_last_line_has_room(void **state)
{
	struct file file;

	(void)state;
	file_open(&file);
	add(&file.lines, "first");
	assert_int_equal(lines_flush(&file.lines), 0);
	is_disk_full = true;
	add(&file.lines, "more");
	assert_int_equal(lines_flush(&file.lines), -ENOSPC);
	assert_int_equal(file.lines.lost, 1);
	lines_use_room(&file.lines);
	add(&file.lines, "last");
	(void)lines_finish(&file.lines, 0);
	is_disk_full = false;
	assert_int_equal(file.lines.lost, 1);
	expect(&file, "first\nlast\n");
	lines_close(&file.lines);
	file_close(&file);
}

/* Our lines behind what was there, and then no room for all of them. */
static void overfill(struct file *file, rlim_t most)
{
	struct rlimit before, limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = most;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(lines_flush(&file->lines), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static void what_was_in_a_file_that_is_appended_to_stays(void **state)
{
	struct file file;

	(void)state;
	file_open(&file);
	assert_int_equal(fcntl(fileno(file.out), F_SETFL, O_APPEND), 0);
	assert_int_equal(write(fileno(file.out), "before\n", 7), 7);
	assert_int_equal(lseek(fileno(file.out), 0, SEEK_SET), 0);
	add(&file.lines, "first");
	add(&file.lines, "second");
	overfill(&file, 16);
	expect(&file, "before\nfirst\n");
	assert_int_equal(file.lines.lost, 1);
	/* Nothing of ours fits any more. */
	add(&file.lines, "third");
	overfill(&file, 13);
	expect(&file, "before\nfirst\n");
	add(&file.lines, "fourth");
	lines_flush(&file.lines);
	expect(&file, "before\nfirst\nfourth\n");
	assert_int_equal(file.lines.lost, 2);
	file_close(&file);
}

struct channel {
	int reader;
	FILE *out;
	struct lines lines;
};

static void channel_open(struct channel *channel)
{
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
	channel->reader = ends[0];
	channel->out = fdopen(ends[1], "w");
	assert_non_null(channel->out);
	assert_int_equal(lines_open(&channel->lines, channel->out), 0);
}

static void channel_close(struct channel *channel)
{
	lines_close(&channel->lines);
	fclose(channel->out);
	close(channel->reader);
}

/* Reads all that is there, and what is written for it then; counts the lines. */
static uint64_t read_lines(struct channel *channel)
{
	char buffer[4096];
	uint64_t count = 0;
	ssize_t length;

	assert_int_equal(fcntl(channel->reader, F_SETFL, O_NONBLOCK), 0);
	while ((length = read(channel->reader, buffer, sizeof(buffer))) > 0) {
		for (ssize_t i = 0; i < length; i++)
			count += buffer[i] == '\n';
		lines_tick(&channel->lines, 0);
	}
	return count;
}

static void a_reader_that_pauses_is_not_waited_for_and_gets_all_later(void **state)
{
	struct channel channel;

	(void)state;
	channel_open(&channel);
	for (int i = 0; i < 20000; i++)
		add(&channel.lines, "0123456789");
	lines_flush(&channel.lines);
	assert_int_equal(lines_awaited_fd(&channel.lines), fileno(channel.out));
	assert_int_equal(channel.lines.lost, 0);
	assert_int_equal(read_lines(&channel), 20000);
	assert_int_equal(lines_awaited_fd(&channel.lines), -1);
	add(&channel.lines, "and more");
	assert_int_equal(lines_flush(&channel.lines), 0);
	assert_int_equal(read_lines(&channel), 1);
	channel_close(&channel);
}

static void what_exceeds_the_backlog_is_counted_by_whole_lines(void **state)
{
	enum { COUNT = 1000000 };
	struct channel channel;
	uint64_t got;

	(void)state;
	channel_open(&channel);
	for (int i = 0; i < COUNT; i++)
		add(&channel.lines, "0123456789");
	assert_int_equal(lines_flush(&channel.lines), -ENOBUFS);
	assert_true(channel.lines.lost > 0);
	got = read_lines(&channel);
	assert_int_equal(got + channel.lines.lost, COUNT);
	channel_close(&channel);
}

/* What the reader took has room again. */
static void the_backlog_is_of_lines_that_wait(void **state)
{
	enum { LINE = 1000, SIX_MIB = 6 * 1024 * 1024, FIVE_MIB = 5 * 1024 * 1024 };
	char line[LINE + 1], buffer[4096];
	struct channel channel;
	ssize_t taken = 0;

	(void)state;
	memset(line, 'x', LINE);
	line[LINE] = 0;
	channel_open(&channel);
	for (int i = 0; i < SIX_MIB / LINE; i++)
		add(&channel.lines, line);
	lines_flush(&channel.lines);
	while (taken < FIVE_MIB) {
		ssize_t length = read(channel.reader, buffer, sizeof(buffer));

		assert_true(length > 0);
		taken += length;
		lines_tick(&channel.lines, 0);
	}
	for (int i = 0; i < FIVE_MIB / LINE; i++)
		add(&channel.lines, line);
	lines_flush(&channel.lines);
	assert_int_equal(channel.lines.lost, 0);
	assert_true(read_lines(&channel) > 0);
	channel_close(&channel);
}

static void at_the_end_a_reader_is_waited_for_no_longer_than_told(void **state)
{
	struct channel channel;

	(void)state;
	channel_open(&channel);
	for (int i = 0; i < 1000; i++)
		add(&channel.lines, "0123456789");
	assert_int_equal(lines_finish(&channel.lines, 1), -ETIMEDOUT);
	assert_int_equal(read_lines(&channel) + channel.lines.lost, 1000);
	channel_close(&channel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_that_go_nowhere_are_not_printed),
		cmocka_unit_test(lines_are_written_at_once_after_a_pause_and_then_wait_a_little),
		cmocka_unit_test(a_shorter_batch_after_a_longer_one_is_written_alone),
		cmocka_unit_test(many_lines_are_written_at_once),
		cmocka_unit_test(a_file_without_room_keeps_whole_lines_and_the_rest_is_counted),
		cmocka_unit_test(a_device_without_room_loses_all_lines),
		cmocka_unit_test(a_reader_that_went_away_loses_all_lines),
		cmocka_unit_test(room_for_the_last_line_is_kept_and_given_back),
		cmocka_unit_test(on_a_full_disk_only_the_last_line_has_room),
		cmocka_unit_test(what_was_in_a_file_that_is_appended_to_stays),
		cmocka_unit_test(a_reader_that_pauses_is_not_waited_for_and_gets_all_later),
		cmocka_unit_test(what_exceeds_the_backlog_is_counted_by_whole_lines),
		cmocka_unit_test(the_backlog_is_of_lines_that_wait),
		cmocka_unit_test(at_the_end_a_reader_is_waited_for_no_longer_than_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
