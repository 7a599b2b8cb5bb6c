/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/stack/stack_decoder.h"

#define OFFSET_NS 1000

/* A record with as much behind it as there can be. */
static struct {
	struct tree_stack_record record;
	uint64_t kernel[TREE_STACK_FRAMES];
	char user[TREE_STACK_BYTES];
} made;

static struct stack_decoder decoder;
static struct tracer_stack stacks[4];
static size_t count;
static int sink_status;
static struct blocked_thread copied;
static ssize_t copy_result;

static int take(void *context, const struct tracer_stack *stack)
{
	(void)context;
	assert_true(count < 4);
	stacks[count++] = *stack;
	return sink_status;
}

static ssize_t copy(void *context, const struct blocked_thread *thread, void *ret)
{
	(void)context;
	copied = *thread;
	memset(ret, 'c', thread->size);
	return copy_result;
}

static void set_sizes(uint16_t frames, uint32_t user)
{
	made.record.kernel_count = frames;
	made.record.user_size = user;
	made.record.head.size = (uint32_t)(sizeof(made.record) + frames * 8u + user);
}

static int prepare(void **state)
{
	(void)state;
	memset(&made, 0, sizeof(made));
	made.record.head = (struct tree_record_head){
		.type = TREE_STACK_OFF_CPU, .pid = 10, .tid = 11, .start_ns = 7, .time_ns = 5000
	};
	made.record.weight_ns = 300;
	made.record.flags = TREE_STACK_HAS_REGISTERS;
	made.record.reason = WAIT_LOCK;
	made.record.syscall = 202;
	for (size_t i = 0; i < TREE_STACK_REGISTERS; i++)
		made.record.registers[i] = 100 + i;
	made.record.pc = 4242;
	made.record.sp = 4848;
	set_sizes(2, 16);
	decoder.boottime_offset_ns = OFFSET_NS;
	decoder.copy = copy;
	count = 0;
	sink_status = 0;
	copy_result = 0;
	return 0;
}

static int send(size_t length)
{
	const struct tracer_stack_sink sink = { .stack = take };

	return stack_record_send(&made, length, &decoder, &sink);
}

static void a_user_stack_that_is_not_there_is_not_one_that_could_not_be_read(void **state)
{
	(void)state;
	set_sizes(2, 0);
	made.record.flags = 0;
	assert_int_equal(send(made.record.head.size), 0);
	made.record.flags = TREE_STACK_UNREAD;
	assert_int_equal(send(made.record.head.size), 0);
	assert_int_equal(count, 2);
	assert_true(stacks[0].is_kernel_only && !stacks[0].has_user);
	assert_true(!stacks[1].is_kernel_only && !stacks[1].has_user);
}

static void a_stack_tells_all_of_it(void **state)
{
	(void)state;
	made.kernel[0] = 1;
	made.kernel[1] = 2;
	made.record.begin_ns = 4000;
	made.record.object = 77;
	made.record.scope = (struct tree_scope_key){ .area_ns = 9, .depth = 2, .labels = { 3, 4 } };
	memcpy(made.record.comm, "a name of 16 byt", 16);
	assert_int_equal(send(made.record.head.size), 0);
	assert_int_equal(count, 1);
	assert_int_equal(stacks[0].kind, PROFILE_OFF_CPU);
	assert_int_equal(stacks[0].task.pid, 10);
	assert_int_equal(stacks[0].task.tid, 11);
	assert_int_equal(stacks[0].task.start_ns, 7 + OFFSET_NS);
	assert_string_equal(stacks[0].comm, "a name of 16 by");
	assert_int_equal(stacks[0].time_ns, 5000);
	assert_int_equal(stacks[0].weight_ns, 300);
	assert_int_equal(stacks[0].begin_ns, 4000);
	assert_int_equal(stacks[0].reason, WAIT_LOCK);
	assert_int_equal(stacks[0].syscall, 202);
	assert_int_equal(stacks[0].object, 77);
	assert_int_equal(stacks[0].kernel_count, 2);
	assert_int_equal(stacks[0].kernel[1], 2);
	assert_true(stacks[0].has_user && !stacks[0].is_kernel_only && !stacks[0].is_inferred);
	assert_int_equal(stacks[0].user.size, 16);
	assert_ptr_equal(stacks[0].user.bytes, &made.kernel[2]);
	assert_int_equal(stacks[0].user.registers.known, (1ull << UNWIND_REGISTERS) - 1);
	assert_int_equal(stacks[0].user.address, stacks[0].user.registers.values[UNWIND_SP]);
	assert_int_equal(stacks[0].scopes.count, 2);
	assert_int_equal(stacks[0].scopes.labels[1], 4);
}

