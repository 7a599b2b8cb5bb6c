/* SPDX-License-Identifier: MIT */
/* Where a path leads, and whom it is not followed for. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
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

#include "base/output/place.h"

/* The working directory of a test, and the descriptor that would be next. */
struct folder {
	char path[64];
	int next_fd;
};

static int next_descriptor(void)
{
	int fd = dup(STDIN_FILENO);

	close(fd);
	return fd;
}

static int make_folder(void **state)
{
	struct folder *folder = calloc(1, sizeof(*folder));

	snprintf(folder->path, sizeof(folder->path), "/tmp/test_place.XXXXXX");
	if (!mkdtemp(folder->path) || chdir(folder->path) < 0)
		return -1;
	umask(0);
	folder->next_fd = next_descriptor();
	*state = folder;
	return 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status, (void)kind, (void)where;
	return remove(path);
}

/* Fails if a descriptor was left open. */
static int remove_folder(void **state)
{
	struct folder *folder = *state;
	int leaked = next_descriptor() - folder->next_fd;

	if (chdir("/") < 0 || nftw(folder->path, remove_one, 8, FTW_DEPTH | FTW_PHYS) < 0)
		return -1;
	free(folder);
	return leaked;
}

static void make_directory(const char *path, mode_t mode)
{
	assert_int_equal(mkdir(path, mode), 0);
}

static void make_link(const char *target, const char *path)
{
	assert_int_equal(symlink(target, path), 0);
}

static void assert_refused(const char *path, int status)
{
	struct place place;

	assert_int_equal(place_open(&place, path), status);
	place_close(&place);
	assert_int_equal(place.dir, -1);
}

/* The path leads to a name in a directory; what others could do there is in the place. */
static struct place assert_leads(const char *path, const char *directory, const char *name)
{
	struct stat expected, got;
	struct place place;

	assert_int_equal(place_open(&place, path), 0);
	assert_string_equal(place.name, name);
	assert_int_equal(stat(directory, &expected), 0);
	assert_int_equal(fstat(place.dir, &got), 0);
	assert_true(got.st_ino == expected.st_ino && got.st_dev == expected.st_dev);
	place_close(&place);
	assert_int_equal(place.dir, -1);
	return place;
}

static void assert_own(struct place place, bool is_linked)
{
	assert_int_equal(place.is_linked, is_linked);
	assert_false(place.is_shared);
	assert_false(place.is_kernels);
}

static void a_path_is_a_directory_and_a_name(void **state)
{
	struct folder *folder = *state;
	char path[128];

	make_directory("sub", 0700);
	make_directory("sub/deep", 0755);
	assert_own(assert_leads("file", ".", "file"), false);
	assert_own(assert_leads("sub//deep/./file", "sub/deep", "file"), false);
	assert_own(assert_leads("sub/../file", ".", "file"), false);
	snprintf(path, sizeof(path), "//%s/sub/file", folder->path);
	assert_own(assert_leads(path, "sub", "file"), false);
	assert_own(assert_leads("/file", "/", "file"), false);
}

static void what_ends_in_a_directory_is_no_name(void **state)
{
	(void)state;
	make_directory("sub", 0700);
	make_link("/", "link");
	assert_refused("", -ENOENT);
	assert_refused("/", -EISDIR);
	assert_refused("sub/", -EISDIR);
	assert_refused("file/", -EISDIR);
	assert_refused(".", -EISDIR);
	assert_refused("sub/..", -EISDIR);
	assert_refused("link", -EISDIR);
}

static void a_way_that_is_not_there_is_told(void **state)
{
	(void)state;
	assert_int_equal(mknod("file", S_IFREG | 0600, 0), 0);
	make_link("none/further", "link");
	assert_refused("none/file", -ENOENT);
	assert_refused("file/file", -ENOTDIR);
	assert_refused("link/file", -ENOENT);
	assert_refused("link", -ENOENT);
}

static void names_and_paths_are_as_long_as_the_kernel_takes_them(void **state)
{
	char path[PATH_MAX + 8] = "", name[NAME_MAX + 3];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[NAME_MAX] = '\0';
	assert_leads(name, ".", name);
	name[NAME_MAX] = 'n';
	name[NAME_MAX + 1] = '\0';
	assert_refused(name, -ENAMETOOLONG);
	for (int i = 0; i < PATH_MAX - 4; i += 2)
		memcpy(path + i, "./", 2);
	memcpy(path + PATH_MAX - 4, "ab", 3);
	assert_leads(path, ".", "ab");
	memcpy(path + PATH_MAX - 4, "abc", 4);
	assert_refused(path, -ENAMETOOLONG);
}

