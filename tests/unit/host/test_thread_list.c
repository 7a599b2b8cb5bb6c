/* SPDX-License-Identifier: MIT */
/* Threads and TLS modules of glibc programs: real ones, and targets that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <errno.h>

#include "fake_memory.h"
#include "host/elf/link_map.h"
#include "host/elf/thread_list.h"
#include "host/elf/tls.h"
#include "target_process.h"

#define LIMIT 1000

/* A program and all that is needed to read its threads. */
struct scene {
	struct target_process target;
	struct process_maps maps;
	struct module_list list;
	struct elf_findings library, loader;
	struct thread_layout layout;
};

static const struct loaded_module *find_module(const struct scene *scene, const char *part)
{
	const struct module_list *list = &scene->list;

	for (size_t i = 0; i < list->modules.count; i++) {
		const struct process_mapping *mapping =
			process_maps_at(&scene->maps, list->modules.data[i].dynamic);

		if (mapping && strstr(mapping->name, part))
			return &list->modules.data[i];
	}
	fail_msg("no %s", part);
	return NULL;
}

static struct elf_findings inspect_module(const struct scene *scene,
					  const struct loaded_module *module)
{
	const struct process_mapping *mapping = process_maps_at(&scene->maps, module->dynamic);

	assert_non_null(mapping);
	return target_inspect(process_mapping_open(scene->target.directory, mapping));
}

static void open_dynamic(struct scene *scene)
{
	const struct loaded_module *library, *loader;
	struct thread_symbols symbols[2];

	*scene = (struct scene){ 0 };
	target_start(&scene->target, "dynamic", "preloaded.so", "loaded.so");
	assert_int_equal(process_maps_read(scene->target.directory, &scene->maps), 0);
	assert_int_equal(link_map_read(&scene->target.memory,
				       scene->target.bias + scene->target.findings.dynamic_vaddr,
				       &scene->list),
			 0);
	library = find_module(scene, "/libc");
	loader = find_module(scene, "/ld-");
	scene->library = inspect_module(scene, library);
	scene->loader = inspect_module(scene, loader);
	symbols[0] = (struct thread_symbols){ &scene->library, library->base };
	symbols[1] = (struct thread_symbols){ &scene->loader, loader->base };
	assert_int_equal(
		thread_layout_read(&scene->target.memory, &symbols[0], &symbols[1], &scene->layout),
		0);
}

static void close_scene(struct scene *scene)
{
	module_list_clear(&scene->list);
	process_maps_clear(&scene->maps);
	target_end(&scene->target);
}

/* Exactly the threads that the target named, each where it said. */
static void check_threads(const struct target_process *target, const struct thread_layout *layout)
{
	struct thread_list list = { 0 };

	assert_int_equal(thread_list_read(&target->memory, layout, LIMIT, &list), 0);
	assert_true(list.complete);
	assert_int_equal(list.threads.count, target->count);
	for (size_t i = 0; i < list.threads.count; i++) {
		const struct target_thread *thread =
			target_thread(target, list.threads.data[i].tid);

		assert_non_null(thread);
		assert_int_equal(list.threads.data[i].pointer, thread->pointer);
	}
	thread_list_clear(&list);
}

static void threads_are_listed_with_the_pointer_they_have(void **state)
{
	struct scene scene;

	(void)state;
	open_dynamic(&scene);
	assert_true(scene.target.count == 6);
	check_threads(&scene.target, &scene.layout);
	close_scene(&scene);
}

static void a_static_program_lists_its_threads_itself(void **state)
{
	struct target_process target;
	struct thread_symbols symbols;
	struct thread_layout layout;

	(void)state;
	target_start(&target, "static", NULL, NULL);
	symbols = (struct thread_symbols){ &target.findings, target.bias };
	assert_int_equal(thread_layout_read(&target.memory, &symbols, &symbols, &layout), 0);
	check_threads(&target, &layout);
	target_end(&target);
}

static void a_program_without_descriptors_is_not_supported(void **state)
{
	struct thread_layout layout = { .pthread_size = 77 };
	struct thread_symbols symbols;
	struct target_process target;

	(void)state;
	target_start(&target, "stripped", NULL, NULL);
	symbols = (struct thread_symbols){ &target.findings, target.bias };
	assert_int_equal(thread_layout_read(&target.memory, &symbols, &symbols, &layout), -ENOTSUP);
	assert_int_equal(layout.pthread_size, 77);
	target_end(&target);
}

