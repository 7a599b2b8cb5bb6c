/* SPDX-License-Identifier: MIT */
/*
 * The profile of a run: what is equal is added up, what finds no room is counted, no time is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <errno.h>
#include <cmocka.h>

#include "hand_profile.h"

static void equal_stacks_share_their_nodes(void **state)
{
	struct profile *profile = hand_profile();
	uint32_t frames[PROFILE_DEPTH_MAX];
	uint32_t first = hand_stack(profile, "main;work;add");
	uint32_t second = hand_stack(profile, "main;work;multiply");

	(void)state;
	assert_int_equal(hand_stack(profile, "main;work;add"), first);
	assert_int_equal(profile->frames.count, 4);
	assert_int_equal(profile->nodes.count, 1 + 4);
	assert_int_equal(profile->nodes.data[first].parent, profile->nodes.data[second].parent);
	for (uint32_t i = 1; i < profile->nodes.count; i++)
		assert_true(profile->nodes.data[i].parent < i);
	assert_int_equal(profile_stack(profile, first, frames), 3);
	assert_int_equal(frames[0], hand_frame(profile, "add"));
	assert_int_equal(frames[2], hand_frame(profile, "main"));
	assert_int_equal(profile_stack(profile, 0, frames), 0);
	profile_free(profile);
}

/* Each member but the amounts makes another sample. */
static void moments_of_one_thread_at_one_place_are_added_up(void **state)
{
	struct profile *profile = hand_profile();
	struct profile_sample sample = hand_sample(profile, PROFILE_OFF_CPU, "main;work", 100);
	struct profile_sample others[9];

	(void)state;
	for (size_t i = 0; i < 9; i++)
		others[i] = sample;
	others[0].task.pid = 7;
	others[1].task.tid = 7;
	others[2].task.start_ns = 7;
	others[3].process_name = profile_text(profile, "else");
	others[4].thread_name = profile_text(profile, "else");
	others[5].scope = profile_text(profile, "load > parse");
	others[6].kind = PROFILE_WAKER;
	others[7].end = PROFILE_TRUNCATED;
	others[8].reason = WAIT_DISK;
	sample.inferred_ns = 30;
	assert_int_equal(profile_add_sample(profile, &sample), 0);
	assert_int_equal(profile_add_sample(profile, &sample), 0);
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(profile_add_sample(profile, &others[i]), 0);
	sample.node = 0;
	assert_int_equal(profile_add_sample(profile, &sample), 0);
	assert_int_equal(profile->samples.count, 11);
	assert_int_equal(profile->samples.data[0].ns, 200);
	assert_int_equal(profile->samples.data[0].count, 2);
	assert_int_equal(profile->samples.data[0].inferred_ns, 60);
	profile_free(profile);
}

static void sums_are_by_kind_and_by_how_far_stacks_go(void **state)
{
	struct profile *profile = hand_profile();
	struct profile_sample cut = hand_sample(profile, PROFILE_OFF_CPU, "work", 20);
	struct profile_sum sum;

	(void)state;
	cut.end = PROFILE_TRUNCATED;
	cut.inferred_ns = 5;
	hand_add(profile, PROFILE_OFF_CPU, "main;work", 100);
	hand_add(profile, PROFILE_OFF_CPU, "", 3);
	hand_add(profile, PROFILE_ON_CPU, "main", 1000);
	assert_int_equal(profile_add_sample(profile, &cut), 0);
	profile_sum(profile, PROFILE_OFF_CPU, &sum);
	assert_int_equal(sum.ns, 123);
	assert_int_equal(sum.complete_ns, 100);
	assert_int_equal(sum.missing_ns, 3);
	assert_int_equal(sum.inferred_ns, 5);
	assert_int_equal(sum.count, 2);
	profile_sum(profile, PROFILE_WAKER, &sum);
	assert_int_equal(sum.ns, 0);
	profile_free(profile);
}

static void what_is_out_of_range_is_refused(void **state)
{
	struct profile *profile = hand_profile();
	struct profile_sample sample = hand_sample(profile, PROFILE_ON_CPU, "main", 1), bad;
	uint32_t node;

	(void)state;
	assert_int_equal(profile_add_node(profile, 2, 0, &node), -EINVAL);
	assert_int_equal(profile_add_node(profile, 0, 1, &node), -EINVAL);
	bad = sample, bad.kind = PROFILE_KINDS;
	assert_int_equal(profile_add_sample(profile, &bad), -EINVAL);
	bad = sample, bad.end = PROFILE_ENDS;
	assert_int_equal(profile_add_sample(profile, &bad), -EINVAL);
	bad = sample, bad.reason = WAIT_REASON_COUNT;
	assert_int_equal(profile_add_sample(profile, &bad), -EINVAL);
	bad = sample, bad.node = 2;
	assert_int_equal(profile_add_sample(profile, &bad), -EINVAL);
	assert_int_equal(profile->samples.count, 0);
	profile_free(profile);
}

static void nodes_without_a_function_are_counted_once(void **state)
{
	struct profile *profile = hand_profile();
	struct profile_frame frame = { .address = 4096 };
	uint32_t stack[2], node;

	(void)state;
	stack[0] = hand_frame(profile, "main");
	assert_int_equal(profile_add_frame(profile, &frame, &stack[1]), 0);
	assert_int_equal(profile_add_stack(profile, stack, 2, &node), 0);
	assert_int_equal(profile_add_stack(profile, stack, 2, &node), 0);
	assert_int_equal(profile->losses.unnamed_frames, 1);
	profile_free(profile);
}

