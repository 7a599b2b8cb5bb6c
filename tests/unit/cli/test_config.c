/* SPDX-License-Identifier: MIT */
#include <errno.h>
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
#include "cli/config.h"

static char path[64];
static struct text text;
static struct error error;

static struct {
	bool quiet;
	const char *store;
	struct option_number interval, bytes;
	struct option_list list;
} args;

static const struct option options[] = {
	{ 'q', "quiet", OPTION_FLAG, &args.quiet, NULL, "silent", NULL },
	{ 0, "store", OPTION_TEXT, &args.store, "FILE", "a file", NULL },
	{ 'i', "interval", OPTION_DURATION, &args.interval, "TIME", "a time", NULL },
	{ 0, "bytes", OPTION_BYTES, &args.bytes, "SIZE", "a size", NULL },
	{ 0, "list", OPTION_LIST, &args.list, "X", "a list", NULL },
	{ 0, "config", OPTION_TEXT, &args.store, "FILE", "the file itself", NULL },
	{ 0 },
};

static int make_file(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/config.XXXXXX");
	close(mkstemp(path));
	memset(&args, 0, sizeof(args));
	memset(&error, 0, sizeof(error));
	return 0;
}

static int remove_file(void **state)
{
	(void)state;
	text_free(&text);
	text = (struct text){ 0 };
	return unlink(path);
}

static int read_config(const char *content)
{
	FILE *file = fopen(path, "w");

	fputs(content, file);
	fclose(file);
	return config_read(path, options, &text, &error);
}

static void a_line_gives_an_option(void **state)
{
	(void)state;
	assert_int_equal(read_config("# a comment\n\n interval = 1500ms\n # more\nquiet=yes\r\n"
				     "store = /a b/#c\nbytes = 64MiB\nlist = x=1\nlist = y=2"),
			 0);
	assert_int_equal(args.interval.value, 1500000000);
	assert_true(args.quiet);
	assert_string_equal(args.store, "/a b/#c");
	assert_int_equal(args.bytes.value, 64 << 20);
	assert_int_equal(args.list.count, 2);
	assert_string_equal(args.list.values[1], "y=2");
}

static void the_command_line_comes_first(void **state)
{
	(void)state;
	args.interval = (struct option_number){ .given = true, .value = 7 };
	assert_int_equal(read_config("interval = 1s\nstore = x\n"), 0);
	assert_int_equal(args.interval.value, 7);
	assert_string_equal(args.store, "x");
}

static void a_mistake_names_the_line(void **state)
{
	(void)state;
	assert_int_equal(read_config("\nintervall = 1s\n"), -EINVAL);
	assert_non_null(strstr(error.message, "line 2: there is no setting 'intervall'"));
	assert_non_null(strstr(error.message, "interval"));
	memset(&error, 0, sizeof(error));
	text_clear(&text);
	assert_int_equal(read_config("interval = soon"), -EINVAL);
	assert_non_null(strstr(error.message, "line 1"));
	memset(&error, 0, sizeof(error));
	text_clear(&text);
	assert_int_equal(read_config("quiet"), -EINVAL);
	assert_non_null(strstr(error.message, "NAME = VALUE"));
	memset(&error, 0, sizeof(error));
	text_clear(&text);
	assert_int_equal(read_config("quiet = 1"), -EINVAL);
	assert_non_null(strstr(error.message, "yes or no"));
}

static void a_file_that_others_can_change_is_refused(void **state)
{
	(void)state;
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(read_config("quiet = yes\n"), -EACCES);
	assert_false(args.quiet);
}

/* Who can rename files of the directory decides which file is read. */
static void a_directory_of_others_and_links_in_it_are_refused(void **state)
{
	char folder[] = "/tmp/configs.XXXXXX", inside[80], link[80];

	(void)state;
	assert_int_equal(read_config("quiet = yes\n"), 0);
	assert_non_null(mkdtemp(folder));
	snprintf(inside, sizeof(inside), "%s/r.conf", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(symlink(path, link), 0);
	text_clear(&text);
	assert_int_equal(config_read(link, options, &text, &error), 0);
	assert_int_equal(rename(path, inside), 0);
	assert_int_equal(symlink(inside, path), 0);
	text_clear(&text);
	assert_int_equal(config_read(path, options, &text, &error), 0);
	assert_int_equal(chmod(folder, 0777), 0);
	assert_int_equal(config_read(inside, options, &text, &error), -EACCES);
	assert_non_null(strstr(error.message, "because others can change it"));
	memset(&error, 0, sizeof(error));
	assert_int_equal(config_read(link, options, &text, &error), -EACCES);
	assert_non_null(strstr(error.message, "because others can change it"));
	memset(&error, 0, sizeof(error));
	assert_int_equal(config_read(path, options, &text, &error), -EACCES);
	unlink(link);
	unlink(inside);
	rmdir(folder);
}

static void a_missing_file_is_told_apart(void **state)
{
	(void)state;
	assert_int_equal(config_read("/nonexistent/x", options, &text, &error), -ENOENT);
	assert_string_equal(error.message, "");
}

static void what_is_printed_can_be_read(void **state)
{
	FILE *out = fopen(path, "w");

	(void)state;
	args.interval.value = 90ull * 1000000000;
	args.bytes.value = 3ull << 30;
	args.quiet = true;
	config_print(out, options);
	fclose(out);
	memset(&args, 0, sizeof(args));
	assert_int_equal(config_read(path, options, &text, &error), 0);
	assert_int_equal(args.interval.value, 90ull * 1000000000);
	assert_int_equal(args.bytes.value, 3ull << 30);
	assert_true(args.quiet);
	assert_null(args.store);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_file, remove_file)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_line_gives_an_option),
		TEST(the_command_line_comes_first),
		TEST(a_mistake_names_the_line),
		TEST(a_file_that_others_can_change_is_refused),
		TEST(a_directory_of_others_and_links_in_it_are_refused),
		TEST(a_missing_file_is_told_apart),
		TEST(what_is_printed_can_be_read),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
