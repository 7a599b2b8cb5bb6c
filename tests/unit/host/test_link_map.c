/* SPDX-License-Identifier: MIT */
/* The chain of modules: of a real program, and of targets that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <link.h>

#include "fake_memory.h"
#include "host/elf/link_map.h"
#include "target_process.h"

#define DYNAMIC FAKE_BASE
#define DEBUG (FAKE_BASE + 0x1000)
#define MAPS (FAKE_BASE + 0x4000)

static uint64_t map_at(size_t i)
{
	return MAPS + i * 0x100;
}

static void put_map(struct fake_memory *fake, size_t i, uint64_t previous, uint64_t next)
{
	struct link_map map = {
		.l_addr = 0x5000 + i,
		.l_ld = (void *)(0x6000 + i),
		.l_next = (void *)next,
		.l_prev = (void *)previous,
	};

	fake_put(fake, map_at(i), &map, sizeof(map));
}

/* Three modules behind a dynamic section with some other entries. */
static struct target_memory make_chain(struct fake_memory *fake)
{
	static const Elf64_Dyn entries[] = {
		{ .d_tag = DT_NEEDED, .d_un.d_val = 1 },
		{ .d_tag = DT_HASH, .d_un.d_val = 2 },
		{ .d_tag = DT_DEBUG, .d_un.d_ptr = DEBUG },
		{ .d_tag = DT_NULL },
	};
	struct r_debug debug = { .r_version = 1, .r_map = (void *)map_at(0) };

	memset(fake, 0, sizeof(*fake));
	fake_put(fake, DYNAMIC, entries, sizeof(entries));
	fake_put(fake, DEBUG, &debug, sizeof(debug));
	put_map(fake, 0, 0, map_at(1));
	put_map(fake, 1, map_at(0), map_at(2));
	put_map(fake, 2, map_at(1), 0);
	return fake_target(fake);
}

static int read_chain(struct fake_memory *fake, struct module_list *ret)
{
	struct target_memory memory = fake_target(fake);

	fake->reads = 0;
	return link_map_read(&memory, DYNAMIC, ret);
}

static int refuse_chain(struct fake_memory *fake)
{
	struct module_list list = { 0 };
	int status = read_chain(fake, &list);

	assert_true(status < 0);
	assert_null(list.modules.data);
	return status;
}

static void a_chain_is_read_in_load_order(void **state)
{
	struct fake_memory *fake = test_calloc(1, sizeof(*fake));
	struct module_list list = { 0 };

	(void)state;
	make_chain(fake);
	assert_int_equal(read_chain(fake, &list), 0);
	assert_int_equal(list.modules.count, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(list.modules.data[i].link_map, map_at(i));
		assert_int_equal(list.modules.data[i].base, 0x5000 + i);
		assert_int_equal(list.modules.data[i].dynamic, 0x6000 + i);
	}
	module_list_clear(&list);
	test_free(fake);
}

static void a_program_without_a_loader_has_no_chain(void **state)
{
	struct fake_memory *fake = test_calloc(1, sizeof(*fake));
	Elf64_Dyn unset = { .d_tag = DT_DEBUG };

	(void)state;
	make_chain(fake);
	fake_put(fake, DYNAMIC + 2 * sizeof(unset), &unset, sizeof(unset));
	assert_int_equal(refuse_chain(fake), -ENODATA);
	unset.d_tag = DT_NULL;
	fake_put(fake, DYNAMIC + 2 * sizeof(unset), &unset, sizeof(unset));
	assert_int_equal(refuse_chain(fake), -ENODATA);
	make_chain(fake);
	fake_word(fake, DEBUG + offsetof(struct r_debug, r_map), 0);
	assert_int_equal(refuse_chain(fake), -ENODATA);
	test_free(fake);
}

static void a_dynamic_section_without_an_end_is_left(void **state)
{
	struct fake_memory *fake = test_calloc(1, sizeof(*fake));

	(void)state;
	memset(fake->bytes, 0x41, FAKE_SIZE);
	assert_int_equal(refuse_chain(fake), -ENODATA);
	assert_true(fake->reads < 100);
	test_free(fake);
}

