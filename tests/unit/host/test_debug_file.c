/* SPDX-License-Identifier: MIT */
/* Debug information kept apart: where it is looked for, and that it is the program's. */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/inotify.h>
#include <cmocka.h>

#include "host/elf/debug_file.h"
#include "host/elf/elf_inspect.h"
#include "objects.h"

static void debug_files_close(struct debug_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		close(files->list[i].fd);
	files->count = 0;
}

/* A directory that stands for a process: its root is another file system's view. */
struct place {
	char path[64];
	int dir;
};

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	snprintf(place->path, sizeof(place->path), "/tmp/test_debug.XXXXXX");
	if (!mkdtemp(place->path))
		return -1;
	place->dir = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = place;
	return place->dir < 0 || mkdirat(place->dir, "root", 0755) < 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(path);
}

static int remove_place(void **state)
{
	struct place *place = *state;
	int status = nftw(place->path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);

	close(place->dir);
	free(place);
	return status;
}

/* Puts a copy of an object below the root of the process, with the directories on the way. */
static void put(const struct place *place, const char *object, const char *path)
{
	char buffer[65536], full[512];
	int source = object_open(object);
	ssize_t length = read(source, buffer, sizeof(buffer));
	int fd;

	snprintf(full, sizeof(full), "root%s", path);
	for (char *slash = strchr(full + 5, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdirat(place->dir, full, 0755);
		*slash = '/';
	}
	fd = openat(place->dir, full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0 && length > 0);
	assert_int_equal(write(fd, buffer, (size_t)length), length);
	close(fd);
	close(source);
}

static struct elf_findings inspect(const char *name)
{
	struct elf_findings findings;
	int fd = object_open(name);

	assert_int_equal(elf_inspect(fd, &findings), 0);
	close(fd);
	return findings;
}

/* How many candidates are there, and how many of them are the program's. */
static size_t search_of(uid_t owner, const struct place *place, const struct elf_findings *findings,
			size_t *ret_matching)
{
	const struct debug_program program = { place->dir, "/opt/bin/linked", owner, findings };
	struct debug_files files;
	size_t count, matching = 0;

	debug_files_open(&program, &files);
	for (size_t i = 0; i < files.count; i++)
		matching += debug_file_matches(&files.list[i], findings);
	count = files.count;
	debug_files_close(&files);
	*ret_matching = matching;
	return count;
}

static size_t search(const struct place *place, const struct elf_findings *findings,
		     size_t *ret_matching)
{
	return search_of(geteuid(), place, findings, ret_matching);
}

static void each_place_of_a_debuglink_is_tried(void **state)
{
	static const char *const places[] = {
		"/opt/bin/linked.debug",
		"/opt/bin/.debug/linked.debug",
		"/usr/lib/debug/opt/bin/linked.debug",
	};
	struct elf_findings findings = inspect("linked");
	size_t matching;

	findings.build_id_size = 0;
	assert_int_equal(search(*state, &findings, &matching), 0);
	for (size_t i = 0; i < 3; i++) {
		put(*state, "linked.debug", places[i]);
		assert_int_equal(search(*state, &findings, &matching), i + 1);
		assert_int_equal(matching, i + 1);
	}
}

/* The name is the program's own, and could lead anywhere. */
static void a_debuglink_does_not_leave_its_places(void **state)
{
	struct elf_findings findings = inspect("linked");
	size_t matching;

	findings.build_id_size = 0;
	put(*state, "linked.debug", "/opt/linked.debug");
	put(*state, "linked", "/opt/bin/linked");
	snprintf(findings.debuglink, sizeof(findings.debuglink), "../linked.debug");
	assert_int_equal(search(*state, &findings, &matching), 0);
}

static void a_debuglink_file_with_another_checksum_is_not_taken(void **state)
{
	struct elf_findings findings = inspect("linked");
	size_t matching;

	findings.build_id_size = 0;
	put(*state, "dwarf4", "/opt/bin/linked.debug");
	assert_int_equal(search(*state, &findings, &matching), 1);
	assert_int_equal(matching, 0);
}

/* Or whoever runs a library of the system could say for all where its members are. */
static void a_file_of_somebody_else_is_not_taken(void **state)
{
	const struct place *place = *state;
	struct elf_findings findings = inspect("linked");
	uid_t somebody = geteuid() ? geteuid() : 12345;
	size_t matching;

	findings.build_id_size = 0;
	put(place, "linked.debug", "/opt/bin/linked.debug");
	assert_int_equal(search_of(somebody + 1, place, &findings, &matching), geteuid() == 0);
	assert_int_equal(fchownat(place->dir, "root/opt/bin/linked.debug", somebody, (gid_t)-1, 0),
			 0);
	assert_int_equal(search_of(somebody + 1, place, &findings, &matching), 0);
	assert_int_equal(search_of(0, place, &findings, &matching), 0);
	assert_int_equal(search_of(somebody, place, &findings, &matching), 1);
	assert_int_equal(matching, 1);
}

static void a_build_id_file_must_have_that_build_id(void **state)
{
	struct elf_findings findings = inspect("linked");
	char path[256] = "/usr/lib/debug/.build-id/";
	size_t length = strlen(path);
	size_t matching;

	for (size_t i = 0; i < findings.build_id_size; i++)
		length += (size_t)snprintf(path + length, sizeof(path) - length, "%02x%s",
					   findings.build_id[i], i ? "" : "/");
	snprintf(path + length, sizeof(path) - length, ".debug");
	findings.debuglink[0] = '\0';
	put(*state, "linked.debug", path);
	assert_int_equal(search(*state, &findings, &matching), 1);
	assert_int_equal(matching, 1);
	put(*state, "dwarf4", path);
	assert_int_equal(search(*state, &findings, &matching), 1);
	assert_int_equal(matching, 0);
}

/* What a link of the target names is looked up in the target's root: it may not lead to our files. */
static void a_link_stays_in_the_root_of_the_process(void **state)
{
	const struct place *place = *state;
	struct elf_findings findings = inspect("linked");
	char outside[128];
	size_t matching;

	findings.build_id_size = 0;
	put(place, "linked.debug", "/elsewhere.debug");
	assert_int_equal(mkdirat(place->dir, "root/opt", 0755), 0);
	assert_int_equal(mkdirat(place->dir, "root/opt/bin", 0755), 0);
	snprintf(outside, sizeof(outside), "%s/root/elsewhere.debug", place->path);
	assert_int_equal(symlinkat(outside, place->dir, "root/opt/bin/linked.debug"), 0);
	assert_int_equal(search(place, &findings, &matching), 0);
	assert_int_equal(unlinkat(place->dir, "root/opt/bin/linked.debug", 0), 0);
	assert_int_equal(symlinkat("/elsewhere.debug", place->dir, "root/opt/bin/linked.debug"), 0);
	assert_int_equal(search(place, &findings, &matching), 1);
	assert_int_equal(matching, 1);
}

/* To open some devices is to change something: a watchdog that is opened and closed resets the host. */
static void a_pipe_is_neither_opened_nor_waited_for(void **state)
{
	const struct place *place = *state;
	struct elf_findings findings = inspect("linked");
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct inotify_event opened;
	size_t matching;
	char pipe[128];

	assert_int_equal(mkdirat(place->dir, "root/opt", 0755), 0);
	assert_int_equal(mkdirat(place->dir, "root/opt/bin", 0755), 0);
	assert_int_equal(mkfifoat(place->dir, "root/opt/bin/linked.debug", 0644), 0);
	snprintf(pipe, sizeof(pipe), "%s/root/opt/bin/linked.debug", place->path);
	assert_true(inotify_add_watch(watch, pipe, IN_OPEN) >= 0);
	assert_int_equal(search(place, &findings, &matching), 0);
	assert_int_equal(read(watch, &opened, sizeof(opened)), -1);
	assert_int_equal(errno, EAGAIN);
	close(watch);
}

static void a_debuglink_is_a_plain_name(void **state)
{
	char long_name[300];

	(void)state;
	memset(long_name, 'x', sizeof(long_name));
	long_name[299] = '\0';
	assert_true(debug_file_name_is_plain("a.debug"));
	assert_true(debug_file_name_is_plain("..a"));
	assert_false(debug_file_name_is_plain(""));
	assert_false(debug_file_name_is_plain("."));
	assert_false(debug_file_name_is_plain(".."));
	assert_false(debug_file_name_is_plain("../a"));
	assert_false(debug_file_name_is_plain("/a"));
	assert_false(debug_file_name_is_plain(long_name));
}

static void the_checksum_is_the_usual_one(void **state)
{
	int fd = memfd_create("crc", MFD_CLOEXEC);
	uint32_t crc;

	(void)state;
	object_patch(fd, 0, "123456789", 9);
	assert_int_equal(debug_file_crc(fd, &crc), 0);
	assert_int_equal(crc, 0xcbf43926);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_place_of_a_debuglink_is_tried, make_place,
						remove_place),
		cmocka_unit_test_setup_teardown(a_debuglink_does_not_leave_its_places, make_place,
						remove_place),
		cmocka_unit_test_setup_teardown(a_debuglink_file_with_another_checksum_is_not_taken,
						make_place, remove_place),
		cmocka_unit_test_setup_teardown(a_file_of_somebody_else_is_not_taken, make_place,
						remove_place),
		cmocka_unit_test_setup_teardown(a_build_id_file_must_have_that_build_id, make_place,
						remove_place),
		cmocka_unit_test_setup_teardown(a_link_stays_in_the_root_of_the_process, make_place,
						remove_place),
		cmocka_unit_test_setup_teardown(a_pipe_is_neither_opened_nor_waited_for, make_place,
						remove_place),
		cmocka_unit_test(a_debuglink_is_a_plain_name),
		cmocka_unit_test(the_checksum_is_the_usual_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
