/* SPDX-License-Identifier: MIT */
/* The way of a scope: what it leaves in memory, and what happens when it does not fit. */
#include <signal.h>
#include <sys/time.h>

#include "lib_support.h"

enum { DEEP = 100 };

static int setup(void **state)
{
	(void)state;
	library_start(0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(own_depth(), 0);
	taskscope_stop();
	return 0;
}

static void nothing_is_recorded_before_the_start(void **state)
{
	struct taskscope_scope scope = taskscope_enter("early");
	struct taskscope_progress progress = taskscope_begin("early", 10);
	struct taskscope_progress made = (taskscope_begin)("early", 10);

	(void)state;
	taskscope_advance(&progress, 1);
	taskscope_set(&made, 2, 3);
	taskscope_limit(scope, 10);
	taskscope_idle();
	taskscope_busy();
	taskscope_dump();
	taskscope_thread(NULL);
	taskscope_end(&made);
	taskscope_end(&progress);
	taskscope_leave(scope);
	taskscope_stop();
	assert_int_equal(scope.handle, 0);
	assert_null(area.header);
}

static void an_open_scope_is_in_the_threads_block(void **state)
{
	struct taskscope_scope outer = taskscope_enter("outer");
	struct taskscope_scope inner = taskscope_enter("inner");
	const struct scope_thread *block = own_block();

	(void)state;
	assert_int_equal(block->depth, 2);
	assert_string_equal(frame_label(block, 0), "outer");
	assert_string_equal(frame_label(block, 1), "inner");
	assert_true(block->frames[0].entered_ticks <= block->frames[1].entered_ticks);
	assert_true(block->changed_ticks == block->frames[1].entered_ticks);
	assert_int_equal(block->sequence % 2, 0);
	taskscope_leave(inner);
	assert_int_equal(block->depth, 1);
	taskscope_leave(outer);
	assert_int_equal(block->depth, 0);
}

static void the_macro_closes_at_the_end_of_the_block(void **state)
{
	(void)state;
	{
		TASKSCOPE("block");
		assert_int_equal(own_depth(), 1);
		assert_string_equal(frame_label(own_block(), 0), "block");
	}
	assert_int_equal(own_depth(), 0);
}

static void closing_a_scope_closes_and_counts_those_inside(void **state)
{
	struct taskscope_scope outer = taskscope_enter("outer");
	struct taskscope_scope middle = taskscope_enter("middle");
	uint64_t unwound = own_block()->unwound;
	uint64_t misplaced = own_block()->misplaced;

	(void)state;
	taskscope_enter("inner");
	taskscope_leave(outer);
	assert_int_equal(own_depth(), 0);
	assert_int_equal(own_block()->unwound, unwound + 2);
	taskscope_leave(middle);
	assert_int_equal(own_block()->misplaced, misplaced + 1);
}

static void closing_twice_does_nothing_and_is_counted(void **state)
{
	struct taskscope_scope scope = taskscope_enter("first");
	struct taskscope_scope next;
	uint64_t misplaced = own_block()->misplaced;

	(void)state;
	taskscope_leave(scope);
	next = taskscope_enter("next");
	taskscope_leave(scope);
	assert_int_equal(own_depth(), 1);
	assert_int_equal(own_block()->misplaced, misplaced + 1);
	taskscope_leave(next);
}

static void *close_elsewhere(void *argument)
{
	struct taskscope_scope own = taskscope_enter("own");

	taskscope_leave(*(struct taskscope_scope *)argument);
	assert_int_equal(own_block()->misplaced, 1);
	assert_int_equal(own_depth(), 1);
	taskscope_leave(own);
	return NULL;
}

static void *close_without_a_block(void *argument)
{
	taskscope_leave(*(struct taskscope_scope *)argument);
	return NULL;
}

static void closing_on_another_thread_does_nothing_and_is_counted(void **state)
{
	struct taskscope_scope scope = taskscope_enter("here");
	uint64_t before = area.header->ended_misplaced;

	(void)state;
	on_thread(close_elsewhere, &scope);
	assert_int_equal(area.header->ended_misplaced, before + 1);
	on_thread(close_without_a_block, &scope);
	assert_int_equal(area.header->ended_misplaced, before + 2);
	assert_int_equal(own_depth(), 1);
	taskscope_leave(scope);
}

static void scopes_deeper_than_the_frames_are_counted(void **state)
{
	struct taskscope_scope scopes[DEEP];
	struct taskscope_progress hidden;
	uint64_t lost = own_block()->lost_depth, misplaced = own_block()->misplaced;

	(void)state;
	for (size_t i = 0; i < DEEP; i++)
		scopes[i] = taskscope_enter("deep");
	hidden = taskscope_begin("deep", 1);
	taskscope_advance(&hidden, 1);
	assert_int_equal(own_depth(), SCOPE_FRAMES);
	assert_int_equal(own_block()->hidden, DEEP - SCOPE_FRAMES + 1);
	assert_int_equal(own_block()->lost_depth, lost + DEEP - SCOPE_FRAMES + 1);
	taskscope_end(&hidden);
	for (size_t i = DEEP; i > 0; i--)
		taskscope_leave(scopes[i - 1]);
	assert_int_equal(own_block()->hidden, 0);
	assert_int_equal(own_block()->misplaced, misplaced);
}

static void hidden_scopes_close_out_of_order_too(void **state)
{
	struct taskscope_scope scopes[DEEP];
	uint64_t unwound = own_block()->unwound, misplaced = own_block()->misplaced;

	(void)state;
	for (size_t i = 0; i < DEEP; i++)
		scopes[i] = taskscope_enter("deep");
	taskscope_leave(scopes[DEEP - 10]);
	assert_int_equal(own_block()->hidden, DEEP - SCOPE_FRAMES - 10);
	assert_int_equal(own_block()->unwound, unwound + 9);
	taskscope_leave(scopes[DEEP - 1]);
	assert_int_equal(own_block()->misplaced, misplaced + 1);
	taskscope_leave(scopes[SCOPE_FRAMES - 1]);
	assert_int_equal(own_block()->hidden, 0);
	assert_int_equal(own_depth(), SCOPE_FRAMES - 1);
	assert_int_equal(own_block()->unwound, unwound + DEEP - SCOPE_FRAMES - 1);
	taskscope_leave(scopes[0]);
}

static void the_same_label_is_registered_once(void **state)
{
	struct taskscope_site one = { "same", 0 }, two = { "same", 0 };
	uint32_t count;

	(void)state;
	taskscope_leave(taskscope_enter_site(&one));
	count = area.header->label_count;
	taskscope_leave(taskscope_enter_site(&two));
	assert_int_equal(one.number, two.number);
	assert_int_equal(area.header->label_count, count);
}

static void a_long_label_is_cut_between_characters(void **state)
{
	char text[] = "0123456789012345678901234567890123456789012345678901234567890"
		      "1\xc3\xa4\xc3\xb6";
	struct taskscope_site site = { text, 0 };
	struct taskscope_scope scope = taskscope_enter_site(&site);
	struct taskscope_scope made = (taskscope_enter)(text);

	(void)state;
	assert_int_equal(strlen(frame_label(own_block(), 0)), 62);
	assert_memory_equal(frame_label(own_block(), 0), text, 62);
	assert_int_equal(strlen(frame_label(own_block(), 1)), 62);
	taskscope_leave(made);
	taskscope_leave(scope);
}

static void labels_without_room_are_counted_once_a_call_site(void **state)
{
	static struct taskscope_site sites[SCOPE_LABELS + 10];
	static char texts[SCOPE_LABELS + 10][32];
	uint32_t room = SCOPE_LABELS - area.header->label_count;

	(void)state;
	for (size_t i = 0; i < room + 10; i++) {
		snprintf(texts[i], sizeof(texts[i]), "label %zu", i);
		sites[i].label = texts[i];
		for (int time = 0; time < 2; time++) {
			struct taskscope_scope scope = taskscope_enter_site(&sites[i]);

			assert_int_equal(own_block()->frames[0].label == 0, i >= room);
			taskscope_leave(scope);
		}
	}
	assert_int_equal(area.header->label_count, SCOPE_LABELS);
	assert_int_equal(area.header->lost_labels, 10);
	taskscope_enter_site(&sites[0]);
	taskscope_enter_site(&sites[room]);
	assert_string_equal(frame_label(own_block(), 0), "label 0");
	assert_int_equal(own_block()->frames[1].label, 0);
	taskscope_leave((struct taskscope_scope){
		(uint64_t)own_block()->frames[0].generation << 24 | own_block()->slot });
}

static void a_label_made_at_run_time_is_copied(void **state)
{
	char text[32] = "row 1";
	struct taskscope_scope outer = (taskscope_enter)(text), inner;

	(void)state;
	snprintf(text, sizeof(text), "column 2");
	inner = taskscope_enter(text);
	text[0] = 'X';
	assert_string_equal(frame_label(own_block(), 0), "row 1");
	assert_string_equal(frame_label(own_block(), 1), "column 2");
	taskscope_leave(inner);
	taskscope_leave(outer);
	assert_int_equal(own_block()->texts_used, 0);
}

static void texts_without_room_are_counted(void **state)
{
	char text[SCOPE_LABEL_SIZE];
	struct taskscope_scope scopes[20];
	uint64_t lost = own_block()->lost_texts;

	(void)state;
	for (size_t i = 0; i < SCOPE_MADE_LABELS; i++) {
		snprintf(text, sizeof(text), "one of the first %zu", i);
		taskscope_leave((taskscope_enter)(text));
	}
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (size_t i = 0; i < 20; i++)
		scopes[i] = (taskscope_enter)(text);
	assert_int_equal(own_block()->texts_used, SCOPE_TEXTS_SIZE);
	assert_int_equal(own_block()->lost_texts, lost + 4);
	assert_string_equal(frame_label(own_block(), 15), text);
	assert_int_equal(own_block()->frames[16].label, 0);
	taskscope_leave(scopes[0]);
}

static void no_label_at_all_is_harmless(void **state)
{
	struct taskscope_scope scope = (taskscope_enter)(NULL);

	(void)state;
	assert_int_equal(own_block()->frames[0].label, 0);
	taskscope_leave(scope);
	taskscope_leave(taskscope_enter(NULL));
	taskscope_leave(taskscope_begin(NULL, 1).scope);
	taskscope_leave((taskscope_begin)(NULL, 1).scope);
	taskscope_thread(NULL);
}

static void no_counter_at_all_is_harmless(void **state)
{
	struct taskscope_progress progress = taskscope_begin("counted", 10);

	(void)state;
	taskscope_advance(NULL, 1);
	taskscope_set(NULL, 1, 2);
	taskscope_end(NULL);
	assert_int_equal(own_block()->depth, 1);
	assert_int_equal(own_block()->frames[0].count, 0);
	taskscope_end(&progress);
}

static void *advance_elsewhere(void *argument)
{
	for (int i = 0; i < 1000; i++)
		taskscope_advance(argument, 2);
	return NULL;
}

static void progress_is_counted_from_any_thread(void **state)
{
	struct taskscope_progress progress = taskscope_begin("solve", 5000);
	const struct scope_frame *frame = &own_block()->frames[0];
	pthread_t threads[2];

	(void)state;
	for (size_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, advance_elsewhere, &progress);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(frame->count, 4000);
	assert_int_equal(frame->total, 5000);
	assert_int_equal(frame->flags, SCOPE_HAS_PROGRESS);
	taskscope_set(&progress, 7, 8);
	assert_int_equal(frame->count, 7);
	assert_int_equal(frame->total, 8);
	taskscope_end(&progress);
}

static void a_counter_that_ended_counts_nothing(void **state)
{
	struct taskscope_progress old = taskscope_begin("old", 1), next;
	struct taskscope_progress nothing = { 0 };

	(void)state;
	taskscope_end(&old);
	taskscope_advance(&old, 5);
	next = taskscope_begin("next", 1);
	taskscope_advance(&old, 5);
	taskscope_set(&old, 5, 5);
	taskscope_advance(&nothing, 5);
	taskscope_set(&nothing, 5, 5);
	taskscope_end(&nothing);
	assert_int_equal(own_block()->frames[0].count, 0);
	assert_int_equal(own_block()->frames[0].total, 1);
	taskscope_end(&next);
}

static bool is_idle(void)
{
	const struct scope_thread *block = own_block();

	return block->idle_ticks && block->idle_ticks >= block->changed_ticks;
}

static void a_scope_is_idle_until_something_happens(void **state)
{
	struct taskscope_scope scope = taskscope_enter("wait"), inner;

	(void)state;
	assert_false(is_idle());
	taskscope_idle();
	assert_true(is_idle());
	taskscope_busy();
	assert_false(is_idle());
	taskscope_idle();
	inner = taskscope_enter("work");
	assert_false(is_idle());
	taskscope_idle();
	taskscope_leave(inner);
	assert_false(is_idle());
	taskscope_leave(scope);
}

static void a_limit_is_of_an_open_scope_and_ends_with_it(void **state)
{
	struct taskscope_scope scope = taskscope_enter("slow"), next;

	(void)state;
	taskscope_limit(scope, 5000);
	assert_int_equal(own_block()->frames[0].limit_ms, 5000);
	taskscope_limit(scope, TASKSCOPE_NEVER);
	assert_int_equal(own_block()->frames[0].limit_ms, SCOPE_NO_LIMIT);
	taskscope_leave(scope);
	next = taskscope_enter("next");
	taskscope_limit(scope, 5000);
	assert_int_equal(own_block()->frames[0].limit_ms, 0);
	taskscope_leave(next);
}

static void a_scope_that_is_open_at_the_stop_can_be_closed_later(void **state)
{
	struct taskscope_scope outer = taskscope_enter("outer"), later;

	(void)state;
	taskscope_stop();
	assert_int_equal(area.header->state, SCOPE_STATE_STOPPED);
	later = taskscope_enter("later");
	assert_int_equal(later.handle, 0);
	assert_int_equal(own_depth(), 1);
	taskscope_leave(later);
	taskscope_leave(outer);
	assert_int_equal(own_depth(), 0);
	library_start(0);
	assert_int_equal(area.header->state, SCOPE_STATE_ON);
}

static volatile uint64_t handled, handled_recorded;

static void open_in_handler(int signal)
{
	struct taskscope_scope scope = taskscope_enter("handler");

	(void)signal;
	handled++;
	handled_recorded += scope.handle != 0;
	taskscope_leave(scope);
}

static void a_handler_in_the_middle_of_a_change_is_not_recorded_but_counted(void **state)
{
	uint64_t interrupted = own_block()->interrupted;

	(void)state;
	signal(SIGUSR1, open_in_handler);
	handled = handled_recorded = 0;
	raise(SIGUSR1);
	assert_int_equal(handled_recorded, 1);
	self.is_changing = true;
	raise(SIGUSR1);
	self.is_changing = false;
	assert_int_equal(handled_recorded, 1);
	assert_int_equal(own_block()->interrupted, interrupted + 1);
}

/* A timer hits all places in the middle of opening and closing. */
static void handlers_at_any_place_leave_the_stack_as_it_is(void **state)
{
	struct itimerval timer = { { 0, 50 }, { 0, 50 } }, off = { 0 };
	uint64_t interrupted = own_block()->interrupted, misplaced = own_block()->misplaced;

	(void)state;
	signal(SIGALRM, open_in_handler);
	handled = handled_recorded = 0;
	setitimer(ITIMER_REAL, &timer, NULL);
	while (handled < 5000) {
		struct taskscope_scope outer = taskscope_enter("outer");
		struct taskscope_scope made = (taskscope_enter)("made at run time");

		taskscope_leave(made);
		taskscope_leave(outer);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	assert_int_equal(own_block()->misplaced, misplaced);
	assert_int_equal(own_block()->interrupted - interrupted, handled - handled_recorded);
	assert_int_equal(own_block()->texts_used, 0);
	assert_int_equal(own_block()->sequence % 2, 0);
	signal(SIGALRM, SIG_DFL);
}

#define SCOPE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_recorded_before_the_start),
		SCOPE_TEST(an_open_scope_is_in_the_threads_block),
		SCOPE_TEST(handlers_at_any_place_leave_the_stack_as_it_is),
		SCOPE_TEST(the_macro_closes_at_the_end_of_the_block),
		SCOPE_TEST(closing_a_scope_closes_and_counts_those_inside),
		SCOPE_TEST(closing_twice_does_nothing_and_is_counted),
		SCOPE_TEST(closing_on_another_thread_does_nothing_and_is_counted),
		SCOPE_TEST(scopes_deeper_than_the_frames_are_counted),
		SCOPE_TEST(hidden_scopes_close_out_of_order_too),
		SCOPE_TEST(the_same_label_is_registered_once),
		SCOPE_TEST(a_long_label_is_cut_between_characters),
		SCOPE_TEST(a_label_made_at_run_time_is_copied),
		SCOPE_TEST(texts_without_room_are_counted),
		SCOPE_TEST(no_label_at_all_is_harmless),
		SCOPE_TEST(no_counter_at_all_is_harmless),
		SCOPE_TEST(progress_is_counted_from_any_thread),
		SCOPE_TEST(a_counter_that_ended_counts_nothing),
		SCOPE_TEST(a_scope_is_idle_until_something_happens),
		SCOPE_TEST(a_limit_is_of_an_open_scope_and_ends_with_it),
		SCOPE_TEST(a_scope_that_is_open_at_the_stop_can_be_closed_later),
		SCOPE_TEST(a_handler_in_the_middle_of_a_change_is_not_recorded_but_counted),
		SCOPE_TEST(labels_without_room_are_counted_once_a_call_site),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
