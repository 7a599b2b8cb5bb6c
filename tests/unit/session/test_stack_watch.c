/* SPDX-License-Identifier: MIT */
/* Stacks while a tree is watched: every one that was lost on the way is counted in the profile. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/host.h"
#include "model/profile/profile.h"
#include "model/tree/run.h"
#include "session/stack/stack_watch.h"
#include "trace/tracer.h"

static int fail_to_drain(void *state, const struct tracer_stack_sink *sink)
{
	(void)state;
	(void)sink;
	return -EIO;
}

static void tell_losses(void *state, struct tracer_stack_losses *ret)
{
	(void)state;
	*ret = (struct tracer_stack_losses){
		.dropped = 2, .dropped_ns = 30, .unread = 4, .images = 5, .unseen = 6, .wakers = 7
	};
}

static const struct tracer_kind kind = { .drain_stacks = fail_to_drain,
					 .stack_losses = tell_losses };
static const struct tracer tracer = { .kind = &kind };
static const struct tracer_stack_options options = { .frequency_hz = 97, .off_cpu_min_ns = 11 };

struct scene {
	struct host *host;
	struct run *run;
	struct stack_watch *watch;
};

static void begin(struct scene *scene, enum source_state stacks)
{
	*scene = (struct scene){ 0 };
	assert_int_equal(host_open(&scene->host, NULL, NULL), 0);
	assert_int_equal(run_new(&scene->run), 0);
	assert_int_equal(run_set_source(scene->run, "stacks", stacks, NULL), 0);
	assert_int_equal(
		stack_watch_open(scene->host, &tracer, &options, scene->run, &scene->watch), 0);
}

static void end(struct scene *scene)
{
	assert_true(stack_watch_close(scene->watch));
	run_free(scene->run);
	host_close(scene->host);
}

static void every_loss_is_in_the_profile(void **state)
{
	struct scene scene;
	const struct profile *profile;

	(void)state;
	begin(&scene, SOURCE_OK);
	assert_non_null(scene.watch);
	stack_watch_drain(scene.watch, NULL);
	stack_watch_drain(scene.watch, NULL);
	assert_int_equal(stack_watch_finish(scene.watch), 0);
	profile = scene.run->profile;
	assert_int_equal(profile->losses.dropped, 2 + 2); /* a drain that fails is one, too */
	assert_int_equal(profile->losses.dropped_ns, 30);
	assert_int_equal(profile->losses.unread, 4);
	assert_int_equal(profile->losses.mappings, 5);
	assert_int_equal(profile->losses.unseen, 6);
	assert_int_equal(profile->losses.wakers, 7);
	assert_int_equal(profile->frequency_hz, 97);
	assert_int_equal(profile->off_cpu_min_ns, 11);
	end(&scene);
}

static void without_stacks_there_is_nothing_to_do(void **state)
{
	struct scene scene;
	struct run_self self = { 0 };

	(void)state;
	begin(&scene, SOURCE_UNAVAILABLE);
	assert_null(scene.watch);
	stack_watch_drain(scene.watch, NULL);
	stack_watch_add_cost(scene.watch, &self);
	assert_int_equal(stack_watch_finish(scene.watch), 0);
	assert_null(scene.run->profile);
	end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_loss_is_in_the_profile),
		cmocka_unit_test(without_stacks_there_is_nothing_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
