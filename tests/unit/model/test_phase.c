/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "model/scope/phase.h"

#define MS UINT64_C(1000000)
#define BEGIN (1000 * MS)

struct scene {
	struct phases phases;
	struct phase_process process;
};

static void clear_scene(struct scene *scene)
{
	phases_free(&scene->phases);
	phase_process_free(&scene->process);
}

static struct scene make_scene(void)
{
	return (struct scene){ .process = { .key = { 100, 100, 7 }, .comm = "solver" } };
}

static struct phase_thread *thread_of(struct scene *scene, int32_t tid)
{
	struct phase_thread *thread = phase_thread_find(&scene->process, tid);

	if (!thread)
		thread = phase_thread_add(&scene->process, tid, BEGIN);
	assert_non_null(thread);
	return thread;
}

/* A sample at a time, with scopes and their ages in ms, outermost first; ends with NULL. */
struct seen {
	const char *label;
	uint64_t age_ms;
};

static void sample_at(struct scene *scene, int32_t tid, uint64_t at_ms, uint64_t cpu_ms,
		      const struct seen *seen, uint64_t changed_ms)
{
	struct scope scopes[SCOPE_FRAMES + 8] = { 0 };
	struct thread_sample at = {
		.time_ns = BEGIN + at_ms * MS,
		.scopes = scopes,
		.changed_ns = changed_ms * MS,
		.has_cpu = true,
		.cpu_ns = cpu_ms * MS,
	};

	for (; seen && seen[at.count].label; at.count++) {
		snprintf(scopes[at.count].label, SCOPE_LABEL_SIZE, "%s", seen[at.count].label);
		scopes[at.count].age_ns = seen[at.count].age_ms * MS;
		scopes[at.count].has_number = seen[at.count].label[0] != '?';
	}
	assert_int_equal(phase_sample(&scene->phases, &scene->process, thread_of(scene, tid), &at),
			 0);
}

#define SCOPES(...) ((const struct seen[]){ __VA_ARGS__, { NULL, 0 } })

static const struct phase *phase_of(const struct scene *scene, const char *label)
{
	for (size_t i = 0; i < scene->phases.list.count; i++)
		if (strcmp(scene->phases.list.data[i].label, label) == 0)
			return &scene->phases.list.data[i];
	return NULL;
}

static void assert_phase(const struct scene *scene, const char *label, uint64_t wall_ms,
			 uint64_t cpu_ms)
{
	const struct phase *phase = phase_of(scene, label);

	assert_non_null(phase);
	assert_int_equal(phase->wall_ns, wall_ms * MS);
	assert_int_equal(phase->cpu_ns, cpu_ms * MS);
	assert_int_equal(phase->off_cpu_ns, (wall_ms - cpu_ms) * MS);
}

static void a_scope_has_no_more_time_than_its_age(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	sample_at(&scene, 1, 1000, 1000, SCOPES({ "solve", 300 }), 300);
	assert_phase(&scene, "solve", 300, 300);
	sample_at(&scene, 1, 2000, 1500, SCOPES({ "solve", 1300 }), 1300);
	assert_phase(&scene, "solve", 1300, 800);
	assert_int_equal(phase_of(&scene, "solve")->samples, 2);
	assert_int_equal(phase_of(&scene, "solve")->threads, 1);
}

static void a_scope_from_before_it_was_watched_counts_from_then_on(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	sample_at(&scene, 1, 100, 40, SCOPES({ "solve", 90000 }), 90000);
	assert_phase(&scene, "solve", 100, 40);
}

static void assert_self(const struct scene *scene, const char *label, uint64_t wall_ms,
			uint64_t cpu_ms)
{
	const struct phase *phase = phase_of(scene, label);

	assert_non_null(phase);
	assert_true(phase->has_self);
	assert_int_equal(phase->self_wall_ns, wall_ms * MS);
	assert_int_equal(phase->self_cpu_ns, cpu_ms * MS);
	assert_int_equal(phase->self_off_cpu_ns, (wall_ms - cpu_ms) * MS);
}

