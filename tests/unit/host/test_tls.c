/* SPDX-License-Identifier: MIT */
/* Where thread-local blocks are: by arithmetic, and as real programs have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>

#include "base/collection/array.h"
#include "host/elf/tls.h"
#include "target_process.h"

static const struct {
	struct elf_tls tls;
	int64_t below, above; /* variant II, variant I */
} cases[] = {
	{ { true, 0x1000, 0x20, 8 }, -0x20, 16 },
	{ { true, 0x1000, 0x21, 8 }, -0x28, 16 },
	{ { true, 0x1000, 0, 8 }, 0, 16 },
	{ { true, 0x1000, 0x21, 64 }, -0x40, 64 },
	{ { true, 0x1000, 0x21, 1 }, -0x21, 16 },
	{ { true, 0x1000, 0x21, 0 }, -0x21, 16 },
	/* p_vaddr is 8 beyond a multiple of 64, and so must the block be */
	{ { true, 0x1008, 0x21, 64 }, -0x38, 72 },
	{ { true, 0x1008, 0x38, 64 }, -0x38, 72 },
	{ { true, 0x1008, 0x39, 64 }, -0x78, 72 },
	{ { true, 0x1010, 0x21, 64 }, -0x30, 16 },
	{ { true, 0x900003, 0x24e4, 64 }, -9469, 67 },
	{ { true, 0x103f, 0x1, 64 }, -1, 127 - 64 },
};

static void both_variants_keep_the_residue_of_the_segment(void **state)
{
	int64_t offset;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(tls_executable_offset(EM_X86_64, &cases[i].tls, &offset));
		assert_int_equal(offset, cases[i].below);
		assert_true(tls_executable_offset(EM_AARCH64, &cases[i].tls, &offset));
		assert_int_equal(offset, cases[i].above);
	}
}

static void blocks_are_large_enough_aligned_and_near(void **state)
{
	(void)state;
	for (uint64_t vaddr = 0; vaddr < 70; vaddr++) {
		for (uint64_t memsz = 0; memsz < 140; memsz++) {
			struct elf_tls tls = { true, vaddr, memsz, 32 };
			int64_t below, above;

			assert_true(tls_executable_offset(EM_X86_64, &tls, &below));
			assert_true(tls_executable_offset(EM_AARCH64, &tls, &above));
			assert_true(-below >= (int64_t)memsz && -below < (int64_t)memsz + 32);
			assert_true(above >= 16 && above < 16 + 32);
			assert_int_equal((uint64_t)below % 32, vaddr % 32);
			assert_int_equal((uint64_t)above % 32, vaddr % 32);
		}
	}
}

static void impossible_segments_are_refused(void **state)
{
	static const struct elf_tls wrong[] = {
		{ false, 0x1000, 8, 8 },	 { true, 0x1000, 8, 24 },
		{ true, 0x1000, 8, 1ull << 63 }, { true, 0x1000, UINT64_MAX, 8 },
		{ true, 0x1000, 1ull << 63, 8 },
	};
	static const struct elf_tls right = { true, 0x1000, 8, 8 };
	int64_t offset = 77;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_false(tls_executable_offset(EM_X86_64, &wrong[i], &offset));
		assert_false(tls_executable_offset(EM_AARCH64, &wrong[i], &offset));
	}
	assert_false(tls_executable_offset(EM_RISCV, &right, &offset));
	assert_int_equal(offset, 77);
}

static void kept_offsets_count_down_or_up(void **state)
{
	int64_t offset = 77;

	(void)state;
	assert_false(tls_module_offset(EM_X86_64, UINT64_MAX, &offset));
	assert_false(tls_module_offset(EM_386, 64, &offset));
	assert_int_equal(offset, 77);
	assert_true(tls_module_offset(EM_X86_64, 2640, &offset));
	assert_int_equal(offset, -2640);
	assert_true(tls_module_offset(EM_AARCH64, 2640, &offset));
	assert_int_equal(offset, 2640);
}

static void the_descriptor_of_a_thread_is_at_or_below_its_pointer(void **state)
{
	uint64_t address = 0;

	(void)state;
	assert_true(tls_thread_pointer(EM_X86_64, 0x7000, 0x900, &address));
	assert_int_equal(address, 0x7000);
	assert_true(tls_thread_pointer(EM_AARCH64, 0x7000, 0x900, &address));
	assert_int_equal(address, 0x7900);
	assert_true(tls_thread_descriptor(EM_AARCH64, address, 0x900, &address));
	assert_int_equal(address, 0x7000);
	assert_false(tls_thread_pointer(EM_AARCH64, UINT64_MAX - 5, 0x900, &address));
	assert_false(tls_thread_descriptor(EM_AARCH64, 5, 0x900, &address));
}

static void addresses_that_wrap_around_are_refused(void **state)
{
	uint64_t address = 77;

	(void)state;
	assert_true(tls_counter_address(0x7000, -0x1000, 0x10, &address));
	assert_int_equal(address, 0x6010);
	assert_true(tls_counter_address(0x7000, 0x1000, 0x10, &address));
	assert_int_equal(address, 0x8010);
	address = 77;
	assert_false(tls_counter_address(0x7000, -0x8000, 0x10, &address));
	assert_false(tls_counter_address(UINT64_MAX, 0x10, 0, &address));
	assert_false(tls_counter_address(0x7000, 0, UINT64_MAX, &address));
	assert_int_equal(address, 77);
}

/* What every thread of a real program says about its variable is what the arithmetic gives. */
static void check_program(const char *name, uint64_t residue)
{
	struct target_process target;
	int64_t block;

	target_start(&target, name, NULL, NULL);
	assert_true(target.findings.has_tsd);
	assert_int_equal(target.findings.tls.align, 64);
	assert_int_equal(target.findings.tls.vaddr % 64, residue);
	assert_true(tls_executable_offset(target.findings.machine, &target.findings.tls, &block));
	assert_true(target.count > 5);
	for (size_t i = 0; i < target.count; i++) {
		uint64_t address;

		assert_true(tls_counter_address(target.threads[i].pointer, block,
						target.findings.tsd_value, &address));
		assert_int_equal(address, target.threads[i].own);
	}
	target_end(&target);
}

static void programs_keep_their_variable_where_the_arithmetic_says(void **state)
{
	(void)state;
	check_program("dynamic", 0);
	check_program("static", 0);
}

static void programs_with_a_misaligned_segment_do_so_too(void **state)
{
	(void)state;
	check_program("misaligned", 3);
	check_program("misaligned_static", 8);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_variants_keep_the_residue_of_the_segment),
		cmocka_unit_test(blocks_are_large_enough_aligned_and_near),
		cmocka_unit_test(impossible_segments_are_refused),
		cmocka_unit_test(kept_offsets_count_down_or_up),
		cmocka_unit_test(the_descriptor_of_a_thread_is_at_or_below_its_pointer),
		cmocka_unit_test(addresses_that_wrap_around_are_refused),
		cmocka_unit_test(programs_keep_their_variable_where_the_arithmetic_says),
		cmocka_unit_test(programs_with_a_misaligned_segment_do_so_too),
	};

	return cmocka_run_group_tests_name("tls", tests, NULL, NULL);
}