static void links_are_followed_on_the_way_and_at_the_end(void **state)
{
	struct folder *folder = *state;
	char path[128];

	make_directory("sub", 0700);
	make_link("../sub/file", "sub/link");
	make_link("sub", "way");
	snprintf(path, sizeof(path), "%s/sub/link", folder->path);
	make_link(path, "far");
	assert_own(assert_leads("sub/link", "sub", "file"), true);
	assert_own(assert_leads("way/file", "sub", "file"), false);
	assert_own(assert_leads("way/link", "sub", "file"), true);
	assert_own(assert_leads("far", "sub", "file"), true);
}

/* Each link leads to the one before. */
static void as_many_links_are_followed_as_the_kernel_follows(void **state)
{
	char link[16] = "file", next[16];

	(void)state;
	for (int i = 1; i <= 41; i++) {
		snprintf(next, sizeof(next), "link%d", i);
		make_link(link, next);
		memcpy(link, next, sizeof(link));
	}
	assert_own(assert_leads("link40", ".", "file"), true);
	assert_refused("link41", -ELOOP);
}

static void a_link_where_everybody_can_put_one_is_not_followed(void **state)
{
	(void)state;
	make_directory("sub", 0700);
	make_directory("open", 0777);
	make_directory("open/sub", 0700);
	make_link("../sub", "open/link");
	make_link("../../sub", "open/sub/link");
	assert_refused("open/link", -EACCES);
	assert_refused("open/link/file", -EACCES);
	assert_refused("open/sub/link", -EACCES);
	assert_true(assert_leads("open/file", "open", "file").is_shared);
	assert_true(assert_leads("open/sub/file", "open/sub", "file").is_shared);
}

static void nobody_renames_the_links_of_others_in_a_sticky_directory(void **state)
{
	(void)state;
	make_directory("sticky", 0777 | S_ISVTX);
	assert_int_equal(chmod("sticky", 0777 | S_ISVTX), 0);
	make_directory("group", 0770);
	make_link("file", "sticky/link");
	make_link("file", "group/link");
	assert_true(assert_leads("sticky/link", "sticky", "file").is_shared);
	assert_true(assert_leads("group/link", "group", "file").is_shared);
}

static void a_link_with_a_second_name_may_be_one_of_elsewhere(void **state)
{
	(void)state;
	make_link("file", "link");
	assert_own(assert_leads("link", ".", "file"), true);
	assert_int_equal(link("link", "second"), 0);
	assert_refused("link", -EACCES);
}

static void the_way_up_does_not_lead_from_others_to_ours(void **state)
{
	struct folder *folder = *state;
	char path[128];

	make_directory("open", 0777);
	make_directory("open/sub", 0777);
	assert_refused("open/../file", -EACCES);
	assert_refused("open/sub/../../file", -EACCES);
	assert_true(assert_leads("open/sub/../file", "open", "file").is_shared);
	/* A path from the root does not begin where the caller is. */
	assert_int_equal(chdir("open"), 0);
	snprintf(path, sizeof(path), "%s/file", folder->path);
	assert_own(assert_leads(path, "..", "file"), false);
}

static void links_of_procfs_are_the_kernels_own(void **state)
{
	struct place place = assert_leads("/proc/self/fd/0", "/proc/self/fd", "0");

	(void)state;
	assert_true(place.is_kernels);
	assert_true(place.is_linked);
	assert_own(assert_leads("/proc/self/cwd/file", ".", "file"), false);
}

static void root_and_the_caller_are_trusted(void **state)
{
	(void)state;
	assert_true(place_trusts(0));
	assert_true(place_trusts(geteuid()));
	assert_false(place_trusts(geteuid() + 12345));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_path_is_a_directory_and_a_name),
		IN_FOLDER(what_ends_in_a_directory_is_no_name),
		IN_FOLDER(a_way_that_is_not_there_is_told),
		IN_FOLDER(names_and_paths_are_as_long_as_the_kernel_takes_them),
		IN_FOLDER(links_are_followed_on_the_way_and_at_the_end),
		IN_FOLDER(as_many_links_are_followed_as_the_kernel_follows),
		IN_FOLDER(a_link_where_everybody_can_put_one_is_not_followed),
		IN_FOLDER(nobody_renames_the_links_of_others_in_a_sticky_directory),
		IN_FOLDER(a_link_with_a_second_name_may_be_one_of_elsewhere),
		IN_FOLDER(the_way_up_does_not_lead_from_others_to_ours),
		IN_FOLDER(links_of_procfs_are_the_kernels_own),
		cmocka_unit_test(root_and_the_caller_are_trusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
