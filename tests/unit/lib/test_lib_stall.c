/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "lib/heartbeat/stall.h"
#include "lib/heartbeat/syscall_names.h"

#define MS UINT64_C(1000000)

/* A thread with scopes, and the time that a test lets pass. */
struct scene {
	struct stack thread;
	struct stall stall;
	uint32_t limit_ms;
};

static void scene_open(struct scene *scene, uint32_t limit_ms, bool has_progress)
{
	struct stack *thread = &scene->thread;

	thread->sequence += 2;
	thread->frames[thread->depth++] =
		(struct scope_frame){ .generation = thread->sequence,
				      .limit_ms = limit_ms,
				      .flags = has_progress ? SCOPE_HAS_PROGRESS : 0 };
}

static void scene_close(struct scene *scene)
{
	scene->thread.sequence += 2;
	scene->thread.depth--;
}

static struct scene scene_begin(void)
{
	struct scene scene = { .thread = { .tid = 7 }, .limit_ms = 400 };

	return scene;
}

static enum stall_news pass(struct scene *scene, uint64_t ms)
{
	stall_moved(&scene->stall, &scene->thread);
	return stall_follow(&scene->stall, &scene->thread, ms * MS, scene->limit_ms);
}

/* Lets time pass by ticks of 100 ms; the last news. */
static enum stall_news pass_ticks(struct scene *scene, unsigned int count)
{
	enum stall_news news = STALL_QUIET;

	while (count--)
		news = pass(scene, 100);
	return news;
}

static void silence_up_to_the_limit_is_a_stall_once(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	scene_open(&scene, 0, false);
	assert_int_equal(pass_ticks(&scene, 2), STALL_QUIET); /* the first one saw it open */
	assert_int_equal(pass(&scene, 100), STALL_HALF);
	scene.stall.has_first = true;
	assert_int_equal(pass(&scene, 100), STALL_QUIET);
	assert_int_equal(pass(&scene, 100), STALL_BEGUN);
	assert_int_equal(scene.stall.stuck_ns, 400 * MS);
	assert_int_equal(pass_ticks(&scene, 100), STALL_QUIET);
	assert_int_equal(scene.stall.stuck_ns, 10400 * MS);
}

static void going_on_ends_a_stall_once(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	scene_open(&scene, 0, false);
	assert_int_equal(pass_ticks(&scene, 5), STALL_BEGUN);
	pass_ticks(&scene, 3);
	scene_open(&scene, 0, false);
	assert_int_equal(pass(&scene, 100), STALL_RECOVERED);
	assert_int_equal(scene.stall.stuck_ns, 700 * MS);
	assert_int_equal(pass(&scene, 100), STALL_QUIET);
	assert_int_equal(pass_ticks(&scene, 3), STALL_BEGUN);
	assert_int_equal(scene.stall.frame, 1);
}

static void a_long_phase_with_progress_is_no_stall(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	scene_open(&scene, 0, true);
	scene_open(&scene, 0, false);
	for (int i = 0; i < 100; i++) {
		scene.thread.frames[0].count++;
		assert_int_not_equal(pass_ticks(&scene, 3), STALL_BEGUN);
	}
}

static void opening_and_closing_scopes_is_progress(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	scene_open(&scene, 0, false);
	for (int i = 0; i < 100; i++) {
		scene_open(&scene, 0, false);
		scene_close(&scene);
		assert_int_not_equal(pass_ticks(&scene, 3), STALL_BEGUN);
	}
}

/* After an idle time, silence counts from the beginning; of a scope that counts steps, too. */
static void an_idle_time_ends_the_silence_before_it(void **state)
{
	(void)state;
	for (int has_progress = 0; has_progress < 2; has_progress++) {
		struct scene scene = scene_begin();

		scene_open(&scene, 0, has_progress);
		assert_int_equal(pass_ticks(&scene, 2), STALL_QUIET);
		assert_int_equal(pass(&scene, 100), STALL_HALF);
		scene.thread.is_idle = true;
		assert_int_equal(pass(&scene, 100), STALL_QUIET);
		assert_int_equal(scene.stall.still_ns, 0);
		assert_int_equal(scene.stall.counters[0].still_ns, 0);
		scene.thread.is_idle = false;
		assert_int_equal(pass(&scene, 100), STALL_QUIET);
		assert_int_equal(pass(&scene, 100), STALL_HALF);
	}
}

static void an_idle_thread_is_never_stalled(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	scene_open(&scene, 0, true);
	scene.thread.is_idle = true;
	assert_int_equal(pass_ticks(&scene, 100), STALL_QUIET);
	scene.thread.is_idle = false;
	assert_int_not_equal(pass_ticks(&scene, 3), STALL_BEGUN);
	assert_int_equal(pass(&scene, 100), STALL_BEGUN);
	scene.thread.is_idle = true;
	assert_int_equal(pass(&scene, 100), STALL_RECOVERED);
}

