/* SPDX-License-Identifier: MIT */
/* Small files read whole; files replaced in one step or not at all. */
#include <dirent.h>
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
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "patience.h"

static int renames; /* that the next calls of openat2() meet */
static int calls;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

/* The kernel's answer to a path that leads up while others rename files. */
long __wrap_syscall(long number, ...)
{
	long words[4];
	va_list list;

	va_start(list, number);
	for (size_t i = 0; i < 4; i++)
		words[i] = va_arg(list, long);
	va_end(list);
	calls++;
	if (renames > 0 && renames--) {
		errno = EAGAIN;
		return -1;
	}
	return __real_syscall(number, words[0], words[1], words[2], words[3]);
}

struct folder {
	char path[64];
	int dir;
	char file[96]; /* a path in it */
};

static int make_place(void **state)
{
	struct folder *place = calloc(1, sizeof(*place));

	snprintf(place->path, sizeof(place->path), "/tmp/test_file.XXXXXX");
	if (!mkdtemp(place->path))
		return -1;
	place->dir = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(place->file, sizeof(place->file), "%s/file", place->path);
	*state = place;
	return place->dir < 0;
}

static int remove_place(void **state)
{
	struct folder *place = *state;
	int status;

	unlinkat(place->dir, "file", 0);
	unlinkat(place->dir, "link", 0);
	close(place->dir);
	status = rmdir(place->path); /* fails when a temporary file was left in it */
	free(place);
	return status;
}

static void put(const struct folder *place, const char *content, size_t length)
{
	int fd = openat(place->dir, "file", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, length), length);
	close(fd);
}

static void assert_content(const struct folder *place, const char *expected)
{
	char buffer[64];

	assert_int_equal(file_read(place->dir, "file", buffer, sizeof(buffer)), strlen(expected));
	assert_string_equal(buffer, expected);
}

static void a_file_is_read_whole_or_not_at_all(void **state)
{
	struct folder *place = *state;
	char buffer[8];

	put(place, "1234567", 7);
	assert_int_equal(file_read(place->dir, "file", buffer, 8), 7);
	assert_string_equal(buffer, "1234567");
	assert_int_equal(file_read(place->dir, "file", buffer, 7), -EFBIG);
	put(place, "", 0);
	assert_int_equal(file_read(place->dir, "file", buffer, 8), 0);
	assert_string_equal(buffer, "");
	assert_int_equal(file_read(place->dir, "none", buffer, 8), -ENOENT);
	assert_int_equal(file_read(place->dir, ".", buffer, 8), -EISDIR);
}

static void a_pipe_that_nobody_writes_to_is_not_waited_for(void **state)
{
	struct folder *place = *state;
	struct text text = { 0 };
	char buffer[8];

	assert_int_equal(mkfifo(place->file, 0600), 0);
	alarm(HANG_SECONDS);
	assert_int_equal(file_read(place->dir, "file", buffer, sizeof(buffer)), 0);
	assert_int_equal(file_read_text(place->dir, "file", 100, &text), 0);
	alarm(0);
	text_free(&text);
}

static void a_text_grows_with_the_file_up_to_its_limit(void **state)
{
	struct folder *place = *state;
	struct text text = { 0 };
	char *large = malloc(100000);

	memset(large, 'x', 100000);
	put(place, large, 100000);
	text_append_string(&text, "what was there");
	assert_int_equal(file_read_text(place->dir, "file", 100000, &text), 0);
	assert_int_equal(text.length, 100000);
	assert_memory_equal(text.data, large, 100000);
	assert_int_equal(file_read_text(place->dir, "file", 99999, &text), -EFBIG);
	assert_int_equal(file_read_text(place->dir, "none", 10, &text), -ENOENT);
	text_free(&text);
	free(large);
}