/* A module's variable is as far into its block in every thread: the distance is learned once. */
static void a_preloaded_module_is_at_one_offset_in_every_thread(void **state)
{
	struct tls_module module;
	struct scene scene;
	uint64_t variable;

	(void)state;
	open_dynamic(&scene);
	assert_int_equal(tls_module_read(&scene.target.memory, &scene.layout,
					 find_module(&scene, "preloaded.so")->link_map, &module),
			 0);
	assert_true(module.is_static);
	assert_int_equal(module.id, 2);
	variable = 128; /* behind one byte, aligned to 128 */
	for (size_t i = 0; i < scene.target.count; i++) {
		const struct target_thread *thread = &scene.target.threads[i];
		uint64_t address = 0, block = 0;

		assert_true(
			tls_counter_address(thread->pointer, module.offset, variable, &address));
		assert_int_equal(address, thread->preloaded);
		assert_int_equal(tls_block_read(&scene.target.memory, &scene.layout, &module,
						thread->pointer, &block),
				 0);
		assert_int_equal(block + variable, thread->preloaded);
	}
	close_scene(&scene);
}

static void the_executable_is_the_first_module(void **state)
{
	struct tls_module module;
	struct scene scene;
	int64_t offset;

	(void)state;
	open_dynamic(&scene);
	assert_int_equal(tls_module_read(&scene.target.memory, &scene.layout,
					 scene.list.modules.data[0].link_map, &module),
			 0);
	assert_int_equal(module.id, 1);
	assert_true(tls_executable_offset(scene.target.findings.machine, &scene.target.findings.tls,
					  &offset));
	assert_true(module.is_static);
	assert_int_equal(module.offset, offset);
	close_scene(&scene);
}

static void a_module_loaded_later_is_found_by_each_threads_table(void **state)
{
	struct tls_module module;
	struct scene scene;

	(void)state;
	open_dynamic(&scene);
	assert_int_equal(tls_module_read(&scene.target.memory, &scene.layout,
					 find_module(&scene, "/loaded.so")->link_map, &module),
			 0);
	assert_false(module.is_static);
	for (size_t i = 0; i < scene.target.count; i++) {
		const struct target_thread *thread = &scene.target.threads[i];
		uint64_t block = 0;
		int status = tls_block_read(&scene.target.memory, &scene.layout, &module,
					    thread->pointer, &block);

		assert_int_equal(status, thread->loaded ? 0 : -ENODATA);
		assert_int_equal(block ? block + 128 : 0, thread->loaded);
	}
	close_scene(&scene);
}

static void a_module_without_tls_has_none(void **state)
{
	struct tls_module module;
	struct scene scene;

	(void)state;
	open_dynamic(&scene);
	assert_int_equal(tls_module_read(&scene.target.memory, &scene.layout,
					 find_module(&scene, "/ld-")->link_map, &module),
			 -ENODATA);
	close_scene(&scene);
}

#define HEAD_USED FAKE_BASE
#define HEAD_USER (FAKE_BASE + 0x100)
#define SLOTS (FAKE_BASE + 0x200)
#define THREADS (FAKE_BASE + 0x1000)

static const struct thread_layout layout_used = {
	.machine = EM_X86_64,
	.used_list = HEAD_USED,
	.user_list = HEAD_USER,
	.slot_list = SLOTS,
	.pthread_size = 0x100,
	.next = { 8, 0 },
	.prev = { 8, 8 },
	.list = { 16, 0x20 },
	.tid = { 4, 0x40 },
	.dtv_pointer = { 8, 8 },
	.dtv_item = { 16, 0 },
	.counter = { 8, 0 },
	.pointer = { 8, 0 },
	.module_id = { 8, 0 },
	.module_offset = { 8, 8 },
	.chunk_count = { 8, 0 },
	.chunk_next = { 8, 8 },
	.slots = { 16, 16 },
	.generation = { 8, 0 },
	.slot_size = 16,
};

static uint64_t node_at(size_t i)
{
	return THREADS + i * 0x100 + 0x20;
}