static void a_scope_without_a_limit_is_never_stalled(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	scene_open(&scene, 0, false);
	scene_open(&scene, SCOPE_NO_LIMIT, false);
	assert_int_equal(pass_ticks(&scene, 100), STALL_QUIET);
	scene.limit_ms = SCOPE_NO_LIMIT;
	scene_close(&scene);
	assert_int_equal(pass_ticks(&scene, 100), STALL_QUIET);
}

static void the_limit_of_an_outer_scope_holds_inside_of_it(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	scene_open(&scene, 200, false);
	scene_open(&scene, 0, false);
	assert_int_equal(pass_ticks(&scene, 3), STALL_BEGUN);
	assert_int_equal(scene.stall.frame, 0);
}

static void a_longer_limit_of_the_innermost_scope_wins_over_the_default(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	scene_open(&scene, 0, false);
	scene_open(&scene, 1000, false);
	for (int i = 0; i < 10; i++)
		assert_int_not_equal(pass(&scene, 100), STALL_BEGUN);
	assert_int_equal(pass(&scene, 100), STALL_BEGUN);
	assert_int_equal(scene.stall.frame, 1);
}

static void a_counter_with_its_own_limit_is_judged_alone(void **state)
{
	struct scene scene = scene_begin();
	enum stall_news news = STALL_QUIET;

	(void)state;
	scene_open(&scene, 500, true);
	for (int i = 0; i < 6; i++) {
		scene_open(&scene, 0, false);
		news = pass(&scene, 100);
		scene_close(&scene);
	}
	assert_int_equal(news, STALL_BEGUN);
	assert_int_equal(scene.stall.frame, 0);
	scene.thread.frames[0].count++;
	assert_int_equal(pass(&scene, 100), STALL_RECOVERED);
}

static void time_that_does_not_count_is_no_silence(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	scene_open(&scene, 0, false);
	pass_ticks(&scene, 4);
	for (int i = 0; i < 100; i++)
		assert_int_not_equal(pass(&scene, 0), STALL_BEGUN);
	assert_int_equal(pass(&scene, 100), STALL_BEGUN);
}

static void another_thread_in_the_same_place_begins_anew(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	scene_open(&scene, 0, false);
	pass_ticks(&scene, 4);
	scene.thread.tid = 8;
	assert_int_equal(pass_ticks(&scene, 2), STALL_QUIET);
	assert_int_equal(scene.stall.still_ns, 100 * MS);
}

static void a_thread_that_cannot_be_copied_is_moving(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	scene_open(&scene, 0, false);
	pass_ticks(&scene, 4);
	scene.thread.is_changing = true;
	scene.thread.depth = 0;
	assert_int_equal(pass_ticks(&scene, 100), STALL_QUIET);
}

static void closing_a_scope_and_changing_one_are_moves(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	scene_open(&scene, 0, false);
	scene_open(&scene, 0, false);
	assert_true(stall_moved(&scene.stall, &scene.thread));
	assert_false(stall_moved(&scene.stall, &scene.thread));
	scene_close(&scene);
	assert_true(stall_moved(&scene.stall, &scene.thread));
	assert_false(stall_moved(&scene.stall, &scene.thread));
	scene.thread.is_changing = true;
	assert_true(stall_moved(&scene.stall, &scene.thread));
	scene.thread.is_changing = false;
	assert_false(stall_moved(&scene.stall, &scene.thread));
}

static void only_what_can_stall_needs_a_closer_look(void **state)
{
	struct scene scene = scene_begin();

	(void)state;
	assert_false(stall_can_begin(&scene.stall, &scene.thread, 400));
	scene_open(&scene, 0, false);
	assert_true(stall_can_begin(&scene.stall, &scene.thread, 400));
	assert_false(stall_can_begin(&scene.stall, &scene.thread, SCOPE_NO_LIMIT));
	scene.thread.is_idle = true;
	assert_false(stall_can_begin(&scene.stall, &scene.thread, 400));
	scene.thread.is_idle = false;
	assert_int_equal(pass_ticks(&scene, 5), STALL_BEGUN);
	assert_false(stall_can_begin(&scene.stall, &scene.thread, 400));
}

static struct stall_reading reading(uint64_t at_ms, uint64_t cpu_ms, uint64_t delay_ms, char letter)
{
	return (struct stall_reading){ .at_ns = at_ms * MS,
				       .cpu_ns = amount_of(cpu_ms * MS),
				       .delay_ns = amount_of(delay_ms * MS),
				       .state = letter };
}