static void a_scope_has_for_its_own_the_time_outside_of_scopes_inside(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	sample_at(&scene, 1, 100, 50, SCOPES({ "a", 100 }, { "b", 60 }, { "c", 10 }), 10);
	assert_phase(&scene, "a", 100, 50);
	assert_self(&scene, "a", 40, 20);
	assert_self(&scene, "b", 50, 25);
	assert_self(&scene, "c", 10, 5);
	/* At 130 ms c and b were closed. */
	sample_at(&scene, 1, 200, 50, SCOPES({ "a", 200 }), 70);
	assert_self(&scene, "a", 110, 20);
	assert_self(&scene, "b", 50, 25);
	assert_self(&scene, "c", 40, 5);
	assert_phase(&scene, "b", 90, 30);
	/* Another scope inside, and all ended at 280 ms. */
	sample_at(&scene, 1, 240, 50, SCOPES({ "a", 240 }, { "b", 10 }), 10);
	sample_at(&scene, 1, 300, 50, NULL, 20);
	assert_self(&scene, "a", 140, 20);
	assert_self(&scene, "b", 100, 25);
	assert_phase(&scene, "a", 280, 50);
}

static void a_label_that_calls_itself_has_its_time_once(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	sample_at(&scene, 1, 100, 0, SCOPES({ "a", 100 }, { "b", 80 }, { "a", 30 }), 30);
	assert_phase(&scene, "a", 100, 0);
	assert_self(&scene, "a", 50, 0);
	assert_self(&scene, "b", 50, 0);
}

static void wait_in(struct scene *scene, uint64_t ms, const char *const *labels, size_t count)
{
	assert_int_equal(phase_wait(&scene->phases, &scene->process, labels, count, ms * MS), 0);
}

