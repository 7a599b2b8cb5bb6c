/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scarce_memory.h"

#include "base/error.h"
#include "collect/scope/scope_reader.h"
#include "host/host.h"
#include "model/tree/run.h"
#include "own_scopes.h"
#include "session/phase/phase_search.h"
#include "session/phase/phases.h"
#include "session/phase/phase_view.h"

/* What may be believed of threads that nobody else knows. */
#define STRANGERS_MOST 100
#define SOME 5

struct scene {
	struct host *host;
	struct own_scopes own;
	struct phases phases;
	struct tree_thread thread;
	struct tree_thread *live[1];
	struct tree_process process;
	struct phase_view *view;
};

static void open_scene(struct scene *scene)
{
	struct scope_reader *reader = NULL;
	struct error error = { 0 };

	*scene = (struct scene){ 0 };
	own_scopes_open(&scene->own);
	scene->thread.key = (struct task_key){ getpid(), getpid(), 1 };
	scene->live[0] = &scene->thread;
	scene->process = (struct tree_process){
		.key = scene->thread.key,
		.live = scene->live,
		.live_count = 1,
	};
	assert_int_equal(host_open(&scene->host, NULL, &error), 0);
	assert_int_equal(
		scope_reader_open(scene->host, getpid(), SCOPE_SEARCH_QUICK, &reader, &error), 0);
	scene->view = phase_view_new(reader, &scene->process);
	assert_non_null(scene->view);
}

static void close_scene(struct scene *scene)
{
	phase_view_free(scene->view);
	phases_free(&scene->phases);
	host_close(scene->host);
	own_scopes_close(&scene->own);
}

static void sample(struct scene *scene)
{
	assert_int_equal(phase_view_sample(scene->view, &scene->phases, &scene->process, 0), 0);
}

static void threads_that_nobody_knows_are_believed_in_bounds(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene);
	for (int32_t round = 0; round < 20; round++) {
		for (int32_t i = 0; i < BLOCKS; i++)
			own_block(&scene.own, (size_t)i)->tid = INT32_MAX - round * BLOCKS - i;
		own_block(&scene.own, BLOCKS - 1)->tid = getpid();
		sample(&scene);
		assert_in_range(scene.view->phases.threads.count, 1, STRANGERS_MOST);
		assert_in_range(scene.view->scopes.tasks.count, 1, STRANGERS_MOST);
		assert_non_null(phase_thread_find(&scene.view->phases, getpid()));
		assert_in_range(scene.phases.list.data[0].samples, 1,
				((uint64_t)round + 1) * STRANGERS_MOST);
	}
	close_scene(&scene);
}

static void a_thread_has_one_block(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene);
	for (size_t i = 0; i < BLOCKS; i++)
		own_block(&scene.own, i)->tid = getpid();
	sample(&scene);
	assert_int_equal(scene.view->phases.threads.count, 1);
	assert_int_equal(scene.view->scopes.tasks.count, 1);
	assert_int_equal(scene.phases.list.data[0].samples, 1);
	close_scene(&scene);
}

static void threads_that_have_no_block_any_more_are_forgotten(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene);
	own_block(&scene.own, 7)->tid = getpid();
	sample(&scene);
	assert_int_equal(scene.view->phases.threads.count, 1);
	own_block(&scene.own, 7)->tid = 0;
	sample(&scene);
	assert_int_equal(scene.view->phases.threads.count, 0);
	assert_int_equal(scene.phases.list.data[0].threads, 1);
	close_scene(&scene);
}

/* From a first and a last sample of some threads. */
static int sample_twice(struct scene *scene)
{
	int first = phase_view_sample(scene->view, &scene->phases, &scene->process, 0), last;

	for (size_t i = 0; i < SOME; i++)
		own_block(&scene->own, i)->tid = 0;
	last = phase_view_sample(scene->view, &scene->phases, &scene->process, 0);
	return first < 0 ? first : last;
}

static void a_look_is_whole_or_fails(void **state)
{
	int status = -1;

	(void)state;
	for (unsigned long refused = 1; status < 0; refused++) {
		struct scene scene;

		open_scene(&scene);
		own_block(&scene.own, 0)->tid = getpid();
		for (int32_t i = 1; i < SOME; i++)
			own_block(&scene.own, (size_t)i)->tid = INT32_MAX - i;
		memory.asked = 0;
		memory.refused = refused;
		status = sample_twice(&scene);
		allow_all();
		if (status == 0) {
			assert_true(memory.asked < refused);
			assert_int_equal(scene.phases.list.data[0].threads, SOME);
		}
		close_scene(&scene);
	}
	assert_int_equal(status, 0);
}

static void another_thread_of_the_same_number_is_another(void **state)
{
	struct scene scene;

	(void)state;
	open_scene(&scene);
	own_block(&scene.own, 0)->tid = getpid();
	sample(&scene);
	scene.thread.key.start_ns = 2;
	sample(&scene);
	assert_int_equal(scene.view->phases.threads.count, 1);
	assert_int_equal(scene.phases.list.data[0].threads, 2);
	close_scene(&scene);
}

static void a_look_that_fails_is_counted(void **state)
{
	struct run run = { 0 };
	struct phase_watch watch = { .run = &run };

	(void)state;
	phase_count_failure(&watch, 0);
	phase_count_failure(&watch, 3);
	assert_int_equal(run.losses.scopes, 0);
	phase_count_failure(&watch, -EIO);
	assert_int_equal(run.losses.scopes, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_that_nobody_knows_are_believed_in_bounds),
		cmocka_unit_test(a_thread_has_one_block),
		cmocka_unit_test(threads_that_have_no_block_any_more_are_forgotten),
		cmocka_unit_test(a_look_is_whole_or_fails),
		cmocka_unit_test(another_thread_of_the_same_number_is_another),
		cmocka_unit_test(a_look_that_fails_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
