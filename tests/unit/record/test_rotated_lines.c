/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/text.h"
#include "record/lines/rotated_lines.h"

static char folder[64];
static char path[96];

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/rotated.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/lines.jsonl", folder);
	return 0;
}

static int remove_folder(void **state)
{
	char name[128];

	(void)state;
	unlink(path);
	for (int i = 1; i < 5; i++) {
		snprintf(name, sizeof(name), "%s.%d", path, i);
		unlink(name);
	}
	return rmdir(folder);
}

static off_t size_of(const char *suffix)
{
	char name[128];
	struct stat file;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	return stat(name, &file) < 0 ? -1 : file.st_size;
}

static void write_line(struct rotated_lines *lines, const char *line)
{
	FILE *out = rotated_lines_begin(lines);

	assert_non_null(out);
	fprintf(out, "%s\n", line);
	rotated_lines_end(lines);
	assert_int_equal(rotated_lines_flush(lines), 0);
}

static void lines_go_on_where_a_file_ended(void **state)
{
	struct error error = { 0 };
	struct rotated_lines lines;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rotated_lines_open(&lines, path, 1000, 2, &error), 0);
		write_line(&lines, "123456789");
		rotated_lines_close(&lines);
	}
	assert_int_equal(size_of(""), 20);
}

static void a_full_file_is_rotated_and_the_oldest_dropped(void **state)
{
	struct error error = { 0 };
	struct rotated_lines lines;

	(void)state;
	assert_int_equal(rotated_lines_open(&lines, path, 10, 2, &error), 0);
	write_line(&lines, "first");
	assert_int_equal(size_of(".1"), -1);
	write_line(&lines, "second");
	assert_int_equal(size_of(".1"), 13);
	assert_int_equal(size_of(""), 0);
	write_line(&lines, "a line of twenty");
	write_line(&lines, "a line of twenty-one");
	assert_int_equal(size_of(".1"), 21);
	assert_int_equal(size_of(".2"), 17);
	assert_int_equal(size_of(".3"), -1);
	rotated_lines_close(&lines);
}

static bool writes(struct rotated_lines *lines, int64_t uid, const char *line)
{
	FILE *out = rotated_lines_begin_of(lines, uid);

	if (!out)
		return false;
	fprintf(out, "%s\n", line);
	rotated_lines_end(lines);
	return true;
}

static void a_user_has_half_of_a_file(void **state)
{
	struct error error = { 0 };
	struct rotated_lines lines;

	(void)state;
	assert_int_equal(rotated_lines_open(&lines, path, 100, 2, &error), 0);
	for (int i = 0; i < 5; i++)
		assert_true(writes(&lines, 4242, "123456789"));
	assert_false(writes(&lines, 4242, "123456789"));
	assert_true(writes(&lines, 4243, "123456789"));
	assert_int_equal(rotated_lines_flush(&lines), 0);
	assert_int_equal(size_of(""), 60);
	assert_int_equal(lines.shares.left_out, 1);
	rotated_lines_close(&lines);
}

/* They push out nobody's. */
static void lines_on_standard_output_are_not_shared_out(void **state)
{
	struct error error = { 0 };
	struct rotated_lines lines;

	(void)state;
	assert_int_equal(rotated_lines_open(&lines, "-", 20, 2, &error), 0);
	for (int i = 0; i < 9; i++)
		assert_true(writes(&lines, 4242, "# 123456789"));
	assert_int_equal(lines.shares.left_out, 0);
	rotated_lines_close(&lines);
}

static void nothing_older_need_be_kept(void **state)
{
	struct error error = { 0 };
	struct rotated_lines lines;

	(void)state;
	assert_int_equal(rotated_lines_open(&lines, path, 5, 0, &error), 0);
	write_line(&lines, "123456");
	assert_int_equal(size_of(""), 0);
	assert_int_equal(size_of(".1"), -1);
	rotated_lines_close(&lines);
}

static void a_rotation_that_fails_is_said(void **state)
{
	struct error error = { 0 };
	struct rotated_lines lines;
	char in_the_way[128];
	FILE *out;

	(void)state;
	snprintf(in_the_way, sizeof(in_the_way), "%s.1", path);
	assert_int_equal(mkdir(in_the_way, 0700), 0);
	assert_int_equal(rotated_lines_open(&lines, path, 5, 1, &error), 0);
	out = rotated_lines_begin(&lines);
	fputs("123456\n", out);
	rotated_lines_end(&lines);
	assert_int_equal(rotated_lines_flush(&lines), -EISDIR);
	assert_int_equal(lines.failures, 1);
	rotated_lines_close(&lines);
	rmdir(in_the_way);
}

static void links_of_others_are_not_followed(void **state)
{
	struct error error = { 0 };
	struct rotated_lines lines;
	char other[128];

	(void)state;
	snprintf(other, sizeof(other), "%s/other", folder);
	fclose(fopen(other, "w"));
	assert_int_equal(link(other, path), 0);
	assert_int_equal(rotated_lines_open(&lines, path, 10, 2, &error), -EACCES);
	assert_non_null(strstr(error.message, path));
	unlink(other);
}

static void a_pipe_of_others_gets_nothing(void **state)
{
	const uid_t nobody = 65534;
	struct error error = { 0 };
	struct rotated_lines lines;
	int reader;

	(void)state;
	if (geteuid() != 0)
		return; /* nobody else can own anything */
	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(reader >= 0);
	assert_int_equal(rotated_lines_open(&lines, path, 10, 2, &error), 0);
	rotated_lines_close(&lines);
	assert_int_equal(chown(path, nobody, (gid_t)-1), 0);
	assert_int_equal(chown(folder, nobody, (gid_t)-1), 0);
	assert_int_equal(rotated_lines_open(&lines, path, 10, 2, &error), -EACCES);
	close(reader);
}

static void without_a_file_lines_go_nowhere(void **state)
{
	struct rotated_lines lines = { 0 };

	(void)state;
	assert_null(rotated_lines_begin(&lines));
	assert_int_equal(rotated_lines_flush(&lines), 0);
	rotated_lines_close(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_go_on_where_a_file_ended, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(a_full_file_is_rotated_and_the_oldest_dropped,
						make_folder, remove_folder),
		cmocka_unit_test(lines_on_standard_output_are_not_shared_out),
		cmocka_unit_test_setup_teardown(a_user_has_half_of_a_file, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(nothing_older_need_be_kept, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(a_rotation_that_fails_is_said, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(links_of_others_are_not_followed, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(a_pipe_of_others_gets_nothing, make_folder,
						remove_folder),
		cmocka_unit_test(without_a_file_lines_go_nowhere),
	};

	return cmocka_run_group_tests_name("rotated_lines", tests, NULL, NULL);
}