#if !defined(__aarch64__)
static void registers_have_the_numbers_of_dwarf(void **state)
{
	/* As the kernel saves them: r15 r14 r13 r12 bp bx r11 r10 r9 r8 ax cx dx si di - ip cs - sp. */
	static const int saved_at[UNWIND_REGISTERS] = {
		[0] = 10, [1] = 12, [2] = 11, [3] = 5,	[4] = 13,  [5] = 14,
		[6] = 4,  [7] = 19, [8] = 9,  [9] = 8,	[10] = 7,  [11] = 6,
		[12] = 3, [13] = 2, [14] = 1, [15] = 0, [16] = 16,
	};

	(void)state;
	assert_int_equal(send(made.record.head.size), 0);
	for (size_t i = 0; i < UNWIND_REGISTERS; i++)
		assert_int_equal(stacks[0].user.registers.values[i], 100 + saved_at[i]);
}
#endif

static void what_it_stands_for_comes_after_it(void **state)
{
	(void)state;
	made.record.inferred_ns = 900;
	assert_int_equal(send(made.record.head.size), 0);
	assert_int_equal(count, 2);
	assert_int_equal(stacks[0].weight_ns, 300);
	assert_int_equal(stacks[1].weight_ns, 900);
	assert_true(stacks[1].is_inferred && !stacks[1].has_user && !stacks[1].kernel);
	assert_int_equal(stacks[1].syscall, 202);
	assert_int_equal(stacks[1].user.registers.known, 1ull << UNWIND_PC | 1ull << UNWIND_SP);
	assert_int_equal(stacks[1].user.registers.values[UNWIND_PC],
			 stacks[0].user.registers.values[UNWIND_PC]);
	assert_int_equal(stacks[1].user.registers.values[UNWIND_SP],
			 stacks[0].user.registers.values[UNWIND_SP]);
}

static void time_without_a_stack_is_inferred_alone(void **state)
{
	(void)state;
	made.record.flags = 0;
	made.record.weight_ns = 0;
	made.record.inferred_ns = 900;
	set_sizes(0, 0);
	assert_int_equal(send(made.record.head.size), 0);
	assert_int_equal(count, 1);
	assert_true(stacks[0].is_inferred);
	assert_int_equal(stacks[0].user.registers.values[UNWIND_PC], 4242);
	assert_int_equal(stacks[0].user.registers.values[UNWIND_SP], 4848);
}

static void who_is_still_blocked_has_its_stack_copied(void **state)
{
	(void)state;
	made.record.flags |= TREE_STACK_BLOCKED;
	made.record.switches = 55;
	made.record.wanted_size = 1u << 31;
	set_sizes(1, 0);
	copy_result = 24;
	assert_int_equal(send(made.record.head.size), 0);
	assert_int_equal(copied.pid, 10);
	assert_int_equal(copied.tid, 11);
	assert_int_equal(copied.switches, 55);
	assert_int_equal(copied.size, BLOCKED_STACK_MAX);
	assert_int_equal(copied.address, stacks[0].user.registers.values[UNWIND_SP]);
	assert_true(stacks[0].has_user);
	assert_int_equal(stacks[0].user.size, 24);
	assert_int_equal(((const char *)stacks[0].user.bytes)[23], 'c');
	copy_result = -EAGAIN;
	assert_int_equal(send(made.record.head.size), 0);
	assert_false(stacks[1].has_user);
	assert_int_equal(stacks[1].user.size, 0);
	assert_int_equal(stacks[1].kernel_count, 1);
}