static void chains_that_loop_or_break_are_refused(void **state)
{
	struct fake_memory *fake = test_calloc(1, sizeof(*fake));

	(void)state;
	make_chain(fake);
	put_map(fake, 2, map_at(1), map_at(0));
	assert_int_equal(refuse_chain(fake), -ELOOP);
	put_map(fake, 2, map_at(1), map_at(2));
	assert_int_equal(refuse_chain(fake), -ELOOP);
	put_map(fake, 2, map_at(0), 0);
	assert_int_equal(refuse_chain(fake), -ELOOP);
	put_map(fake, 2, map_at(1), 0x1234);
	assert_int_equal(refuse_chain(fake), -EFAULT);
	assert_true(fake->reads < 100);
	test_free(fake);
}

/* A target that makes up another module whenever it is asked. */
static ssize_t read_endless(void *context, uint64_t address, void *buffer, size_t size)
{
	struct fake_memory *fake = context;
	struct link_map map = { .l_next = (void *)(address + 0x100) };

	if (address < map_at(0) || size != sizeof(map))
		return fake_read(context, address, buffer, size);
	fake->reads++;
	map.l_prev = (void *)(address == map_at(0) ? 0 : address - 0x100);
	memcpy(buffer, &map, sizeof(map));
	return (ssize_t)size;
}

static void a_chain_without_an_end_is_left(void **state)
{
	struct fake_memory *fake = test_calloc(1, sizeof(*fake));
	struct target_memory memory = make_chain(fake);
	struct module_list list = { 0 };

	(void)state;
	memory.read = read_endless;
	assert_int_equal(link_map_read(&memory, DYNAMIC, &list), -ELOOP);
	assert_true(fake->reads < 3 * (LINK_MAP_MODULES_MAX + 16));
	test_free(fake);
}

/* How many modules are in a file with such a name. */
static size_t count_mapped(const struct process_maps *maps, const struct module_list *list,
			   const char *part)
{
	size_t count = 0;

	for (size_t i = 0; i < list->modules.count; i++) {
		const struct process_mapping *mapping =
			process_maps_at(maps, list->modules.data[i].dynamic);

		count += mapping && strstr(mapping->name, part);
	}
	return count;
}

static void a_real_program_tells_its_libraries_and_their_files(void **state)
{
	struct target_process target;
	struct process_maps maps = { 0 };
	struct module_list list = { 0 };

	(void)state;
	target_start(&target, "dynamic", "preloaded.so", "loaded.so");
	assert_int_equal(process_maps_read(target.directory, &maps), 0);
	assert_int_equal(
		link_map_read(&target.memory, target.bias + target.findings.dynamic_vaddr, &list),
		0);
	assert_int_equal(list.modules.data[0].base, target.bias);
	assert_int_equal(count_mapped(&maps, &list, "/dynamic"), 1);
	assert_int_equal(count_mapped(&maps, &list, "/libc"), 1);
	assert_int_equal(count_mapped(&maps, &list, "/ld-"), 1);
	assert_int_equal(count_mapped(&maps, &list, "/preloaded.so"), 1);
	assert_int_equal(count_mapped(&maps, &list, "/loaded.so"), 1);
	module_list_clear(&list);
	process_maps_clear(&maps);
	target_end(&target);
}

static void a_process_that_is_gone_has_no_chain(void **state)
{
	struct target_process target;
	struct module_list list = { 0 };

	(void)state;
	target_start(&target, "dynamic", NULL, NULL);
	target_end(&target);
	assert_int_equal(
		link_map_read(&target.memory, target.bias + target.findings.dynamic_vaddr, &list),
		-ESRCH);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_is_read_in_load_order),
		cmocka_unit_test(a_program_without_a_loader_has_no_chain),
		cmocka_unit_test(a_dynamic_section_without_an_end_is_left),
		cmocka_unit_test(chains_that_loop_or_break_are_refused),
		cmocka_unit_test(a_chain_without_an_end_is_left),
		cmocka_unit_test(a_real_program_tells_its_libraries_and_their_files),
		cmocka_unit_test(a_process_that_is_gone_has_no_chain),
	};

	return cmocka_run_group_tests_name("link_map", tests, NULL, NULL);
}