static void the_reason_of_a_stall_is_what_the_thread_did(void **state)
{
	static const struct {
		uint64_t cpu_ms, delay_ms;
		char letter;
		enum scope_stall kind;
	} cases[] = {
		{ 1000, 0, 'R', SCOPE_STALL_BUSY },   { 500, 500, 'R', SCOPE_STALL_BUSY },
		{ 600, 0, 'S', SCOPE_STALL_BUSY },    { 0, 0, 'S', SCOPE_STALL_WAITING },
		{ 100, 0, 'D', SCOPE_STALL_WAITING }, { 0, 0, 'R', SCOPE_STALL_STARVED },
		{ 100, 0, 'R', SCOPE_STALL_STARVED }, { 300, 700, 'S', SCOPE_STALL_STARVED },
		{ 300, 100, 'R', SCOPE_STALL_BUSY },  { 0, 0, 'T', SCOPE_STALL_STOPPED },
		{ 900, 0, 't', SCOPE_STALL_STOPPED }, { 0, 0, 0, SCOPE_STALL_WAITING },
	};
	struct stall_reading first = reading(5000, 70, 30, 'S');

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stall_reading last = reading(6000, 70 + cases[i].cpu_ms,
						    30 + cases[i].delay_ms, cases[i].letter);

		assert_int_equal(stall_judge(&first, &last), cases[i].kind);
	}
}

static void what_could_not_be_read_is_not_taken_for_zero_use(void **state)
{
	struct stall_reading first = reading(0, 0, 0, 'S'), last = reading(1000, 900, 0, 'S');

	(void)state;
	first.cpu_ns.is_known = false;
	assert_int_equal(stall_judge(&first, &last), SCOPE_STALL_WAITING);
	assert_int_equal(stall_judge(&last, &last), SCOPE_STALL_WAITING);
	last.state = 'R'; /* in no time nobody starves */
	assert_int_equal(stall_judge(&last, &last), SCOPE_STALL_BUSY);
}

static void a_gap_counts_as_one_tick(void **state)
{
	struct stall_clock clock = { 0 };

	(void)state;
	assert_int_equal(stall_counted_ns(&clock, 100 * MS, 75 * MS, 0), 100 * MS);
	assert_int_equal(stall_counted_ns(&clock, 35000 * MS, 75 * MS, 0), 75 * MS);
}

static void throttled_time_does_not_count_nor_does_a_moment_after(void **state)
{
	struct stall_clock clock = { 0 };

	(void)state;
	assert_int_equal(stall_counted_ns(&clock, 100 * MS, 100 * MS, 24 * MS), 100 * MS);
	assert_int_equal(stall_counted_ns(&clock, 100 * MS, 100 * MS, 25 * MS), 0);
	assert_int_equal(stall_counted_ns(&clock, 100 * MS, 100 * MS, 0), 0);
	assert_int_equal(stall_counted_ns(&clock, 100 * MS, 100 * MS, 0), 0);
	assert_int_equal(stall_counted_ns(&clock, 100 * MS, 100 * MS, 0), 100 * MS);
}

static void calls_have_the_names_of_this_machine(void **state)
{
	(void)state;
	assert_string_equal(syscall_name(SYS_read), "read");
	assert_string_equal(syscall_name(SYS_futex), "futex");
	assert_string_equal(syscall_name(SYS_openat2), "openat2");
	assert_null(syscall_name(-1));
	assert_null(syscall_name(100000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_have_the_names_of_this_machine),
		cmocka_unit_test(silence_up_to_the_limit_is_a_stall_once),
		cmocka_unit_test(going_on_ends_a_stall_once),
		cmocka_unit_test(a_long_phase_with_progress_is_no_stall),
		cmocka_unit_test(opening_and_closing_scopes_is_progress),
		cmocka_unit_test(an_idle_time_ends_the_silence_before_it),
		cmocka_unit_test(an_idle_thread_is_never_stalled),
		cmocka_unit_test(a_scope_without_a_limit_is_never_stalled),
		cmocka_unit_test(the_limit_of_an_outer_scope_holds_inside_of_it),
		cmocka_unit_test(a_longer_limit_of_the_innermost_scope_wins_over_the_default),
		cmocka_unit_test(a_counter_with_its_own_limit_is_judged_alone),
		cmocka_unit_test(time_that_does_not_count_is_no_silence),
		cmocka_unit_test(another_thread_in_the_same_place_begins_anew),
		cmocka_unit_test(a_thread_that_cannot_be_copied_is_moving),
		cmocka_unit_test(closing_a_scope_and_changing_one_are_moves),
		cmocka_unit_test(only_what_can_stall_needs_a_closer_look),
		cmocka_unit_test(the_reason_of_a_stall_is_what_the_thread_did),
		cmocka_unit_test(what_could_not_be_read_is_not_taken_for_zero_use),
		cmocka_unit_test(a_gap_counts_as_one_tick),
		cmocka_unit_test(throttled_time_does_not_count_nor_does_a_moment_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