static void put_node(struct fake_memory *fake, size_t i, uint64_t previous, uint64_t next)
{
	fake_word(fake, node_at(i), next);
	fake_word(fake, node_at(i) + 8, previous);
	fake_word(fake, node_at(i) + 0x20, 100 + i);
}

static void put_head(struct fake_memory *fake, uint64_t head, uint64_t first, uint64_t last)
{
	fake_word(fake, head, first);
	fake_word(fake, head + 8, last);
}

/* Two threads with stacks of the library, one with its own. */
static void make_lists(struct fake_memory *fake)
{
	memset(fake, 0, sizeof(*fake));
	put_head(fake, HEAD_USED, node_at(0), node_at(1));
	put_node(fake, 0, HEAD_USED, node_at(1));
	put_node(fake, 1, node_at(0), HEAD_USED);
	put_head(fake, HEAD_USER, node_at(2), node_at(2));
	put_node(fake, 2, HEAD_USER, HEAD_USER);
}

/* How many threads were found. */
static size_t count_threads(struct fake_memory *fake, size_t limit, bool *ret_complete)
{
	struct target_memory memory = fake_target(fake);
	struct thread_list list = { 0 };
	size_t count;

	fake->reads = 0;
	assert_int_equal(thread_list_read(&memory, &layout_used, limit, &list), 0);
	count = list.threads.count;
	*ret_complete = list.complete;
	thread_list_clear(&list);
	return count;
}

static void both_lists_are_walked_once(void **state)
{
	struct fake_memory *fake = test_calloc(1, sizeof(*fake));
	bool complete;

	(void)state;
	make_lists(fake);
	assert_int_equal(count_threads(fake, LIMIT, &complete), 3);
	assert_true(complete);
	assert_int_equal(fake->reads, 5);
	fake_word(fake, node_at(1) + 0x20, 0); /* ended, not joined */
	assert_int_equal(count_threads(fake, LIMIT, &complete), 2);
	assert_true(complete);
	test_free(fake);
}

static void broken_lists_give_what_is_before_the_break(void **state)
{
	struct fake_memory *fake = test_calloc(1, sizeof(*fake));
	bool complete;

	(void)state;
	make_lists(fake);
	put_node(fake, 1, node_at(0), node_at(0)); /* loops */
	assert_int_equal(count_threads(fake, LIMIT, &complete), 3);
	assert_false(complete);
	put_node(fake, 1, node_at(0), node_at(2)); /* goes over to the other list */
	assert_int_equal(count_threads(fake, LIMIT, &complete), 3);
	assert_false(complete);
	put_node(fake, 1, node_at(0), 0x1234);
	assert_int_equal(count_threads(fake, LIMIT, &complete), 3);
	assert_false(complete);
	put_head(fake, HEAD_USED, 0, 0); /* not started */
	assert_int_equal(count_threads(fake, LIMIT, &complete), 1);
	assert_false(complete);
	test_free(fake);
}

static void no_more_nodes_are_read_than_wanted(void **state)
{
	struct fake_memory *fake = test_calloc(1, sizeof(*fake));
	bool complete;

	(void)state;
	make_lists(fake);
	assert_int_equal(count_threads(fake, 2, &complete), 2);
	assert_false(complete);
	assert_true(fake->reads <= 3 * 4);
	assert_int_equal(count_threads(fake, 3, &complete), 3);
	assert_true(complete);
	test_free(fake);
}

static void heads_that_cannot_be_read_are_an_error(void **state)
{
	struct fake_memory *fake = test_calloc(1, sizeof(*fake));
	struct target_memory memory = fake_target(fake);
	struct thread_layout layout = layout_used;
	struct thread_list list = { 0 };

	(void)state;
	layout.used_list = 0x1234;
	assert_int_equal(thread_list_read(&memory, &layout, LIMIT, &list), -EFAULT);
	assert_null(list.threads.data);
	test_free(fake);
}

