/* SPDX-License-Identifier: MIT */
/* Of a user with many active threads, a walk looks at some, and the next one at others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "collect/capture.h"
#include "host/host.h"
#include "model/record/activity.h"
#include "patience.h"

#define STRANGER 54321
#define THREADS 20
#define SHARE 5

struct scene {
	struct host *host;
	struct sampling *sampling;
	const char *lacks;
	pid_t child;
	int held; /* while this is open, the child's threads are active */
};

/* A thread whose vfork() is not over waits uninterruptibly: each walk finds it active, whenever it comes. */
static void *be_active(void *argument)
{
	const int *until = argument;
	char nothing;

	if (vfork() == 0)
		_exit(read(*until, &nothing, 1) != 0);
	return NULL;
}

static void have_active_threads(int until)
{
	pthread_t thread;

	if (setuid(STRANGER) < 0)
		_exit(1);
	for (int i = 1; i < THREADS; i++)
		if (pthread_create(&thread, NULL, be_active, &until) != 0)
			_exit(1);
	be_active(&until);
}

static int make(void **state)
{
	static struct scene scene;
	const struct capture_options options = { .activity = true, .no_jemalloc_oracle = true };
	struct error error = { 0 };
	int ends[2];

	*state = &scene;
	assert_int_equal(host_open(&scene.host, NULL, &error), 0);
	assert_int_equal(sampling_open(scene.host, &options, &scene.sampling, &error), 0);
	scene.lacks = geteuid() == 0 ? sampling_lacks_activity(scene.sampling) : "not root";
	assert_int_equal(pipe(ends), 0);
	scene.held = ends[1];
	scene.child = fork();
	assert_true(scene.child >= 0);
	if (scene.child == 0) {
		close(ends[1]);
		have_active_threads(ends[0]);
		_exit(0);
	}
	close(ends[0]);
	return 0;
}

static int drop(void **state)
{
	const struct scene *scene = *state;

	close(scene->held);
	kill(scene->child, SIGKILL);
	waitpid(scene->child, NULL, 0);
	sampling_close(scene->sampling);
	host_close(scene->host);
	return 0;
}

/* How many threads of the child a walk has; of those it marks which have been seen. */
static size_t look(const struct scene *scene, int32_t seen[THREADS], size_t *ret_seen)
{
	const struct activity *activity;
	struct error error = { 0 };
	size_t count = 0;

	if (sampling_take_activity(scene->sampling, &error) < 0)
		fail_msg("%s", error.message);
	activity = sampling_activity(scene->sampling);
	for (size_t i = 0; i < activity->samples.count; i++) {
		const struct activity_sample *sample = &activity->samples.data[i];
		size_t place = 0;

		if (sample->pid != scene->child)
			continue;
		count++;
		while (place < *ret_seen && seen[place] != sample->tid)
			place++;
		if (place == *ret_seen && place < THREADS)
			seen[(*ret_seen)++] = sample->tid;
	}
	return count;
}

static void look_at_share(const struct scene *scene, int32_t seen[THREADS], size_t *ret_seen)
{
	assert_true(look(scene, seen, ret_seen) <= SHARE);
	assert_true(sampling_activity(scene->sampling)->threads_left_out >= THREADS - SHARE);
}

static void each_walk_has_a_share_of_a_users_threads(void **state)
{
	const struct scene *scene = *state;
	int32_t seen[THREADS];
	size_t seen_count = 0;

	if (scene->lacks)
		return; /* without BPF there is no activity */
	WAIT_UNTIL(look(scene, seen, &seen_count) == THREADS);
	assert_int_equal(sampling_activity(scene->sampling)->threads_left_out, 0);
	assert_true(sampling_activity(scene->sampling)->walk_ns > 0);
	sampling_limit_activity(scene->sampling, SHARE);
	seen_count = 0;
	WAIT_UNTIL((look_at_share(scene, seen, &seen_count), seen_count == THREADS));
	sampling_limit_activity(scene->sampling, 0);
	assert_int_equal(look(scene, seen, &seen_count), THREADS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_walk_has_a_share_of_a_users_threads, make,
						drop),
	};

	return cmocka_run_group_tests_name("activity_share", tests, NULL, NULL);
}