static void a_replaced_file_appears_when_it_is_complete(void **state)
{
	struct folder *place = *state;
	struct file_replacement file;
	struct stat status;

	put(place, "old", 3);
	assert_int_equal(file_replace(&file, place->file), 0);
	assert_int_equal(file_write(&file, "new ", 4), 0);
	assert_content(place, "old");
	assert_int_equal(file_write(&file, "content", 7), 0);
	assert_int_equal(file_commit(&file), 0);
	assert_content(place, "new content");
	file_abandon(&file);
	assert_content(place, "new content");
	assert_int_equal(fstatat(place->dir, "file", &status, 0), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
}

static void an_abandoned_file_leaves_the_old_one_and_nothing_else(void **state)
{
	struct folder *place = *state;
	struct file_replacement file;

	put(place, "old", 3);
	assert_int_equal(file_replace(&file, place->file), 0);
	assert_int_equal(file_write(&file, "new", 3), 0);
	file_abandon(&file);
	file_abandon(&file);
	assert_content(place, "old");
}

static void a_replacement_that_could_not_begin_can_be_abandoned(void **state)
{
	struct folder *place = *state;
	char path[5000];
	struct file_replacement file;

	memset(&file, 'x', sizeof(file));
	assert_int_equal(file_replace(&file, place->path), -EISDIR);
	assert_string_equal(file.temporary, "");
	file_abandon(&file);

	memset(&file, 'x', sizeof(file));
	snprintf(path, sizeof(path), "%s/none/file", place->path);
	assert_int_equal(file_replace(&file, path), -ENOENT);
	assert_string_equal(file.temporary, "");
	file_abandon(&file);

	memset(&file, 'x', sizeof(file));
	memset(path, 'a', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(file_replace(&file, path), -ENAMETOOLONG);
	assert_string_equal(file.temporary, "");
	file_abandon(&file);
}

static void what_is_no_ordinary_file_is_not_replaced(void **state)
{
	struct folder *place = *state;
	struct file_replacement file;
	struct stat status;

	assert_int_equal(mkfifo(place->file, 0600), 0);
	assert_int_equal(file_replace(&file, place->file), -EINVAL);
	assert_int_equal(fstatat(place->dir, "file", &status, 0), 0);
	assert_true(S_ISFIFO(status.st_mode));
}

/* No descriptor is left for the directory: the file is complete and has its name all the same. */
static void what_fails_after_the_new_name_is_there_does_not_count(void **state)
{
	struct folder *place = *state;
	struct file_replacement file;
	struct rlimit limit, none_left;
	int status;

	put(place, "old", 3);
	assert_int_equal(file_replace(&file, place->file), 0);
	assert_int_equal(file_write(&file, "new", 3), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none_left = limit;
	none_left.rlim_cur = (rlim_t)file.fd;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none_left), 0);
	status = file_commit(&file);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(status, 0);
	assert_content(place, "new");
}

static void assert_is_link(const struct folder *place, const char *name)
{
	struct stat status;

	assert_int_equal(fstatat(place->dir, name, &status, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISLNK(status.st_mode));
}

static void a_link_stays_and_what_it_points_to_is_replaced(void **state)
{
	struct folder *place = *state;
	struct file_replacement file;
	char link[128];

	put(place, "old", 3);
	assert_int_equal(symlinkat("file", place->dir, "link"), 0);
	snprintf(link, sizeof(link), "%s/link", place->path);
	assert_int_equal(file_replace(&file, link), 0);
	assert_int_equal(file_write(&file, "new", 3), 0);
	assert_int_equal(file_commit(&file), 0);
	assert_is_link(place, "link");
	assert_content(place, "new");
}

static void a_link_to_nowhere_is_not_replaced(void **state)
{
	struct folder *place = *state;
	struct file_replacement file;
	char link[128];

	assert_int_equal(symlinkat("none", place->dir, "link"), 0);
	snprintf(link, sizeof(link), "%s/link", place->path);
	assert_int_equal(file_replace(&file, link), -ENOENT);
	assert_string_equal(file.temporary, "");
	file_abandon(&file);
	assert_is_link(place, "link");
	assert_int_equal(unlinkat(place->dir, "link", 0), 0);
	assert_int_equal(symlinkat("link", place->dir, "link"), 0);
	assert_int_equal(file_replace(&file, link), -ELOOP);
}

/* Names in the place that begin with a dot; the file itself has none while it is written. */
static size_t count_hidden(const struct folder *place)
{
	DIR *directory = opendir(place->path);
	size_t count = 0;

	assert_non_null(directory);
	for (const struct dirent *entry; (entry = readdir(directory));)
		count += entry->d_name[0] == '.' && strcmp(entry->d_name, ".") != 0 &&
			 strcmp(entry->d_name, "..") != 0;
	closedir(directory);
	return count;
}

static void a_file_that_is_being_written_has_no_name(void **state)
{
	struct folder *place = *state;
	struct file_replacement file;

	assert_int_equal(file_replace(&file, place->file), 0);
	assert_int_equal(file_write(&file, "new", 3), 0);
	assert_string_equal(file.temporary, "");
	assert_int_equal(count_hidden(place), 0);
	assert_int_equal(file_commit(&file), 0);
	file_abandon(&file);
	assert_content(place, "new");
}

static bool is_blocked(int signal)
{
	sigset_t set;

	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &set), 0);
	return sigismember(&set, signal) == 1;
}