/* Module 5 is the third of the second chunk, which holds 3 to 6. */
static void generations_are_found_through_all_chunks(void **state)
{
	struct fake_memory *fake = test_calloc(1, sizeof(*fake));
	struct target_memory memory = fake_target(fake);
	uint64_t first = SLOTS + 0x100, second = SLOTS + 0x200, link_map = SLOTS + 0x300;
	struct tls_module module;

	(void)state;
	fake_word(fake, SLOTS, first);
	fake_word(fake, first, 3);
	fake_word(fake, first + 8, second);
	fake_word(fake, second, 4);
	fake_word(fake, second + 16 + 2 * 16, 42);
	fake_word(fake, link_map, 5);
	fake_word(fake, link_map + 8, 640);
	assert_int_equal(tls_module_read(&memory, &layout_used, link_map, &module), 0);
	assert_int_equal(module.generation, 42);
	assert_int_equal(module.offset, -640);
	fake_word(fake, link_map, 7);
	assert_int_equal(tls_module_read(&memory, &layout_used, link_map, &module), -EBADMSG);
	fake_word(fake, second, 0); /* an empty chunk that follows itself */
	fake_word(fake, second + 8, second);
	assert_int_equal(tls_module_read(&memory, &layout_used, link_map, &module), -EBADMSG);
	test_free(fake);
}

/* A table that is older than the module may end before its item. */
static void a_table_that_is_older_than_the_module_is_not_looked_into(void **state)
{
	static const struct tls_module module = { .id = 3, .generation = 5 };
	struct fake_memory *fake = test_calloc(1, sizeof(*fake));
	struct target_memory memory = fake_target(fake);
	uint64_t thread = THREADS, dtv = THREADS + 0x100, block = 77;

	(void)state;
	fake_word(fake, thread + 8, dtv);
	fake_word(fake, dtv, 4);
	fake_word(fake, dtv + 3 * 16, 0x5000);
	assert_int_equal(tls_block_read(&memory, &layout_used, &module, thread, &block), -ENODATA);
	assert_int_equal(block, 77);
	fake_word(fake, dtv, 5);
	assert_int_equal(tls_block_read(&memory, &layout_used, &module, thread, &block), 0);
	assert_int_equal(block, 0x5000);
	fake_word(fake, dtv + 3 * 16, UINT64_MAX); /* not made yet */
	assert_int_equal(tls_block_read(&memory, &layout_used, &module, thread, &block), -ENODATA);
	fake_word(fake, thread + 8, 0);
	assert_int_equal(tls_block_read(&memory, &layout_used, &module, thread, &block), -EFAULT);
	test_free(fake);
}

static void descriptors_that_cannot_be_true_are_refused(void **state)
{
	struct fake_memory *fake = test_calloc(1, sizeof(*fake));
	struct target_memory memory = fake_target(fake);
	struct elf_findings findings = { .machine = EM_X86_64 };
	struct thread_symbols symbols = { &findings, FAKE_BASE };
	struct thread_layout layout;

	(void)state;
	for (size_t i = 0; i < ELF_SYMBOL_COUNT; i++)
		findings.symbols[i] = 16;
	fake_word(fake, FAKE_BASE + 16, 64 | 1ull << 32);
	assert_int_equal(thread_layout_read(&memory, &symbols, &symbols, &layout), -EBADMSG);
	memset(fake->bytes, 0xff, FAKE_SIZE);
	assert_int_equal(thread_layout_read(&memory, &symbols, &symbols, &layout), -EBADMSG);
	symbols.base = 0;
	assert_int_equal(thread_layout_read(&memory, &symbols, &symbols, &layout), -EFAULT);
	test_free(fake);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_are_listed_with_the_pointer_they_have),
		cmocka_unit_test(a_static_program_lists_its_threads_itself),
		cmocka_unit_test(a_program_without_descriptors_is_not_supported),
		cmocka_unit_test(a_preloaded_module_is_at_one_offset_in_every_thread),
		cmocka_unit_test(the_executable_is_the_first_module),
		cmocka_unit_test(a_module_loaded_later_is_found_by_each_threads_table),
		cmocka_unit_test(a_module_without_tls_has_none),
		cmocka_unit_test(both_lists_are_walked_once),
		cmocka_unit_test(broken_lists_give_what_is_before_the_break),
		cmocka_unit_test(no_more_nodes_are_read_than_wanted),
		cmocka_unit_test(heads_that_cannot_be_read_are_an_error),
		cmocka_unit_test(generations_are_found_through_all_chunks),
		cmocka_unit_test(a_table_that_is_older_than_the_module_is_not_looked_into),
		cmocka_unit_test(descriptors_that_cannot_be_true_are_refused),
	};

	return cmocka_run_group_tests_name("thread_list", tests, NULL, NULL);
}
