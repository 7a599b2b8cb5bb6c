/* SPDX-License-Identifier: MIT */
/* What a program can make the profile of a run cost, and what the profile says of its stacks. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/code/code.h"
#include "host/host.h"
#include "session/stack/stack_profile.h"
#include "session/stack/stack_queue.h"

#define CODE_BYTES ((size_t)64 << 20)
#define FRAMES 500
#define GROWTH_MAX ((size_t)4 << 20)

static struct host *host;
static struct stack_profile *maker;
static char *made_code; /* at run time, as it seems */

static int set_up(void **state)
{
	(void)state;
	made_code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(made_code, MAP_FAILED);
	assert_int_equal(host_open(&host, NULL, NULL), 0);
	assert_int_equal(stack_profile_open(host, &maker), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	stack_profile_close(maker);
	host_close(host);
	munmap(made_code, CODE_BYTES);
	return 0;
}

/* A stack of frame pointers; its frames return to addresses from code + `place` on. */
static void take_deep(size_t frames, size_t place, size_t kernel_count)
{
	static uint64_t words[2 * PROFILE_DEPTH_MAX];
	const uint64_t kernel = 0xffffffff81000000;
	struct tracer_stack stack = { .kind = PROFILE_ON_CPU,
				      .task = { .pid = getpid(), .tid = getpid(), .start_ns = 1 },
				      .comm = "test",
				      .time_ns = 1,
				      .weight_ns = 1,
				      .kernel = &kernel,
				      .kernel_count = kernel_count,
				      .has_user = true };
	struct unwind_registers *registers = &stack.user.registers;
	struct stack_item *item;

	for (size_t i = 0; i < frames; i++) {
		words[2 * i] = i + 1 < frames ? (uint64_t)&words[2 * (i + 1)] : 0;
		words[2 * i + 1] = (uint64_t)made_code + place + i + 1;
	}
	stack.user.address = (uint64_t)words;
	stack.user.bytes = words;
	stack.user.size = sizeof(words);
	registers->values[UNWIND_PC] = (uint64_t)made_code;
	registers->values[UNWIND_SP] = registers->values[UNWIND_FP] = (uint64_t)words;
	registers->known =
		(uint64_t)1 << UNWIND_PC | (uint64_t)1 << UNWIND_SP | (uint64_t)1 << UNWIND_FP;
	item = stack_item_of_stack(&stack, "test", "");
	assert_non_null(item);
	assert_int_equal(stack_profile_take(maker, item, false), 0);
	free(item);
}

static void take(size_t place)
{
	take_deep(FRAMES, place, 0);
}

static size_t used_bytes(void)
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

static void code_without_a_name_costs_no_more_the_longer_it_runs(void **state)
{
	size_t before;

	(void)state;
	take(0);
	before = used_bytes();
	for (int i = 0; i < 5000; i++)
		take(0);
	assert_true(used_bytes() < before + GROWTH_MAX);
}

static void a_program_that_is_everywhere_has_a_bounded_cost(void **state)
{
	struct code_counts counts;
	struct profile *profile;
	size_t before;

	(void)state;
	for (size_t i = 0; i < 300; i++)
		take(i * FRAMES);
	before = used_bytes();
	for (size_t i = 300; i < 1500; i++)
		take(i * FRAMES);
	assert_true(used_bytes() < before + GROWTH_MAX);
	profile = stack_profile_finish(maker, &counts);
	assert_int_equal(profile->frames.count, PROFILE_FRAMES_MAX);
	assert_true(profile->losses.cut > 1000);
	profile_free(profile);
}

static void take_wait(bool is_inferred, bool is_kernel_only)
{
	const uint64_t kernel = 0xffffffff81000000;
	struct tracer_stack stack = { .kind = PROFILE_OFF_CPU,
				      .task = { .pid = getpid(), .tid = getpid(), .start_ns = 1 },
				      .time_ns = 1,
				      .weight_ns = 1000,
				      .is_inferred = is_inferred,
				      .is_kernel_only = is_kernel_only,
				      .kernel = is_inferred ? NULL : &kernel,
				      .kernel_count = is_inferred ? 0 : 1 };
	struct stack_item *item = stack_item_of_stack(&stack, "test", "");

	assert_non_null(item);
	assert_int_equal(stack_profile_take(maker, item, false), 0);
	free(item);
}

/* The last stack had only its kernel part, so what is inferred from it has no more. */
static void what_is_inferred_is_as_complete_as_the_stack_that_it_takes(void **state)
{
	struct code_counts counts;
	struct profile *profile;
	struct profile_sum sum;

	(void)state;
	take_wait(false, false);
	take_wait(true, false);
	profile = stack_profile_finish(maker, &counts);
	profile_sum(profile, PROFILE_OFF_CPU, &sum);
	assert_int_equal(sum.ns, 2000);
	assert_int_equal(sum.inferred_ns, 1000);
	assert_int_equal(sum.complete_ns, 0);
	profile_free(profile);
}

/* Waits at the first byte of the code; the caller that was called from `place` has its stack at `words`. */
static void take_wait_of(uint64_t words[2], size_t place, bool is_inferred)
{
	struct tracer_stack stack = { .kind = PROFILE_OFF_CPU,
				      .task = { .pid = getpid(), .tid = getpid(), .start_ns = 1 },
				      .time_ns = 1,
				      .weight_ns = 1000,
				      .is_inferred = is_inferred,
				      .has_user = !is_inferred };
	struct unwind_registers *registers = &stack.user.registers;
	struct stack_item *item;

	words[0] = 0;
	words[1] = (uint64_t)made_code + place + 1;
	stack.user.address = (uint64_t)words;
	stack.user.bytes = words;
	stack.user.size = 2 * sizeof(words[0]);
	registers->values[UNWIND_PC] = (uint64_t)made_code;
	registers->values[UNWIND_SP] = registers->values[UNWIND_FP] = (uint64_t)words;
	registers->known =
		(uint64_t)1 << UNWIND_PC | (uint64_t)1 << UNWIND_SP | (uint64_t)1 << UNWIND_FP;
	item = stack_item_of_stack(&stack, "test", "");
	assert_non_null(item);
	assert_int_equal(stack_profile_take(maker, item, false), 0);
	free(item);
}

/* Both wait in one function of the C library, as it were: the last stack there is that of the other. */
static void what_is_inferred_belongs_to_its_caller(void **state)
{
	struct code_counts counts;
	struct profile *profile;
	uint64_t stack[4];

	(void)state;
	take_wait_of(stack, 100, false);
	take_wait_of(stack + 2, 200, false);
	take_wait_of(stack, 100, true);
	profile = stack_profile_finish(maker, &counts);
	assert_int_equal(profile->samples.count, 2);
	assert_int_equal(profile->samples.data[0].inferred_ns, 1000);
	assert_int_equal(profile->samples.data[1].inferred_ns, 0);
	profile_free(profile);
}

static void a_stack_is_complete_where_there_is_no_user_stack(void **state)
{
	struct code_counts counts;
	struct profile *profile;
	struct profile_sum sum;

	(void)state;
	take_wait(false, true);
	profile = stack_profile_finish(maker, &counts);
	profile_sum(profile, PROFILE_OFF_CPU, &sum);
	assert_int_equal(sum.complete_ns, 1000);
	profile_free(profile);
}

/* The user part alone just fits. */
static void a_stack_that_is_too_deep_is_not_complete(void **state)
{
	struct code_counts counts;
	struct profile *profile;
	struct profile_sum sum;

	(void)state;
	take_deep(PROFILE_DEPTH_MAX - 1, 0, 0);
	take_deep(PROFILE_DEPTH_MAX - 1, 0, 1);
	profile = stack_profile_finish(maker, &counts);
	profile_sum(profile, PROFILE_ON_CPU, &sum);
	assert_int_equal(sum.ns, 2);
	assert_int_equal(sum.complete_ns, 1);
	assert_int_equal(profile->losses.truncated, 1);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(code_without_a_name_costs_no_more_the_longer_it_runs),
		TEST(a_program_that_is_everywhere_has_a_bounded_cost),
		TEST(what_is_inferred_is_as_complete_as_the_stack_that_it_takes),
		TEST(what_is_inferred_belongs_to_its_caller),
		TEST(a_stack_that_is_too_deep_is_not_complete),
		TEST(a_stack_is_complete_where_there_is_no_user_stack),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
