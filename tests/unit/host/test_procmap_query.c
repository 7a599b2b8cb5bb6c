/* SPDX-License-Identifier: MIT */
/* The kernel's answers about mappings are those of its text. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "host/elf/process_maps.h"

static void assert_same(const struct process_mapping *one, const struct process_mapping *other)
{
	assert_int_equal(one->start, other->start);
	assert_int_equal(one->end, other->end);
	assert_int_equal(one->offset, other->offset);
	assert_int_equal(one->device, other->device);
	assert_int_equal(one->inode, other->inode);
	assert_int_equal(one->executable, other->executable);
	assert_int_equal(one->deleted, other->deleted);
	assert_string_equal(one->name, other->name);
}

/* Kernels before 6.11 cannot be asked and say so. */
static void every_mapping_of_a_file_is_told_as_in_the_text(void **state)
{
	struct process_maps asked = { 0 }, read = { 0 };
	struct text text = { 0 };
	int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = openat(self, "maps", O_RDONLY | O_CLOEXEC);
	int status = procmap_query_files(fd, &asked);

	(void)state;
	if (status != -ENOTTY) {
		assert_int_equal(status, 0);
		assert_int_equal(file_read_text(self, "maps", 1 << 20, &text), 0);
		assert_int_equal(process_maps_parse(text.data, text.length, &read), 0);
		assert_true(asked.mappings.count > 4);
		assert_int_equal(asked.mappings.count, read.mappings.count);
		for (size_t i = 0; i < read.mappings.count; i++)
			assert_same(&asked.mappings.data[i], &read.mappings.data[i]);
	}
	process_maps_clear(&asked);
	process_maps_clear(&read);
	text_free(&text);
	close(fd);
	close(self);
}

static void what_is_no_map_cannot_be_asked(void **state)
{
	struct process_maps maps = { 0 };
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(procmap_query_files(null, &maps), -ENOTTY);
	assert_int_equal(maps.mappings.count, 0);
	close(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mapping_of_a_file_is_told_as_in_the_text),
		cmocka_unit_test(what_is_no_map_cannot_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