/* A recursion without end: its innermost frames are kept. */
static void a_stack_that_is_too_deep_lacks_its_outermost_frames(void **state)
{
	struct profile *profile = hand_profile();
	uint32_t frames[PROFILE_DEPTH_MAX + 10], read[PROFILE_DEPTH_MAX], node;

	(void)state;
	for (size_t i = 0; i < PROFILE_DEPTH_MAX + 10; i++) {
		struct profile_frame frame = { .address = i };

		assert_int_equal(profile_add_frame(profile, &frame, &frames[i]), 0);
	}
	assert_int_equal(profile_add_stack(profile, frames, PROFILE_DEPTH_MAX + 10, &node), 0);
	assert_int_equal(profile->losses.cut, 0);
	assert_int_equal(profile_stack(profile, node, read), PROFILE_DEPTH_MAX);
	assert_int_equal(read[0], frames[PROFILE_DEPTH_MAX + 9]);
	assert_int_equal(read[PROFILE_DEPTH_MAX - 1], frames[10]);
	assert_int_equal(profile_add_node(profile, node, frames[0], &node), -ENOSPC);
	profile_free(profile);
}

static void a_stack_without_room_for_its_nodes_is_cut_and_counted(void **state)
{
	struct profile *profile = hand_profile();
	uint32_t stack[2] = { hand_frame(profile, "main"), 0 }, node, main_node;

	(void)state;
	assert_int_equal(profile_add_node(profile, 0, stack[0], &main_node), 0);
	for (uint32_t i = 0; i < PROFILE_FRAMES_MAX - 1; i++) {
		struct profile_frame frame = { .address = 1u << 20 | i };

		assert_int_equal(profile_add_frame(profile, &frame, &stack[1]), 0);
		assert_int_equal(profile_add_node(profile, 0, stack[1], &node), 0);
	}
	assert_int_equal(profile_add_frame(profile, &(struct profile_frame){ .address = 1 }, &node),
			 -ENOSPC);
	while (profile->nodes.count < PROFILE_NODES_MAX) {
		uint32_t frame = (uint32_t)profile->nodes.count % PROFILE_FRAMES_MAX;

		assert_int_equal(profile_add_node(profile, main_node, frame, &node), 0);
	}
	stack[1] = PROFILE_FRAMES_MAX - 1;
	node = (uint32_t)profile->nodes.count;
	assert_int_equal(profile_add_stack(profile, (uint32_t[]){ 5, 6, 7 }, 3, &node), 0);
	assert_int_equal(profile->losses.cut, 1);
	assert_int_equal(profile->nodes.data[node].frame, 5);
	profile_free(profile);
}

/*
 * More threads than there is room for: their time is in samples of their own, then in one of
 * nobody.
 */
static void time_without_room_for_its_sample_is_kept(void **state)
{
	struct profile *profile = hand_profile();
	struct profile_sample sample = hand_sample(profile, PROFILE_OFF_CPU, "main;work", 3);
	struct profile_sum sum;
	size_t nobody = 0;

	(void)state;
	sample.reason = WAIT_TIMER;
	sample.inferred_ns = 1;
	for (int32_t i = 1; i <= (int32_t)PROFILE_SAMPLES_MAX + 1000; i++) {
		sample.task.tid = i;
		assert_int_equal(profile_add_sample(profile, &sample), 0);
	}
	profile_sum(profile, PROFILE_OFF_CPU, &sum);
	assert_int_equal(sum.ns, 3 * ((uint64_t)PROFILE_SAMPLES_MAX + 1000));
	assert_true(profile->samples.count <= PROFILE_SAMPLES_MAX);
	assert_int_equal(profile->losses.folded, PROFILE_SAMPLES_MAX / 8 + 1000);
	assert_int_equal(sum.missing_ns, 3 * profile->losses.folded);
	assert_int_equal(sum.inferred_ns + profile->losses.folded,
			 (uint64_t)PROFILE_SAMPLES_MAX + 1000);
	for (size_t i = 0; i < profile->samples.count; i++) {
		if (profile->samples.data[i].task.tid)
			continue;
		nobody++;
		assert_int_equal(profile->samples.data[i].reason, WAIT_OTHER);
	}
	assert_int_equal(nobody, 1);
	profile_free(profile);
}

static void long_and_many_texts_are_bounded(void **state)
{
	struct profile *profile = hand_profile();
	static char text[4 * PROFILE_TEXT_MAX];
	uint32_t number;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	number = profile_text(profile, text);
	assert_int_equal(strlen(profile_string(profile, number)), PROFILE_TEXT_MAX);
	for (size_t i = 0; i < PROFILE_TEXT_BYTES_MAX / PROFILE_TEXT_MAX - 1; i++) {
		snprintf(text, sizeof(text), "%08zu", i);
		text[8] = 'x';
		assert_int_not_equal(profile_text(profile, text), 0);
	}
	assert_int_equal(profile_text(profile, "one more"), 0);
	memset(text, 'x', 8);
	assert_int_equal(profile_text(profile, text), number);
	assert_int_equal(profile_text(profile, NULL), 0);
	assert_int_equal(profile_text(profile, ""), 0);
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_share_their_nodes),
		cmocka_unit_test(moments_of_one_thread_at_one_place_are_added_up),
		cmocka_unit_test(sums_are_by_kind_and_by_how_far_stacks_go),
		cmocka_unit_test(what_is_out_of_range_is_refused),
		cmocka_unit_test(nodes_without_a_function_are_counted_once),
		cmocka_unit_test(a_stack_that_is_too_deep_lacks_its_outermost_frames),
		cmocka_unit_test(a_stack_without_room_for_its_nodes_is_cut_and_counted),
		cmocka_unit_test(time_without_room_for_its_sample_is_kept),
		cmocka_unit_test(long_and_many_texts_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