#define WAIT_IN(scene, ms, ...)                                                                    \
	wait_in(scene, ms, (const char *const[]){ __VA_ARGS__ },                                   \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void waits_take_the_place_of_estimates(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	scene.process.following = PHASE_FOLLOWED;
	sample_at(&scene, 1, 100, 50, SCOPES({ "a", 100 }, { "b", 60 }), 60);
	WAIT_IN(&scene, 5, "a");
	WAIT_IN(&scene, 30, "a", "b");
	WAIT_IN(&scene, 2, "a", "b", "a");
	WAIT_IN(&scene, 7, "never sampled");
	phases_sort(&scene.phases);
	assert_phase(&scene, "a", 100, 63);
	assert_self(&scene, "a", 40, 33);
	assert_phase(&scene, "b", 60, 28);
	assert_self(&scene, "b", 60, 30);
	assert_true(phase_of(&scene, "a")->is_off_cpu_exact);
	assert_true(phase_of(&scene, "b")->is_off_cpu_exact);
	assert_int_equal(phase_of(&scene, "never sampled")->off_cpu_ns, 7 * MS);
	assert_true(phase_has_off_cpu(phase_of(&scene, "never sampled")));
	assert_false(phase_of(&scene, "never sampled")->has_cpu);
}

static void a_label_that_never_waits_is_exact_too(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	scene.process.following = PHASE_FOLLOWED;
	sample_at(&scene, 1, 100, 90, SCOPES({ "a", 100 }), 100);
	phases_sort(&scene.phases);
	assert_phase(&scene, "a", 100, 100);
	assert_true(phase_of(&scene, "a")->is_off_cpu_exact);
}

static void waits_longer_than_the_estimate_make_it_longer(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	scene.process.following = PHASE_FOLLOWED;
	sample_at(&scene, 1, 100, 90, SCOPES({ "a", 1 }), 1);
	WAIT_IN(&scene, 20, "a");
	phases_sort(&scene.phases);
	assert_phase(&scene, "a", 20, 0);
}

static void what_was_followed_late_is_not_exact(void **state)
{
	CLEANUP(clear_scene) struct scene late = make_scene();

	(void)state;
	late.process.following = PHASE_FOLLOWED_LATE;
	sample_at(&late, 1, 100, 50, SCOPES({ "a", 100 }), 100);
	WAIT_IN(&late, 20, "a");
	phase_wait_thread(&late.phases, &late.process, thread_of(&late, 1), 3 * MS);
	phases_sort(&late.phases);
	assert_phase(&late, "a", 100, 77);
	assert_false(phase_of(&late, "a")->is_off_cpu_exact);
}

static void lost_waits_leave_the_estimate_and_never_a_zero(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	scene.process.following = PHASE_FOLLOWED;
	sample_at(&scene, 1, 100, 50, SCOPES({ "a", 100 }), 100);
	WAIT_IN(&scene, 7, "never sampled");
	phase_lose_waits(&scene.phases, &scene.process);
	WAIT_IN(&scene, 7, "later");
	phases_sort(&scene.phases);
	assert_phase(&scene, "a", 100, 50);
	assert_false(phase_of(&scene, "a")->is_off_cpu_exact);
	assert_false(phase_has_off_cpu(phase_of(&scene, "never sampled")));
	assert_false(phase_of(&scene, "never sampled")->is_off_cpu_exact);
	assert_false(phase_has_off_cpu(phase_of(&scene, "later")));
}

/* Its waits are among those of all such labels. */
static void a_label_without_a_number_keeps_its_estimate(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	scene.process.following = PHASE_FOLLOWED;
	sample_at(&scene, 1, 100, 50, SCOPES({ "a", 100 }, { "?made", 100 }), 100);
	WAIT_IN(&scene, 20, "a", "");
	phases_sort(&scene.phases);
	assert_phase(&scene, "?made", 100, 50);
	assert_false(phase_of(&scene, "?made")->is_off_cpu_exact);
	assert_phase(&scene, "a", 100, 80);
	assert_int_equal(phase_of(&scene, "")->off_cpu_ns, 20 * MS);
}

static void phases_that_follow_each_other_are_exact_to_the_switch(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	sample_at(&scene, 1, 100, 0, SCOPES({ "load", 100 }), 100);
	sample_at(&scene, 1, 200, 0, SCOPES({ "solve", 30 }), 30);
	sample_at(&scene, 1, 300, 0, NULL, 60);
	assert_phase(&scene, "load", 170, 0);
	assert_phase(&scene, "solve", 70, 0);
}

static void every_scope_of_a_stack_has_the_time_and_a_label_only_once(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	sample_at(&scene, 1, 100, 100, SCOPES({ "walk", 100 }, { "walk", 80 }, { "leaf", 10 }), 10);
	assert_phase(&scene, "walk", 100, 100);
	assert_phase(&scene, "leaf", 10, 10);
	assert_int_equal(phase_of(&scene, "walk")->samples, 1);
	sample_at(&scene, 1, 200, 200, SCOPES({ "walk", 200 }), 50);
	assert_phase(&scene, "walk", 200, 200);
	assert_phase(&scene, "leaf", 60, 60);
}

/* Opened and closed all the time, and seen at random: both get their share. */
static void labels_that_take_turns_quickly_get_all_the_time_together(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();
	const char *labels[] = { "a", "b" };

	(void)state;
	for (uint64_t i = 1; i <= 100; i++)
		sample_at(&scene, 1, i * 100, 0, SCOPES({ labels[i % 2], 1 }), 1);
	assert_in_range(phase_of(&scene, "a")->wall_ns, 4800 * MS, 5100 * MS);
	assert_in_range(phase_of(&scene, "b")->wall_ns, 4800 * MS, 5100 * MS);
	assert_true(phase_of(&scene, "a")->wall_ns + phase_of(&scene, "b")->wall_ns <= 10000 * MS);
}

static void threads_add_up_and_each_counts_once(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	for (uint64_t i = 1; i <= 3; i++) {
		sample_at(&scene, 1, i * 100, i * 100, SCOPES({ "solve", i * 100 }), i * 100);
		sample_at(&scene, 2, i * 100, 0, SCOPES({ "solve", i * 100 }), i * 100);
	}
	assert_phase(&scene, "solve", 600, 300);
	assert_int_equal(phase_of(&scene, "solve")->threads, 2);
	assert_int_equal(phase_of(&scene, "solve")->samples, 6);
}

static void cpu_time_that_is_not_known_is_not_zero(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();
	struct scope scope = { .label = "solve", .age_ns = 50 * MS };
	struct thread_sample at = { .time_ns = BEGIN + 100 * MS, .scopes = &scope, .count = 1 };

	(void)state;
	assert_int_equal(phase_sample(&scene.phases, &scene.process, thread_of(&scene, 1), &at), 0);
	assert_false(phase_of(&scene, "solve")->has_cpu);
	assert_int_equal(phase_of(&scene, "solve")->wall_ns, 50 * MS);
}

static void waits_tell_the_cpu_time_that_was_not_read(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();
	struct scope scope = { .label = "solve", .age_ns = 50 * MS, .has_number = true };
	struct thread_sample at = { .time_ns = BEGIN + 100 * MS, .scopes = &scope, .count = 1 };

	(void)state;
	scene.process.following = PHASE_FOLLOWED;
	assert_int_equal(phase_sample(&scene.phases, &scene.process, thread_of(&scene, 1), &at), 0);
	WAIT_IN(&scene, 20, "solve");
	phases_sort(&scene.phases);
	assert_true(phase_of(&scene, "solve")->has_cpu);
	assert_phase(&scene, "solve", 50, 30);
}

static void times_that_make_no_sense_never_exceed_the_interval(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	sample_at(&scene, 1, 100, 1 << 30, SCOPES({ "solve", 1 << 30 }, { "inner", 1 << 30 }),
		  1 << 30);
	assert_phase(&scene, "solve", 100, 100);
	assert_phase(&scene, "inner", 100, 100);
	/* Time and counters that go back add nothing. */
	sample_at(&scene, 1, 50, 10, SCOPES({ "solve", 0 }), 0);
	assert_phase(&scene, "solve", 100, 100);
}

static void add_use(struct scopes *scopes, const char *label, uint64_t count, uint64_t total_ms)
{
	struct scope_label_use use = { .count = count, .total_ns = total_ms * MS };

	snprintf(use.label, sizeof(use.label), "%s", label);
	assert_int_equal(array_append(&scopes->labels, use), 0);
}

static void statistics_count_what_no_look_saw(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();
	CLEANUP(scopes_free) struct scopes scopes = { .has_statistics = true };

	(void)state;
	add_use(&scopes, "quick", 1000, 20);
	assert_int_equal(phase_count(&scene.phases, &scene.process, &scopes, false), 0);
	scopes.labels.data[0].count = 1500;
	scopes.labels.data[0].total_ns = 30 * MS;
	assert_int_equal(phase_count(&scene.phases, &scene.process, &scopes, false), 0);
	assert_int_equal(phase_of(&scene, "quick")->count, 1500);
	assert_int_equal(phase_of(&scene, "quick")->total_ns, 30 * MS);
	assert_int_equal(phase_of(&scene, "quick")->samples, 0);
	assert_true(phase_is_exact(phase_of(&scene, "quick")));
}

static void statistics_of_before_it_was_watched_are_left_out(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();
	CLEANUP(scopes_free) struct scopes scopes = { .has_statistics = true };

	(void)state;
	add_use(&scopes, "early", 1000, 20);
	add_use(&scopes, "solve", 10, 20);
	assert_int_equal(phase_count(&scene.phases, &scene.process, &scopes, true), 0);
	scopes.labels.data[1].count = 12;
	assert_int_equal(phase_count(&scene.phases, &scene.process, &scopes, false), 0);
	phases_sort(&scene.phases);
	assert_int_equal(scene.phases.list.count, 1);
	assert_int_equal(phase_of(&scene, "solve")->count, 2);
}

static void the_next_program_counts_from_nothing_again(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();
	CLEANUP(scopes_free) struct scopes scopes = { .has_statistics = true };

	(void)state;
	add_use(&scopes, "solve", 10, 20);
	assert_int_equal(phase_count(&scene.phases, &scene.process, &scopes, false), 0);
	sample_at(&scene, 1, 100, 0, SCOPES({ "open", 100 }), 100);
	phase_process_forget(&scene.process);
	scopes.labels.data[0].count = 4;
	assert_int_equal(phase_count(&scene.phases, &scene.process, &scopes, false), 0);
	sample_at(&scene, 1, 200, 0, NULL, 0);
	assert_int_equal(phase_of(&scene, "solve")->count, 14);
	assert_phase(&scene, "open", 100, 0);
}

static void a_count_is_not_exact_when_some_program_kept_none(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();
	CLEANUP(scopes_free) struct scopes scopes = { .has_statistics = true };

	(void)state;
	sample_at(&scene, 1, 100, 0, SCOPES({ "solve", 100 }), 100);
	assert_false(phase_is_exact(phase_of(&scene, "solve")));
	add_use(&scopes, "solve", 10, 20);
	assert_int_equal(phase_count(&scene.phases, &scene.process, &scopes, false), 0);
	assert_false(phase_is_exact(phase_of(&scene, "solve")));
}

static void labels_without_end_are_left_out_and_counted(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();
	char label[SCOPE_LABEL_SIZE];

	(void)state;
	for (uint64_t i = 0; i < PHASES_OF_PROCESS + 10; i++) {
		snprintf(label, sizeof(label), "file %d", (int)i);
		sample_at(&scene, 1, i + 1, 0, SCOPES({ label, 1 }), 1);
	}
	assert_int_equal(scene.phases.list.count, PHASES_OF_PROCESS);
	assert_int_equal(scene.phases.omitted, 10);
}

static void more_scopes_than_frames_are_harmless(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();
	struct seen seen[SCOPE_FRAMES + 5] = { 0 };
	char labels[SCOPE_FRAMES + 4][16];

	(void)state;
	for (int round = 1; round <= 3; round++) {
		for (int i = 0; i < SCOPE_FRAMES + 4; i++) {
			snprintf(labels[i], sizeof(labels[i]), "%d of %d", i, round);
			seen[i] = (struct seen){ labels[i], 1 };
		}
		sample_at(&scene, 1, (uint64_t)round * 100, 0, seen, 1);
	}
	assert_int_equal(scene.phases.list.count, 3 * SCOPE_FRAMES);
}

static void the_longest_comes_first(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	sample_at(&scene, 1, 100, 0, SCOPES({ "short", 10 }), 10);
	sample_at(&scene, 2, 100, 0, SCOPES({ "long", 100 }), 100);
	phases_sort(&scene.phases);
	assert_string_equal(scene.phases.list.data[0].label, "long");
}

static void threads_are_found_in_any_order(void **state)
{
	CLEANUP(clear_scene) struct scene scene = make_scene();

	(void)state;
	for (int32_t tid = 1; tid <= 9; tid++)
		thread_of(&scene, tid);
	assert_int_equal(phase_thread_find(&scene.process, 9)->own_tid, 9);
	assert_int_equal(phase_thread_find(&scene.process, 1)->own_tid, 1);
	phase_thread_remove(&scene.process, phase_thread_find(&scene.process, 1));
	assert_null(phase_thread_find(&scene.process, 1));
	assert_int_equal(phase_thread_find(&scene.process, 9)->own_tid, 9);
	assert_int_equal(scene.process.threads.count, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scope_has_no_more_time_than_its_age),
		cmocka_unit_test(a_scope_from_before_it_was_watched_counts_from_then_on),
		cmocka_unit_test(a_scope_has_for_its_own_the_time_outside_of_scopes_inside),
		cmocka_unit_test(a_label_that_calls_itself_has_its_time_once),
		cmocka_unit_test(waits_take_the_place_of_estimates),
		cmocka_unit_test(a_label_that_never_waits_is_exact_too),
		cmocka_unit_test(waits_longer_than_the_estimate_make_it_longer),
		cmocka_unit_test(what_was_followed_late_is_not_exact),
		cmocka_unit_test(lost_waits_leave_the_estimate_and_never_a_zero),
		cmocka_unit_test(a_label_without_a_number_keeps_its_estimate),
		cmocka_unit_test(phases_that_follow_each_other_are_exact_to_the_switch),
		cmocka_unit_test(every_scope_of_a_stack_has_the_time_and_a_label_only_once),
		cmocka_unit_test(labels_that_take_turns_quickly_get_all_the_time_together),
		cmocka_unit_test(threads_add_up_and_each_counts_once),
		cmocka_unit_test(cpu_time_that_is_not_known_is_not_zero),
		cmocka_unit_test(waits_tell_the_cpu_time_that_was_not_read),
		cmocka_unit_test(times_that_make_no_sense_never_exceed_the_interval),
		cmocka_unit_test(statistics_count_what_no_look_saw),
		cmocka_unit_test(statistics_of_before_it_was_watched_are_left_out),
		cmocka_unit_test(the_next_program_counts_from_nothing_again),
		cmocka_unit_test(a_count_is_not_exact_when_some_program_kept_none),
		cmocka_unit_test(labels_without_end_are_left_out_and_counted),
		cmocka_unit_test(more_scopes_than_frames_are_harmless),
		cmocka_unit_test(the_longest_comes_first),
		cmocka_unit_test(threads_are_found_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
