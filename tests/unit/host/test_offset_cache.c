/* SPDX-License-Identifier: MIT */
/* Answers that are kept, and entries that are not to be believed. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/collection/array.h"
#include "host/oracle/offset_cache.h"
#include "patience.h"

#define OTHER_USER 12345

static const uint8_t build_id[] = { 0x00, 0xab, 0xff, 0x10 };
static const struct tsd_layout answer = { 824, 840 };

struct place {
	char path[64];
	char directory[96]; /* the cache's, two levels below */
	char entry[256];    /* what the key was kept as */
	struct stat file;
	struct offset_cache cache;
	struct offset_cache_key key;
};

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	snprintf(place->path, sizeof(place->path), "/tmp/test_offset_cache.XXXXXX");
	if (!mkdtemp(place->path) || stat("/bin/true", &place->file) < 0)
		return -1;
	snprintf(place->directory, sizeof(place->directory), "%s/a/b", place->path);
	place->key = (struct offset_cache_key){ OFFSET_CACHE_LIBRARY, build_id, sizeof(build_id),
						&place->file };
	*state = place;
	return offset_cache_open(&place->cache, place->directory);
}

static int remove_one(const char *path, const struct stat *file, int type, struct FTW *walk)
{
	(void)file;
	(void)type;
	(void)walk;
	return remove(path);
}