static void the_largest_is_taken(void **state)
{
	(void)state;
	set_sizes(TREE_STACK_FRAMES, TREE_STACK_BYTES);
	assert_int_equal(send(sizeof(made)), 0);
	assert_int_equal(stacks[0].user.size, TREE_STACK_BYTES);
}

static void damaged_ones_are_refused(void **state)
{
	size_t size = made.record.head.size;

	(void)state;
	for (size_t length = 0; length < size; length++)
		assert_int_equal(send(length), -EBADMSG);
	made.record.head.size--;
	assert_int_equal(send(size), -EBADMSG);
	set_sizes(TREE_STACK_FRAMES + 1, 0);
	assert_int_equal(send(sizeof(made)), -EBADMSG);
	set_sizes(0, TREE_STACK_BYTES + 1);
	assert_int_equal(send(sizeof(made)), -EBADMSG);
	set_sizes(0, 0);
	made.record.scope.depth = TREE_SCOPE_FRAMES + 1;
	assert_int_equal(send(sizeof(made)), -EBADMSG);
	made.record.scope.depth = 0;
	made.record.head.type = TREE_STACK_KINDS;
	assert_int_equal(send(sizeof(made)), -EBADMSG);
	assert_int_equal(count, 0);
}

static void an_unknown_reason_is_another_one(void **state)
{
	(void)state;
	made.record.reason = 200;
	assert_int_equal(send(made.record.head.size), 0);
	assert_int_equal(stacks[0].reason, WAIT_OTHER);
}

static void tasks_without_a_number_have_no_stacks(void **state)
{
	(void)state;
	made.record.head.pid = 0;
	assert_int_equal(send(made.record.head.size), 0);
	assert_int_equal(count, 0);
}

static void the_sink_can_end_it(void **state)
{
	(void)state;
	made.record.inferred_ns = 5;
	sink_status = -ENOMEM;
	assert_int_equal(send(made.record.head.size), -ENOMEM);
	assert_int_equal(count, 1);
}

static void switches_are_read_from_a_status(void **state)
{
	uint64_t switches = 0;

	(void)state;
	assert_int_equal(status_switches("Name:\tx\nvoluntary_ctxt_switches:\t12\n"
					 "nonvoluntary_ctxt_switches:\t30\n",
					 &switches),
			 0);
	assert_int_equal(switches, 42);
	assert_int_equal(status_switches("Name:\tx\nvoluntary_ctxt_switches:\t12\n", &switches),
			 -EBADMSG);
	assert_int_equal(status_switches("\nvoluntary_ctxt_switches:\t\n"
					 "nonvoluntary_ctxt_switches:\t30\n",
					 &switches),
			 -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, prepare)
		TEST(a_stack_tells_all_of_it),
		TEST(a_user_stack_that_is_not_there_is_not_one_that_could_not_be_read),
#if !defined(__aarch64__)
		TEST(registers_have_the_numbers_of_dwarf),
#endif
		TEST(what_it_stands_for_comes_after_it),
		TEST(time_without_a_stack_is_inferred_alone),
		TEST(who_is_still_blocked_has_its_stack_copied),
		TEST(the_largest_is_taken),
		TEST(damaged_ones_are_refused),
		TEST(an_unknown_reason_is_another_one),
		TEST(tasks_without_a_number_have_no_stacks),
		TEST(the_sink_can_end_it),
		TEST(switches_are_read_from_a_status),
#undef TEST
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
