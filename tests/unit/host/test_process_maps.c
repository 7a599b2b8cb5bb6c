/* SPDX-License-Identifier: MIT */
/* Mappings of files: from texts, and of this very process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/elf/process_maps.h"

static const char sample[] =
	"55d0c0a00000-55d0c0a01000 r--p 00000000 08:01 1234                       /usr/bin/a b\n"
	"55d0c0a01000-55d0c0a02000 r-xp 00001000 08:01 1234                       /usr/bin/a b\n"
	"55d0c1000000-55d0c1021000 rw-p 00000000 00:00 0                          [heap]\n"
	"7f0000000000-7f0000001000 r-xp 00000000 08:01 77                         "
	"/tmp/two\\012lines (deleted)\n"
	"7f0000001000-7f0000002000 rwxp 00000000 00:00 0 \n"
	"7f0000002000-7f0000003000 r-xs 00005000 08:01 1234                       /usr/bin/a b\n"
	"7f0000004000-7f0000005000 r-xp 00000000 fe:10 1234                       /lib/other\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";

static int parse(const char *text, struct process_maps *ret)
{
	return process_maps_parse(text, strlen(text), ret);
}

static void mappings_of_files_are_told_with_their_names(void **state)
{
	struct process_maps maps = { 0 };
	const struct process_mapping *mapping;

	(void)state;
	assert_int_equal(parse(sample, &maps), 0);
	assert_int_equal(maps.mappings.count, 5);
	mapping = &maps.mappings.data[1];
	assert_int_equal(mapping->start, 0x55d0c0a01000);
	assert_int_equal(mapping->end, 0x55d0c0a02000);
	assert_int_equal(mapping->offset, 0x1000);
	assert_int_equal(mapping->device, makedev(8, 1));
	assert_int_equal(mapping->inode, 1234);
	assert_true(mapping->executable);
	assert_false(mapping->deleted);
	assert_string_equal(mapping->name, "/usr/bin/a b");
	assert_false(maps.mappings.data[0].executable);
	mapping = &maps.mappings.data[2];
	assert_true(mapping->deleted);
	assert_string_equal(mapping->name, "/tmp/two\nlines");
	assert_false(mapping->shared);
	assert_true(maps.mappings.data[3].shared);
	process_maps_clear(&maps);
}

static void a_last_line_without_its_newline_counts(void **state)
{
	struct process_maps maps = { 0 };

	(void)state;
	assert_int_equal(parse("1000-2000 r-xp 00000000 08:01 5    /a", &maps), 0);
	assert_int_equal(maps.mappings.count, 1);
	assert_string_equal(maps.mappings.data[0].name, "/a");
	process_maps_clear(&maps);
	assert_int_equal(parse("", &maps), 0);
	assert_int_equal(maps.mappings.count, 0);
	process_maps_clear(&maps);
}

static void each_executable_file_comes_once(void **state)
{
	struct process_maps maps = { 0 };
	const struct process_mapping *mapping;
	size_t cursor = 0;

	(void)state;
	assert_int_equal(parse(sample, &maps), 0);
	mapping = process_maps_next_file(&maps, &cursor);
	assert_int_equal(mapping->start, 0x55d0c0a01000);
	mapping = process_maps_next_file(&maps, &cursor);
	assert_int_equal(mapping->inode, 77);
	mapping = process_maps_next_file(&maps, &cursor);
	assert_string_equal(mapping->name, "/lib/other");
	assert_null(process_maps_next_file(&maps, &cursor));
	process_maps_clear(&maps);
}

static void an_address_leads_to_its_mapping(void **state)
{
	struct process_maps maps = { 0 };

	(void)state;
	assert_int_equal(parse(sample, &maps), 0);
	assert_ptr_equal(process_maps_at(&maps, 0x55d0c0a00fff), &maps.mappings.data[0]);
	assert_ptr_equal(process_maps_at(&maps, 0x55d0c0a01000), &maps.mappings.data[1]);
	assert_ptr_equal(process_maps_at(&maps, 0x7f0000004abc), &maps.mappings.data[4]);
	assert_null(process_maps_at(&maps, 0x55d0c0a02000));
	assert_null(process_maps_at(&maps, 0));
	assert_null(process_maps_at(&maps, UINT64_MAX));
	process_maps_clear(&maps);
}

static void lines_that_cannot_be_are_refused(void **state)
{
	static const char *const wrong[] = {
		"\n",
		"1000-2000\n",
		"1000-2000 r-xp 00000000 08:01\n",
		"2000-1000 r-xp 00000000 08:01 5 /a\n",
		"1000-1000 r-xp 00000000 08:01 5 /a\n",
		"1000-2000 r-xpp 00000000 08:01 5 /a\n",
		"11111111111111111-2000 r-xp 00000000 08:01 5 /a\n",
		"1000-2000 r-xp 00000000 08:01 99999999999999999999 /a\n",
		"1000-2000 r-xp 00000000 111111111:01 5 /a\n",
		"1000-3000 r-xp 00000000 08:01 5 /a\n2000-4000 r-xp 00000000 08:01 5 /a\n",
		"5000-6000 r-xp 00000000 08:01 5 /a\n1000-2000 r-xp 00000000 08:01 5 /a\n",
	};
	struct process_maps maps = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(parse(wrong[i], &maps), -EBADMSG);
	assert_int_equal(process_maps_parse("1000-2000 r-xp 0 08:01 5 /\0a", 27, &maps), -EBADMSG);
	assert_null(maps.mappings.data);
}

static int open_self(void)
{
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(self >= 0);
	return self;
}

static void check_same_file(int fd, const char *path)
{
	struct stat one, other;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &one), 0);
	assert_int_equal(stat(path, &other), 0);
	assert_int_equal(one.st_dev, other.st_dev);
	assert_int_equal(one.st_ino, other.st_ino);
	close(fd);
}

static void our_own_program_is_mapped_and_can_be_opened(void **state)
{
	struct process_maps maps = { 0 };
	const struct process_mapping *mapping;
	int self = open_self();

	(void)state;
	assert_int_equal(process_maps_read(self, &maps), 0);
	mapping = process_maps_at(&maps, (uintptr_t)open_self);
	assert_non_null(mapping);
	assert_true(mapping->executable);
	check_same_file(process_mapping_open(self, mapping), "/proc/self/exe");
	process_maps_clear(&maps);
	close(self);
}

/* A range that is not mapped makes map_files useless, as it is to a plain user. */
static void a_name_is_only_good_for_the_same_file(void **state)
{
	struct process_maps maps = { 0 };
	struct process_mapping mapping;
	int self = open_self();

	(void)state;
	assert_int_equal(process_maps_read(self, &maps), 0);
	mapping = *process_maps_at(&maps, (uintptr_t)open_self);
	mapping.start = 0x1000;
	mapping.end = 0x2000;
	check_same_file(process_mapping_open(self, &mapping), "/proc/self/exe");
	mapping.inode++;
	assert_int_equal(process_mapping_open(self, &mapping), -ESTALE);
	mapping.name = "/no/such/file";
	assert_int_equal(process_mapping_open(self, &mapping), -ENOENT);
	process_maps_clear(&maps);
	close(self);
}

