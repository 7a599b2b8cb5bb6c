/* SPDX-License-Identifier: MIT */
/* The offsets of jemalloc's counters from debug information of every kind. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "host/oracle/dwarf_layout.h"
#include "objects.h"

/* Of struct tsd_s in objects/sample.c. */
#define ALLOCATED 40
#define DEALLOCATED 56

static int layout_of(const char *name, struct tsd_layout *ret)
{
	int fd = object_open(name);
	int status = dwarf_tsd_layout(fd, ret);

	close(fd);
	return status;
}

static void assert_layout(const char *name)
{
	struct tsd_layout layout = { 0 };

	assert_int_equal(layout_of(name, &layout), 0);
	assert_int_equal(layout.allocated, ALLOCATED);
	assert_int_equal(layout.deallocated, DEALLOCATED);
}

static void both_counters_are_found_in_dwarf_4_and_5(void **state)
{
	(void)state;
	assert_layout("dwarf4");
	assert_layout("dwarf5");
}

/* DWARF 2 has a small program for each offset, which is a stranger's. */
static void offsets_that_would_have_to_be_computed_are_not_taken(void **state)
{
	struct tsd_layout layout = { .allocated = 7 };

	(void)state;
	assert_int_equal(layout_of("dwarf2", &layout), -EBADMSG);
	assert_int_equal(layout.allocated, 7);
}

static void compressed_sections_are_unpacked(void **state)
{
	(void)state;
	assert_layout("compressed");
	assert_layout("zdebug");
}

static void a_file_with_debug_information_alone_is_enough(void **state)
{
	(void)state;
	assert_layout("linked.debug");
}

static void a_file_without_debug_information_has_no_layout(void **state)
{
	struct tsd_layout layout = { .allocated = 7 };

	(void)state;
	assert_int_equal(layout_of("plain", &layout), -ENODATA);
	assert_int_equal(layout_of("stripped", &layout), -ENODATA);
	assert_int_equal(layout.allocated, 7);
}

/* The name of the other file is a stranger's, so it is not opened though it lies beside. */
static void split_debug_information_is_not_followed(void **state)
{
	struct tsd_layout layout;

	(void)state;
	assert_int_equal(layout_of("split", &layout), -ENODATA);
}

/* A program that knows nothing of jemalloc: this test itself. */
static void a_program_without_the_struct_has_no_layout(void **state)
{
	struct tsd_layout layout;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(dwarf_tsd_layout(fd, &layout), -ENODATA);
	close(fd);
}

static void what_is_no_elf_file_is_refused(void **state)
{
	struct tsd_layout layout;
	int fd = object_copy("made");

	(void)state;
	assert_int_equal(dwarf_tsd_layout(fd, &layout), -EBADMSG);
	close(fd);
}

static void a_file_that_was_cut_or_changed_never_crashes(void **state)
{
	struct tsd_layout layout;
	struct stat file;
	int fd = object_copy("dwarf5");

	(void)state;
	assert_int_equal(fstat(fd, &file), 0);
	for (off_t at = file.st_size / 2; at < file.st_size; at += 13) {
		uint8_t byte;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= 0xff;
		object_patch(fd, at, &byte, 1);
		(void)dwarf_tsd_layout(fd, &layout);
		byte ^= 0xff;
		object_patch(fd, at, &byte, 1);
	}
	for (off_t size = file.st_size; size >= 0; size -= 97) {
		assert_int_equal(ftruncate(fd, size), 0);
		(void)dwarf_tsd_layout(fd, &layout);
	}
	close(fd);
}

/* The size in a section's compression header is a stranger's: it is held against what is stored. */
static void a_compressed_section_cannot_claim_any_size(void **state)
{
	const uint64_t claimed = __builtin_bswap64((uint64_t)1 << 40);
	struct tsd_layout layout;
	int fd = object_copy("zdebug");
	struct stat file;
	char *bytes, *found;

	(void)state;
	assert_int_equal(fstat(fd, &file), 0);
	bytes = malloc((size_t)file.st_size);
	assert_int_equal(pread(fd, bytes, (size_t)file.st_size, 0), file.st_size);
	found = memmem(bytes, (size_t)file.st_size, "ZLIB\0", 5);
	assert_non_null(found);
	object_patch(fd, found + 4 - bytes, &claimed, sizeof(claimed));
	assert_int_equal(dwarf_tsd_layout(fd, &layout), -EBADMSG);
	free(bytes);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_counters_are_found_in_dwarf_4_and_5),
		cmocka_unit_test(offsets_that_would_have_to_be_computed_are_not_taken),
		cmocka_unit_test(compressed_sections_are_unpacked),
		cmocka_unit_test(a_file_with_debug_information_alone_is_enough),
		cmocka_unit_test(a_file_without_debug_information_has_no_layout),
		cmocka_unit_test(split_debug_information_is_not_followed),
		cmocka_unit_test(a_program_without_the_struct_has_no_layout),
		cmocka_unit_test(what_is_no_elf_file_is_refused),
		cmocka_unit_test(a_file_that_was_cut_or_changed_never_crashes),
		cmocka_unit_test(a_compressed_section_cannot_claim_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