/* What is there has become a directory, so the second name of the new file is not renamed. */
static void a_name_of_ours_goes_before_a_signal_ends_the_program(void **state)
{
	struct folder *place = *state;
	struct file_replacement file;

	assert_int_equal(file_replace(&file, place->file), 0);
	assert_int_equal(mkdirat(place->dir, "file", 0700), 0);
	assert_int_equal(file_write(&file, "new", 3), 0);
	assert_false(is_blocked(SIGTERM));
	assert_int_equal(file_commit(&file), -EISDIR);
	assert_int_equal(count_hidden(place), 1);
	assert_true(is_blocked(SIGTERM) && is_blocked(SIGHUP) && is_blocked(SIGINT));
	file_abandon(&file);
	assert_int_equal(count_hidden(place), 0);
	assert_false(is_blocked(SIGTERM));
	assert_int_equal(unlinkat(place->dir, "file", AT_REMOVEDIR), 0);
}

static void an_output_is_emptied_or_made(void **state)
{
	struct folder *place = *state;
	struct stat status;
	char link[128];
	int fd;

	fd = file_open_output(place->file);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(write(fd, "old", 3), 3);
	close(fd);
	assert_int_equal(symlinkat("file", place->dir, "link"), 0);
	snprintf(link, sizeof(link), "%s/link", place->path);
	fd = file_open_output(link);
	assert_true(fd >= 0);
	close(fd);
	assert_content(place, "");
	assert_is_link(place, "link");
	assert_int_equal(file_open_output(place->path), -EISDIR);
	assert_int_equal(unlinkat(place->dir, "file", 0), 0);
	assert_int_equal(mkfifo(place->file, 0600), 0);
	assert_int_equal(file_open_output(place->file), -ENXIO);
}

static bool can_write_from_a_closed_directory(const struct folder *place)
{
	int fd;

	if (chdir(place->path) < 0 || chmod(place->path, 0) < 0)
		return false;
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return false;
	fd = file_open_output("/dev/null");
	return fd >= 0 && file_open_output("file") == -EACCES;
}