static void a_deleted_file_is_opened_all_the_same(void **state)
{
	char path[] = "/tmp/taskscope-maps-XXXXXX";
	int file = mkstemp(path), self = open_self(), fd;
	const struct process_mapping *mapping;
	struct process_maps maps = { 0 };
	struct stat one, other;
	void *memory;

	(void)state;
	assert_int_equal(ftruncate(file, 4096), 0);
	memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
	assert_true(memory != MAP_FAILED);
	unlink(path);
	assert_int_equal(process_maps_read(self, &maps), 0);
	mapping = process_maps_at(&maps, (uintptr_t)memory);
	assert_non_null(mapping);
	assert_true(mapping->deleted);
	assert_string_equal(mapping->name, path);
	fd = process_mapping_open(self, mapping);
	if (geteuid() == 0) {
		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &one), 0);
		assert_int_equal(fstat(file, &other), 0);
		assert_int_equal(one.st_ino, other.st_ino);
		close(fd);
	} else {
		assert_true(fd < 0);
	}
	munmap(memory, 4096);
	process_maps_clear(&maps);
	close(self);
	close(file);
}

static void what_is_not_a_plain_file_is_not_opened(void **state)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC), self = open_self();
	void *memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, zero, 0);
	const struct process_mapping *mapping;
	struct process_maps maps = { 0 };

	(void)state;
	assert_true(memory != MAP_FAILED);
	assert_int_equal(process_maps_read(self, &maps), 0);
	mapping = process_maps_at(&maps, (uintptr_t)memory);
	assert_non_null(mapping);
	assert_true(process_mapping_open(self, mapping) < 0);
	munmap(memory, 4096);
	process_maps_clear(&maps);
	close(self);
	close(zero);
}

static void the_program_image_is_where_we_are(void **state)
{
	struct process_maps maps = { 0 };
	struct program_image image;
	int self = open_self();

	(void)state;
	assert_int_equal(program_image_read(self, &image), 0);
	assert_int_equal(process_maps_read(self, &maps), 0);
	assert_int_equal(process_maps_at(&maps, image.entry)->inode,
			 process_maps_at(&maps, (uintptr_t)open_self)->inode);
	assert_non_null(process_maps_at(&maps, image.interpreter));
	process_maps_clear(&maps);
	close(self);
}

static void a_process_that_is_gone_has_neither(void **state)
{
	struct process_maps maps = { 0 };
	struct program_image image;
	char path[64];
	int directory;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		pause();
		_exit(0);
	}
	snprintf(path, sizeof(path), "/proc/%d", child);
	directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(process_maps_read(directory, &maps), -ESRCH);
	assert_int_equal(program_image_read(directory, &image), -ESRCH);
	close(directory);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_of_files_are_told_with_their_names),
		cmocka_unit_test(a_last_line_without_its_newline_counts),
		cmocka_unit_test(each_executable_file_comes_once),
		cmocka_unit_test(an_address_leads_to_its_mapping),
		cmocka_unit_test(lines_that_cannot_be_are_refused),
		cmocka_unit_test(our_own_program_is_mapped_and_can_be_opened),
		cmocka_unit_test(a_name_is_only_good_for_the_same_file),
		cmocka_unit_test(a_deleted_file_is_opened_all_the_same),
		cmocka_unit_test(what_is_not_a_plain_file_is_not_opened),
		cmocka_unit_test(the_program_image_is_where_we_are),
		cmocka_unit_test(a_process_that_is_gone_has_neither),
	};

	return cmocka_run_group_tests_name("process_maps", tests, NULL, NULL);
}
