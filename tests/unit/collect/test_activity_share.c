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
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "collect/capture.h"
#include "host/host.h"
#include "model/record/activity.h"

#define STRANGER 54321
#define THREADS 20
#define SHARE 5
#define TRIES 1000

struct scene {
	struct host *host;
	struct sampling *sampling;
	const char *lacks;
	pid_t child;
};

static void *nap(void *unused)
{
	for (;;)
		usleep(200);
	return unused;
}

static void be_active(void)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setuid(STRANGER) < 0)
		_exit(1);
	for (int i = 1; i < THREADS; i++)
		if (pthread_create(&thread, NULL, nap, NULL) != 0)
			_exit(1);
	nap(NULL);
}

static int make(void **state)
{
	static struct scene scene;
	const struct capture_options options = { .activity = true, .no_jemalloc_oracle = true };
	struct error error = { 0 };

	*state = &scene;
	assert_int_equal(host_open(&scene.host, NULL, &error), 0);
	assert_int_equal(sampling_open(scene.host, &options, &scene.sampling, &error), 0);
	scene.lacks = geteuid() == 0 ? sampling_lacks_activity(scene.sampling) : "not root";
	scene.child = fork();
	assert_true(scene.child >= 0);
	if (scene.child == 0)
		be_active();
	return 0;
}

static int drop(void **state)
{
	const struct scene *scene = *state;

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

static void each_walk_has_a_share_of_a_users_threads(void **state)
{
	const struct scene *scene = *state;
	int32_t seen[THREADS];
	size_t seen_count = 0;
	int tries = 0;

	if (scene->lacks)
		return; /* without BPF there is no activity */
	while (look(scene, seen, &seen_count) < THREADS)
		assert_true(++tries < TRIES);
	assert_int_equal(sampling_activity(scene->sampling)->threads_left_out, 0);
	assert_true(sampling_activity(scene->sampling)->walk_ns > 0);
	sampling_limit_activity(scene->sampling, SHARE);
	seen_count = 0;
	for (tries = 0; seen_count < THREADS; tries++) {
		size_t found = look(scene, seen, &seen_count);

		assert_true(found <= SHARE);
		assert_true(tries < TRIES);
	}
	/* All but a few were active, so all but a share of them are counted. */
	for (tries = 0; sampling_activity(scene->sampling)->threads_left_out < THREADS - SHARE;
	     tries++) {
		look(scene, seen, &seen_count);
		assert_true(tries < TRIES);
	}
	sampling_limit_activity(scene->sampling, 0);
	while (look(scene, seen, &seen_count) < THREADS)
		assert_true(++tries < 2 * TRIES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_walk_has_a_share_of_a_users_threads, make,
						drop),
	};

	return cmocka_run_group_tests_name("activity_share", tests, NULL, NULL);
}
