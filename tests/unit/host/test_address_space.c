/* SPDX-License-Identifier: MIT */
/* What is mapped where, after mappings replaced each other and processes forked. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/code/code_state.h"
#include "host/code/mapped_code.h"
#include "host/code/unwind.h"
#include "host/host.h"

#define ADDRESSES 64

static struct host *host;
static struct code *code;

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(host_open(&host, NULL, NULL), 0);
	assert_int_equal(code_open(host, NULL, &code), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	code_close(code);
	host_close(host);
	return 0;
}

/* Nothing of it is a file, so that nothing is opened. */
static int map(struct address_space *space, uint64_t start, uint64_t end, uint64_t offset)
{
	const struct code_mapping mapping = {
		.start = start, .end = end, .offset = offset, .path = "//anon"
	};

	return address_space_map(space, &mapping);
}

static void a_mapping_replaces_what_was_there(void **state)
{
	struct address_space *space = address_space_new(code, 1, 0);
	uint64_t offsets[ADDRESSES] = { 0 }; /* of each address, plus one; 0: nothing is mapped */

	(void)state;
	srand(2);
	for (unsigned round = 1; round < 3000; round++) {
		uint64_t start = (uint64_t)rand() % ADDRESSES;
		uint64_t end = start + 1 + (uint64_t)rand() % (ADDRESSES - start);

		assert_int_equal(map(space, start, end, round * 1000), 0);
		for (uint64_t i = start; i < end; i++)
			offsets[i] = round * 1000 + (i - start) + 1;
		for (uint64_t i = 0; i < ADDRESSES; i++) {
			const struct mapped_code *mapped = mapped_code_at(space, i);

			assert_int_equal(!mapped, !offsets[i]);
			if (mapped)
				assert_int_equal(mapped->offset + (i - mapped->start) + 1,
						 offsets[i]);
		}
	}
	assert_null(mapped_code_at(space, ADDRESSES));
	assert_null(mapped_code_at(space, UINT64_MAX));
	address_space_free(space);
}

static void a_copy_and_its_origin_change_apart(void **state)
{
	struct address_space *parent = address_space_new(code, 1, 0), *child;

	(void)state;
	map(parent, 10, 20, 0);
	child = address_space_copy(parent, 2, 0);
	assert_ptr_equal(child->codes, parent->codes);
	map(child, 15, 30, 0);
	map(parent, 40, 50, 0);
	assert_int_equal(mapped_code_at(parent, 15)->start, 10);
	assert_int_equal(mapped_code_at(child, 15)->start, 15);
	assert_null(mapped_code_at(parent, 25));
	assert_null(mapped_code_at(child, 45));
	address_space_free(parent);
	assert_int_equal(mapped_code_at(child, 12)->start, 10);
	address_space_free(child);
	address_space_free(NULL);
}

static void there_is_a_limit(void **state)
{
	struct address_space *space = address_space_new(code, 1, 0);

	(void)state;
	for (uint64_t i = 0; i < MAPPED_CODE_MAX; i++)
		assert_int_equal(map(space, 2 * i, 2 * i + 1, 0), 0);
	assert_int_equal(map(space, 2 * MAPPED_CODE_MAX, 2 * MAPPED_CODE_MAX + 1, 0), -E2BIG);
	address_space_free(space);
}

/* Each child of a program with many mappings makes a copy of them by one of its own. */
static void children_do_not_multiply_the_mappings_of_their_parent(void **state)
{
	struct address_space *parent = address_space_new(code, 1, 0), *other;
	struct address_space *children[100];

	(void)state;
	for (uint64_t i = 0; i < MAPPED_CODE_MAX / 2; i++)
		assert_int_equal(map(parent, 2 * i, 2 * i + 1, 0), 0);
	for (int i = 0; i < 100; i++) {
		children[i] = address_space_copy(parent, 2 + i, 0);
		map(children[i], 2 * MAPPED_CODE_MAX, 2 * MAPPED_CODE_MAX + 1, 0);
	}
	assert_true(code->mapped < MAPPED_CODE_TOTAL + MAPPED_CODE_MAX);
	assert_non_null(mapped_code_at(children[99], 0));
	/* Others still have room. */
	other = address_space_new(code, 1000, 0);
	for (uint64_t i = 0; i < MAPPED_CODE_FEW; i++)
		assert_int_equal(map(other, 2 * i, 2 * i + 1, 0), 0);
	for (int i = 0; i < 100; i++)
		address_space_free(children[i]);
	address_space_free(parent);
	assert_int_equal(code->mapped, MAPPED_CODE_FEW);
	address_space_free(other);
	assert_int_equal(code->mapped, 0);
}

static void an_empty_range_is_no_mapping(void **state)
{
	struct address_space *space = address_space_new(code, 1, 0);

	(void)state;
	assert_int_equal(map(space, 5, 5, 0), 0);
	assert_int_equal(map(space, 6, 5, 0), 0);
	assert_null(mapped_code_at(space, 5));
	address_space_free(space);
}

static void all_code_of_a_process_is_read(void **state)
{
	struct address_space *space = address_space_new(code, getpid(), 0);
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct code_frame frame;

	(void)state;
	assert_int_equal(address_space_read(space), 0);
	frame = mapped_code_frame(space, mapped_code_at(space, (uint64_t)&set_up),
				  (uint64_t)&set_up);
	assert_non_null(strstr(frame.file->path, "test_address_space"));
	assert_int_equal(frame.file->state, CODE_FILE_KNOWN);
	frame = mapped_code_frame(space, mapped_code_at(space, vdso), vdso);
	assert_string_equal(frame.file->path, "[vdso]");
	assert_int_equal(frame.file->state, CODE_FILE_KNOWN);
	assert_true(frame.address == 0);
	frame = mapped_code_frame(space, mapped_code_at(space, (uint64_t)memory), (uint64_t)memory);
	assert_null(frame.file);
	assert_true(frame.address == (uint64_t)memory);
	assert_null(mapped_code_at(space, (uint64_t)&frame)); /* nothing else is there */
	munmap(memory, 4096);
	address_space_free(space);
}

/* Symbols of our own functions have the address that frames give. */
static void an_address_is_that_of_the_symbols(void **state)
{
	extern char __executable_start;
	struct address_space *space = address_space_new(code, getpid(), 0);
	uint64_t pc = (uint64_t)&set_up;
	struct code_frame frame;

	(void)state;
	assert_int_equal(address_space_read(space), 0);
	frame = mapped_code_frame(space, mapped_code_at(space, pc), pc);
	assert_true(frame.pc == pc);
	assert_true(frame.address == pc - (uint64_t)&__executable_start);
	address_space_free(space);
}

static void another_process_with_the_number_is_not_read(void **state)
{
	struct address_space *space = address_space_new(code, getpid(), 1);

	(void)state;
	assert_int_equal(address_space_read(space), -ESRCH);
	address_space_free(space);
	space = address_space_new(code, 0x7fffffff, 0);
	assert_int_equal(address_space_read(space), -ESRCH);
	address_space_free(space);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_mapping_replaces_what_was_there),
		CASE(a_copy_and_its_origin_change_apart),
		CASE(there_is_a_limit),
		CASE(children_do_not_multiply_the_mappings_of_their_parent),
		CASE(an_empty_range_is_no_mapping),
		CASE(all_code_of_a_process_is_read),
		CASE(an_address_is_that_of_the_symbols),
		CASE(another_process_with_the_number_is_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