static void an_absolute_path_needs_no_working_directory(void **state)
{
	struct folder *place = *state;
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(can_write_from_a_closed_directory(place) ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(chmod(place->path, 0700), 0);
}

/* The kernel's own links lead to what is open. */
static void an_output_that_is_open_already_is_opened_again(void **state)
{
	char path[64], byte = 0;
	int ends[2], fd;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	fd = file_open_output(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
	close(fd);
	close(ends[0]);
	close(ends[1]);
}

static void a_part_of_a_file_is_as_long_as_the_file_has_it(void **state)
{
	struct folder *place = *state;
	char buffer[8] = "";
	int fd;

	put(place, "0123456789", 10);
	fd = openat(place->dir, "file", O_RDONLY | O_CLOEXEC);
	assert_int_equal(file_read_at(fd, 2, buffer, 3), 3);
	assert_string_equal(buffer, "234");
	assert_int_equal(file_read_at(fd, 8, buffer, 8), 2);
	assert_memory_equal(buffer, "89", 2);
	assert_int_equal(file_read_at(fd, 20, buffer, 8), 0);
	close(fd);
	assert_int_equal(file_read_at(fd, 0, buffer, 8), -EBADF);
}

/* procfs gives a page of its lists at a time. */
static void a_part_that_comes_in_pieces_is_put_together(void **state)
{
	static char whole[1 << 16], part[1 << 16];
	char *pages = mmap(NULL, 400 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t got;

	(void)state;
	for (size_t i = 0; i < 200; i++)
		assert_int_equal(mprotect(pages + i * 8192, 4096, PROT_READ), 0);
	while ((got = read(fd, whole + length, sizeof(whole) - length)) > 0)
		length += (size_t)got;
	assert_in_range(length, 10000, sizeof(whole) - 1);
	assert_int_equal(file_read_at(fd, 0, part, sizeof(part)), length);
	assert_memory_equal(part, whole, length);
	assert_int_equal(file_read_at(fd, 5, part, 9000), 9000);
	assert_memory_equal(part, whole + 5, 9000);
	close(fd);
	munmap(pages, 400 * 4096);
}

static void a_path_is_walked_again_while_others_rename_files(void **state)
{
	struct folder *place = *state;
	int fd;

	assert_int_equal(mkdirat(place->dir, "file", 0700), 0);
	renames = 9;
	fd = file_open_below(place->dir, "file/../file", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(unlinkat(place->dir, "file", AT_REMOVEDIR), 0);
	calls = 0;
	assert_int_equal(file_open_below(place->dir, "file", O_RDONLY), -ENOENT);
	assert_int_equal(calls, 1);
	renames = 1000000; /* one who wants to be in the way */
	assert_int_equal(file_open_below(place->dir, "file", O_RDONLY), -EAGAIN);
	assert_in_range(calls, 50, 1000);
	renames = 0;
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_PLACE(a_file_is_read_whole_or_not_at_all),
		WITH_PLACE(a_pipe_that_nobody_writes_to_is_not_waited_for),
		WITH_PLACE(a_part_of_a_file_is_as_long_as_the_file_has_it),
		cmocka_unit_test(a_part_that_comes_in_pieces_is_put_together),
		WITH_PLACE(a_text_grows_with_the_file_up_to_its_limit),
		WITH_PLACE(a_replaced_file_appears_when_it_is_complete),
		WITH_PLACE(an_abandoned_file_leaves_the_old_one_and_nothing_else),
		WITH_PLACE(a_replacement_that_could_not_begin_can_be_abandoned),
		WITH_PLACE(what_is_no_ordinary_file_is_not_replaced),
		WITH_PLACE(what_fails_after_the_new_name_is_there_does_not_count),
		WITH_PLACE(a_link_stays_and_what_it_points_to_is_replaced),
		WITH_PLACE(a_link_to_nowhere_is_not_replaced),
		WITH_PLACE(a_file_that_is_being_written_has_no_name),
		WITH_PLACE(a_name_of_ours_goes_before_a_signal_ends_the_program),
		WITH_PLACE(an_output_is_emptied_or_made),
		WITH_PLACE(an_absolute_path_needs_no_working_directory),
		cmocka_unit_test(an_output_that_is_open_already_is_opened_again),
		WITH_PLACE(a_path_is_walked_again_while_others_rename_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
