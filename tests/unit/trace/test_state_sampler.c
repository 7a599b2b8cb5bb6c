/* SPDX-License-Identifier: MIT */
/* Samples of what children of this test wait for, and what taking them may cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/host.h"
#include "trace/proc/scan.h"

#define MS NS_PER_MS
#define MANY 200 /* threads that do not fit in one sample */

struct scene {
	struct host *host;
	struct members members;
	int pipe[2];
	pid_t children[MANY];
	int32_t pids[MANY];
	size_t count;
	uint64_t now_ns;
};

static int open_scene(void **state)
{
	static struct scene scene;
	struct error error = { 0 };

	scene = (struct scene){ .now_ns = monotonic_ns() };
	if (host_open(&scene.host, NULL, &error) < 0 || pipe2(scene.pipe, O_CLOEXEC) < 0)
		return -1;
	*state = &scene;
	return members_open(&scene.members, scene.host, &error);
}

static int close_scene(void **state)
{
	struct scene *scene = *state;

	members_clear(&scene->members);
	for (size_t i = 0; i < scene->count; i++) {
		kill(scene->children[i], SIGKILL);
		waitpid(scene->children[i], NULL, 0);
	}
	close(scene->pipe[0]);
	close(scene->pipe[1]);
	host_close(scene->host);
	return 0;
}

/* A child that waits in this function until it is killed. */
static void begin(struct scene *scene, void (*wait)(const struct scene *))
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		wait(scene);
		_exit(0);
	}
	scene->pids[scene->count] = child;
	scene->children[scene->count++] = child;
}

static void follow(struct scene *scene)
{
	struct error error = { 0 };

	assert_int_equal(scan_follow(&scene->members, scene->pids, scene->count, &error), 0);
}

/* Samples again and again, as if 10 ms passed each time, until it was found so. */
static void await(struct scene *scene, enum wait_reason reason)
{
	const struct member_thread *thread = scene->members.list.data[0]->threads.data[0];

	while (!thread->waits.found[reason])
		state_sampler_take(&scene->members, scene->now_ns += 10 * MS);
}

static void read_pipe(const struct scene *scene)
{
	char byte;

	(void)!read(scene->pipe[0], &byte, 1);
}

static void sleep_long(const struct scene *scene)
{
	(void)scene;
	sleep(1000);
}

static void spin(const struct scene *scene)
{
	volatile bool goes_on = scene != NULL;

	while (goes_on)
		;
}

static void a_reader_is_found_at_its_pipe(void **state)
{
	struct scene *scene = *state;

	begin(scene, read_pipe);
	follow(scene);
	await(scene, WAIT_PIPE);
	assert_int_equal(scene->members.states.open, 1);
}

static void a_sleeper_that_is_stopped_is_found_stopped(void **state)
{
	struct scene *scene = *state;

	begin(scene, sleep_long);
	follow(scene);
	await(scene, WAIT_TIMER);
	kill(scene->children[0], SIGSTOP);
	await(scene, WAIT_STOPPED);
}

static void one_that_computes_is_sampled_and_never_blocked(void **state)
{
	struct scene *scene = *state;
	struct sampled_waits *waits_of;
	uint32_t sum = 0;

	begin(scene, spin);
	follow(scene);
	waits_of = &scene->members.list.data[0]->threads.data[0]->waits;
	while (waits_of->running < 20)
		state_sampler_take(&scene->members, scene->now_ns += 10 * MS);
	for (int i = 0; i < WAIT_REASON_COUNT; i++)
		sum += waits_of->found[i];
	assert_true(sum <= 1); /* it may have been found before it computed */
}

static void files_of_one_that_is_gone_are_closed(void **state)
{
	struct scene *scene = *state;

	begin(scene, sleep_long);
	follow(scene);
	await(scene, WAIT_TIMER);
	kill(scene->children[0], SIGKILL);
	waitpid(scene->children[0], NULL, 0);
	while (scene->members.states.open)
		state_sampler_take(&scene->members, scene->now_ns += 10 * MS);
	assert_false(scene->members.list.data[0]->threads.data[0]->files.is_open);
}

/* All get their turn, in samples that each take few and are further apart. */
static void many_take_turns_within_the_budget(void **state)
{
	struct scene *scene = *state;
	struct members *members = &scene->members;
	uint64_t most = 0, used_ns, before_ns;
	size_t sampled = 0, rounds = 0;

	for (size_t i = 0; i < MANY; i++)
		begin(scene, sleep_long);
	follow(scene);
	before_ns = scene->now_ns;
	used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	while (sampled < MANY && rounds++ < 100000) {
		uint64_t due = state_sampler_take(members, scene->now_ns);

		if (due - scene->now_ns > most)
			most = due - scene->now_ns;
		scene->now_ns = due;
		sampled = 0;
		for (size_t i = 0; i < MANY; i++)
			sampled += members->list.data[i]->threads.data[0]->waits.is_sampled;
	}
	used_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - used_ns;
	assert_int_equal(sampled, MANY);
	assert_true(rounds > 2);
	assert_true(most > 15 * MS);
	assert_true(members->states.open <= 96);
	assert_true(used_ns < (scene->now_ns - before_ns) / 10);
}

static void counters_from_the_start_are_not_sampled(void **state)
{
	struct scene *scene = *state;

	scene->members.since_start = true;
	assert_true(state_sampler_take(&scene->members, scene->now_ns) == UINT64_MAX);
}

#define IN_SCENE(test) cmocka_unit_test_setup_teardown(test, open_scene, close_scene)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_SCENE(a_reader_is_found_at_its_pipe),
		IN_SCENE(a_sleeper_that_is_stopped_is_found_stopped),
		IN_SCENE(one_that_computes_is_sampled_and_never_blocked),
		IN_SCENE(files_of_one_that_is_gone_are_closed),
		IN_SCENE(many_take_turns_within_the_budget),
		IN_SCENE(counters_from_the_start_are_not_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
