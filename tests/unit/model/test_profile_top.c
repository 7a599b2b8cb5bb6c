/* SPDX-License-Identifier: MIT */
/* The functions in which a run spent its time: whose it is, and who called them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "hand_profile.h"

#include "model/profile/profile_top.h"

static const char *name_of(const struct profile *profile, uint32_t frame)
{
	return frame == PROFILE_NO_FRAME ?
		       "" :
		       profile_string(profile, profile->frames.data[frame].function);
}

static void assert_top(const struct profile *profile, const struct profile_top *top,
		       const char *function, uint64_t self_ns, uint64_t total_ns,
		       const char *caller, uint64_t caller_ns)
{
	assert_string_equal(name_of(profile, top->frame), function);
	assert_int_equal(top->self_ns, self_ns);
	assert_int_equal(top->total_ns, total_ns);
	assert_string_equal(name_of(profile, top->caller), caller);
	assert_int_equal(top->caller_ns, caller_ns);
}

static void time_on_the_cpu_belongs_to_the_innermost_function(void **state)
{
	struct profile *profile = hand_profile();
	struct profile_tops tops;

	(void)state;
	hand_add(profile, PROFILE_ON_CPU, "main;a;leaf", 30);
	hand_add(profile, PROFILE_ON_CPU, "main;b;leaf", 50);
	hand_add(profile, PROFILE_ON_CPU, "main;b", 7);
	hand_add(profile, PROFILE_ON_CPU, "", 13);
	hand_add(profile, PROFILE_OFF_CPU, "main;b", 1000);
	assert_int_equal(profile_tops(profile, PROFILE_ON_CPU, &tops), 0);
	assert_int_equal(tops.ns, 100);
	assert_int_equal(tops.count, 2);
	assert_top(profile, &tops.rows[0], "leaf", 80, 80, "b", 50);
	assert_top(profile, &tops.rows[1], "b", 7, 57, "main", 7);
	profile_tops_free(&tops);
	profile_free(profile);
}

/* Two addresses of one function are one row, and so are its calls of itself. */
static void a_function_that_calls_itself_counts_once(void **state)
{
	struct profile *profile = hand_profile();
	struct profile_frame frame;
	uint32_t stack[4], node;
	struct profile_sample sample = hand_sample(profile, PROFILE_ON_CPU, "main", 10);
	struct profile_tops tops;

	(void)state;
	stack[0] = hand_frame(profile, "main");
	stack[1] = hand_frame(profile, "fib");
	frame = profile->frames.data[stack[1]];
	frame.address += 8;
	assert_int_equal(profile_add_frame(profile, &frame, &stack[2]), 0);
	stack[3] = stack[1];
	assert_int_equal(profile_add_stack(profile, stack, 4, &node), 0);
	sample.node = node;
	assert_int_equal(profile_add_sample(profile, &sample), 0);
	assert_int_equal(profile_tops(profile, PROFILE_ON_CPU, &tops), 0);
	assert_int_equal(tops.count, 1);
	assert_top(profile, &tops.rows[0], "fib", 10, 10, "main", 10);
	profile_tops_free(&tops);
	profile_free(profile);
}

/* Neither the kernel nor the C library: the function of the program that waited. */
static void time_off_the_cpu_belongs_to_who_waited(void **state)
{
	struct profile *profile = hand_profile();
	struct profile_sample disk =
		hand_sample(profile, PROFILE_OFF_CPU, "main;load;read@/lib/libc.so.6;io_[k]", 5);
	struct profile_tops tops;

	(void)state;
	disk.reason = WAIT_DISK;
	hand_add(profile, PROFILE_OFF_CPU,
		 "start@/lib/libc.so.6;main;take;lock@/lib/libc.so.6;futex_[k];schedule_[k]", 40);
	hand_add(profile, PROFILE_OFF_CPU, "main;load;read@/lib/libc.so.6;io_[k]", 2);
	assert_int_equal(profile_add_sample(profile, &disk), 0);
	hand_add(profile, PROFILE_OFF_CPU, "clone@/lib/libc.so.6;sleep@/lib/libc.so.6;nap_[k]", 30);
	hand_add(profile, PROFILE_OFF_CPU, "exit_[k];wait_[k]", 20);
	assert_int_equal(profile_tops(profile, PROFILE_OFF_CPU, &tops), 0);
	assert_int_equal(tops.count, 4);
	assert_top(profile, &tops.rows[0], "take", 40, 40, "main", 40);
	assert_int_equal(tops.rows[0].reason, WAIT_LOCK);
	assert_top(profile, &tops.rows[1], "sleep", 30, 30, "clone", 30);
	assert_top(profile, &tops.rows[2], "wait", 20, 20, "exit", 20);
	assert_top(profile, &tops.rows[3], "load", 7, 7, "main", 7);
	assert_int_equal(tops.rows[3].reason, WAIT_DISK);
	profile_tops_free(&tops);
	profile_free(profile);
}

static void addresses_without_a_name_are_rows_of_their_own(void **state)
{
	struct profile *profile = hand_profile();
	struct profile_tops tops;

	(void)state;
	for (uint64_t i = 0; i < 3; i++) {
		struct profile_frame frame = { .module = profile_text(profile, "/bin/stripped"),
					       .address = 0x100 + i / 2 };
		struct profile_sample sample = hand_sample(profile, PROFILE_ON_CPU, "", 10 + i);

		frame.line = (uint32_t)i;
		sample.end = PROFILE_COMPLETE;
		assert_int_equal(profile_add_frame(profile, &frame, &sample.node), 0);
		assert_int_equal(profile_add_stack(profile, &sample.node, 1, &sample.node), 0);
		assert_int_equal(profile_add_sample(profile, &sample), 0);
	}
	assert_int_equal(profile_tops(profile, PROFILE_ON_CPU, &tops), 0);
	assert_int_equal(tops.count, 2);
	assert_int_equal(tops.rows[0].self_ns, 21);
	assert_int_equal(tops.rows[1].self_ns, 12);
	profile_tops_free(&tops);
	profile_free(profile);
}

static void a_profile_without_samples_has_no_functions(void **state)
{
	struct profile *profile = hand_profile();
	struct profile_tops tops;

	(void)state;
	assert_int_equal(profile_tops(profile, PROFILE_ON_CPU, &tops), 0);
	assert_int_equal(tops.count, 0);
	assert_int_equal(tops.ns, 0);
	profile_tops_free(&tops);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_on_the_cpu_belongs_to_the_innermost_function),
		cmocka_unit_test(a_function_that_calls_itself_counts_once),
		cmocka_unit_test(time_off_the_cpu_belongs_to_who_waited),
		cmocka_unit_test(addresses_without_a_name_are_rows_of_their_own),
		cmocka_unit_test(a_profile_without_samples_has_no_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