static int remove_place(void **state)
{
	struct place *place = *state;

	offset_cache_close(&place->cache);
	nftw(place->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(place);
	return 0;
}

/* How many entries there are of that beginning; the last one's name. */
static size_t find_entries(const char *directory, const char *start, char ret[256])
{
	char pattern[256];
	glob_t found;
	size_t count = 0;

	snprintf(pattern, sizeof(pattern), "%s/%s*", directory, start);
	if (glob(pattern, 0, NULL, &found) == 0)
		count = found.gl_pathc;
	if (count && ret)
		snprintf(ret, 256, "%s", found.gl_pathv[count - 1]);
	globfree(&found);
	return count;
}

static void put(const struct place *place, const char *text)
{
	int fd = open(place->entry, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void get(const struct place *place, char text[512])
{
	int fd = open(place->entry, O_RDONLY | O_CLOEXEC);
	ssize_t length = read(fd, text, 511);

	assert_true(length > 0);
	text[length] = '\0';
	close(fd);
}

static void assert_found(const struct place *place)
{
	struct tsd_layout found = { 0, 0 };

	assert_int_equal(offset_cache_find(&place->cache, &place->key, &found), 0);
	assert_int_equal(found.allocated, answer.allocated);
	assert_int_equal(found.deallocated, answer.deallocated);
}

static void assert_missing(const struct place *place)
{
	struct tsd_layout found = { 1, 2 };

	assert_int_equal(offset_cache_find(&place->cache, &place->key, &found), -ENOENT);
	assert_int_equal(found.allocated, 1);
	assert_int_equal(found.deallocated, 2);
}

static void keep(struct place *place)
{
	assert_int_equal(offset_cache_keep(&place->cache, &place->key, &answer), 0);
	assert_int_equal(find_entries(place->directory, "library-", place->entry), 1);
}

static void what_is_kept_is_found_again(void **state)
{
	struct place *place = *state;
	struct stat entry;

	assert_missing(place);
	keep(place);
	assert_found(place);
	keep(place);
	offset_cache_close(&place->cache);
	assert_missing(place);
	assert_int_equal(offset_cache_keep(&place->cache, &place->key, &answer), -EBADF);
	assert_int_equal(offset_cache_open(&place->cache, place->directory), 0);
	assert_found(place);
	assert_int_equal(stat(place->entry, &entry), 0);
	assert_int_equal(entry.st_mode, S_IFREG | 0600);
	assert_int_equal(stat(place->directory, &entry), 0);
	assert_int_equal(entry.st_mode, S_IFDIR | 0700);
}

static void offsets_below_the_thread_pointer_are_kept(void **state)
{
	struct place *place = *state;
	struct tsd_layout below = { (uint64_t)-1832, (uint64_t)-1816 }, found;

	place->key.kind = OFFSET_CACHE_PROGRAM;
	assert_int_equal(offset_cache_keep(&place->cache, &place->key, &below), 0);
	assert_int_equal(offset_cache_find(&place->cache, &place->key, &found), 0);
	assert_int_equal(found.allocated, below.allocated);
	place->key.kind = OFFSET_CACHE_LIBRARY;
	assert_missing(place);
}

/* A build id is a claim; another file with the same one is not believed. */
static void another_file_with_the_same_id_is_not_found(void **state)
{
	struct place *place = *state;
	struct stat same = place->file;

	keep(place);
	place->file.st_ino++;
	assert_missing(place);
	place->file = same;
	place->file.st_dev++;
	assert_missing(place);
	place->file = same;
	place->file.st_size++;
	assert_missing(place);
	place->file = same;
	place->file.st_mtim.tv_nsec ^= 1;
	assert_missing(place);
	place->file = same;
	assert_found(place);
}

/* An upgrade, or copies in several containers: none drives the other out. */
static void copies_of_a_library_have_an_entry_each(void **state)
{
	struct place *place = *state;
	ino_t first = place->file.st_ino;

	for (unsigned i = 0; i < 8; i++) {
		struct tsd_layout kept = { 8 * i, 8 * i + 16 };

		place->file.st_ino = first + i;
		assert_int_equal(offset_cache_keep(&place->cache, &place->key, &kept), 0);
	}
	for (unsigned i = 0; i < 8; i++) {
		struct tsd_layout found;

		place->file.st_ino = first + i;
		assert_int_equal(offset_cache_find(&place->cache, &place->key, &found), 0);
		assert_int_equal(found.allocated, 8 * i);
	}
}

static void set_age(const struct place *place, time_t seconds)
{
	struct timespec times[2] = { { time(NULL) - seconds, 0 }, { time(NULL) - seconds, 0 } };

	assert_int_equal(utimensat(AT_FDCWD, place->entry, times, 0), 0);
}

static void that_nobody_answered_is_known_for_an_hour(void **state)
{
	struct place *place = *state;
	struct tsd_layout found = { 1, 2 };

	assert_int_equal(offset_cache_keep_failure(&place->cache, &place->key, -ETIMEDOUT), 0);
	assert_int_equal(find_entries(place->directory, "library-", place->entry), 1);
	assert_int_equal(offset_cache_find(&place->cache, &place->key, &found), -ETIMEDOUT);
	assert_int_equal(found.allocated, 1);
	set_age(place, OFFSET_CACHE_FAILURE_SECONDS - 60);
	assert_int_equal(offset_cache_find(&place->cache, &place->key, &found), -ETIMEDOUT);
	set_age(place, OFFSET_CACHE_FAILURE_SECONDS);
	assert_missing(place);
	set_age(place, -60); /* no clock of ours wrote that */
	assert_missing(place);
	keep(place); /* an answer takes the place, and lasts */
	set_age(place, OFFSET_CACHE_FAILURE_SECONDS + 1);
	assert_found(place);
}

static void only_failures_are_kept_as_such(void **state)
{
	struct place *place = *state;

	assert_int_equal(offset_cache_keep_failure(&place->cache, &place->key, 0), -EINVAL);
	assert_int_equal(offset_cache_keep_failure(&place->cache, &place->key, 1), -EINVAL);
	assert_int_equal(offset_cache_keep_failure(&place->cache, &place->key, -5000), -EINVAL);
	assert_int_equal(offset_cache_keep_failure(&place->cache, &place->key, -ENOENT), -EINVAL);
	assert_missing(place);
}

/* The oldest make room, also leftovers of one that died half way. */
static void there_are_only_so_many_entries(void **state)
{
	struct place *place = *state;
	struct timespec old = { .tv_sec = 1000000 };
	ino_t first = place->file.st_ino;
	char leftover[256];
	int fd;

	snprintf(leftover, sizeof(leftover), "%s/library-00.1", place->directory);
	fd = open(leftover, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(futimens(fd, (struct timespec[]){ old, old }), 0);
	close(fd);
	for (unsigned i = 0; i < OFFSET_CACHE_ENTRIES_MAX + 5; i++) {
		place->file.st_ino = first + i;
		assert_int_equal(offset_cache_keep(&place->cache, &place->key, &answer), 0);
	}
	assert_found(place);
	assert_int_equal(find_entries(place->directory, "", NULL), OFFSET_CACHE_ENTRIES_MAX);
	assert_int_equal(access(leftover, F_OK), -1);
}

static void damaged_entries_are_as_good_as_none(void **state)
{
	struct place *place = *state;
	char whole[512], text[2 * sizeof(whole)];

	keep(place);
	get(place, whole);
	for (size_t length = 0; length < strlen(whole); length++) {
		snprintf(text, sizeof(text), "%.*s", (int)length, whole);
		put(place, text);
		assert_missing(place);
	}
	snprintf(text, sizeof(text), "%s ", whole);
	put(place, text);
	assert_missing(place);
	snprintf(text, sizeof(text), "%s%s", whole, whole);
	put(place, text);
	assert_missing(place);
	put(place, whole);
	assert_found(place);
	keep(place);
	assert_found(place);
}

static void offsets_that_cannot_be_are_not_believed(void **state)
{
	static const struct tsd_layout lies[] = {
		{ 824, 824 },
		{ 823, 840 },
		{ TSD_LAYOUT_REACH, 8 },
		{ 8, (uint64_t)1 << 63 },
		{ 8, -TSD_LAYOUT_REACH - 8 },
	};
	struct place *place = *state;
	char whole[512];

	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		char text[600];

		assert_int_equal(offset_cache_keep(&place->cache, &place->key, &lies[i]), -EINVAL);
		keep(place);
		get(place, whole);
		*strstr(whole, " 824 840") = '\0';
		snprintf(text, sizeof(text), "%s %lu %lu\n", whole, lies[i].allocated,
			 lies[i].deallocated);
		put(place, text);
		assert_missing(place);
	}
}

static void entries_of_others_are_as_good_as_none(void **state)
{
	struct place *place = *state;
	char whole[512], elsewhere[128];

	keep(place);
	get(place, whole);
	assert_int_equal(chmod(place->entry, 0620), 0);
	assert_missing(place);
	assert_int_equal(chmod(place->entry, 0600), 0);
	assert_found(place);
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", place->path);
	assert_int_equal(rename(place->entry, elsewhere), 0);
	assert_int_equal(symlink(elsewhere, place->entry), 0);
	assert_missing(place);
	assert_int_equal(unlink(place->entry), 0);
	assert_int_equal(mkfifo(place->entry, 0600), 0);
	alarm(HANG_SECONDS);
	assert_missing(place);
	alarm(0);
	keep(place);
	assert_found(place);
	if (geteuid() == 0) {
		assert_int_equal(chown(place->entry, OTHER_USER, OTHER_USER), 0);
		assert_missing(place);
	}
}

static void a_directory_that_others_can_write_to_is_refused(void **state)
{
	struct place *place = *state;
	struct offset_cache cache;
	char link[128];

	assert_int_equal(chmod(place->directory, 0770), 0);
	assert_int_equal(offset_cache_open(&cache, place->directory), -EPERM);
	assert_int_equal(cache.dir, -1);
	assert_int_equal(chmod(place->directory, 0700), 0);
	snprintf(link, sizeof(link), "%s/link", place->path);
	assert_int_equal(symlink(place->directory, link), 0);
	assert_true(offset_cache_open(&cache, link) < 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(place->directory, OTHER_USER, OTHER_USER), 0);
		assert_int_equal(offset_cache_open(&cache, place->directory), -EPERM);
	}
}

static void ids_that_no_file_has_are_not_kept(void **state)
{
	static const uint8_t longest[33];
	struct place *place = *state;

	place->key.build_id = longest;
	place->key.build_id_size = 33;
	assert_int_equal(offset_cache_keep(&place->cache, &place->key, &answer), -EINVAL);
	assert_missing(place);
	place->key.build_id_size = 0;
	assert_int_equal(offset_cache_keep(&place->cache, &place->key, &answer), -EINVAL);
	assert_missing(place);
	place->key.build_id_size = 32;
	keep(place);
	assert_found(place);
}

/* In a child, which may change who it is and its environment. */
static int find_usual_place(const struct place *place, const char *cache_home, const char *home)
{
	struct offset_cache cache;
	int status;

	if (geteuid() == 0 && setresuid(OTHER_USER, OTHER_USER, OTHER_USER) < 0)
		return 1;
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	if (cache_home)
		setenv("XDG_CACHE_HOME", cache_home, 1);
	if (home)
		setenv("HOME", home, 1);
	status = offset_cache_open(&cache, NULL);
	if (!cache_home && !home)
		return status != -ENOENT;
	return status != 0 || offset_cache_keep(&cache, &place->key, &answer) != 0;
}

static void assert_usual_place(const struct place *place, const char *cache_home, const char *home)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(find_usual_place(place, cache_home, home));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_plain_user_has_a_cache_of_his_own(void **state)
{
	struct place *place = *state;
	char path[256];

	assert_int_equal(chmod(place->path, 0777), 0);
	assert_usual_place(place, place->path, NULL);
	snprintf(path, sizeof(path), "%s/taskscope/jemalloc", place->path);
	assert_int_equal(find_entries(path, "library-00abff10-", NULL), 1);
	assert_usual_place(place, NULL, place->path);
	snprintf(path, sizeof(path), "%s/.cache/taskscope/jemalloc", place->path);
	assert_int_equal(find_entries(path, "library-00abff10-", NULL), 1);
	assert_usual_place(place, NULL, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_kept_is_found_again),
		TEST(offsets_below_the_thread_pointer_are_kept),
		TEST(another_file_with_the_same_id_is_not_found),
		TEST(copies_of_a_library_have_an_entry_each),
		TEST(that_nobody_answered_is_known_for_an_hour),
		TEST(only_failures_are_kept_as_such),
		TEST(there_are_only_so_many_entries),
		TEST(damaged_entries_are_as_good_as_none),
		TEST(offsets_that_cannot_be_are_not_believed),
		TEST(entries_of_others_are_as_good_as_none),
		TEST(a_directory_that_others_can_write_to_is_refused),
		TEST(ids_that_no_file_has_are_not_kept),
		TEST(a_plain_user_has_a_cache_of_his_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
