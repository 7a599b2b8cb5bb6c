/* SPDX-License-Identifier: MIT */
/* The scopes of this host's processes: those of the test itself, made by hand. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "own_scopes.h"

#include "base/error.h"
#include "host/host.h"
#include "model/scope/scope_survey.h"
#include "session/phase/scope_survey.h"

#define PLAIN_USER 12345
#define GONE INT32_MAX /* a number that no process has */

struct scene {
	struct own_scopes own;
	struct host *host;
	struct scope_survey survey;
	struct error error;
};

static struct scene scene;

static int set_up(void **state)
{
	(void)state;
	memset(&scene, 0, sizeof(scene));
	own_scopes_open(&scene.own);
	return host_open(&scene.host, NULL, &scene.error);
}

static int tear_down(void **state)
{
	(void)state;
	scope_survey_free(&scene.survey);
	host_close(scene.host);
	own_scopes_close(&scene.own);
	return 0;
}

static void *sleep_for_good(void *context)
{
	volatile pid_t *tid = context;

	prctl(PR_SET_NAME, SCOPE_HEARTBEAT_NAME);
	*tid = (pid_t)syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

static const struct scope_survey_process *own_process(void)
{
	for (size_t i = 0; i < scene.survey.processes.count; i++)
		if (scene.survey.processes.data[i].scopes.pid == getpid())
			return &scene.survey.processes.data[i];
	return NULL;
}

static void threads_have_the_kernels_names_and_those_that_are_gone_are_left_out(void **state)
{
	const struct scope_survey_process *found;
	volatile pid_t tid = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, sleep_for_good, (void *)&tid), 0);
	while (!tid)
		usleep(100);
	prctl(PR_SET_NAME, "surveyed");
	own_block(&scene.own, 0)->tid = tid;
	own_block(&scene.own, 1)->tid = GONE;
	own_block(&scene.own, 2)->tid = getpid();
	own_block(&scene.own, 3)->tid = tid; /* a thread has one block */
	do {				     /* until the other sleeps */
		scope_survey_free(&scene.survey);
		scene.survey = (struct scope_survey){ 0 };
		assert_int_equal(scope_survey_process(scene.host, getpid(), false, &scene.survey,
						      &scene.error),
				 0);
		found = own_process();
		assert_non_null(found);
		assert_int_equal(found->threads.count, 2);
	} while (found->threads.data[1].state != 'S');
	assert_string_equal(found->comm, "surveyed");
	assert_int_equal(found->scopes.tasks.count, 2);
	assert_int_equal(found->scopes.tasks.data[0].tid, getpid());
	assert_string_equal(found->threads.data[0].comm, "surveyed");
	assert_int_equal(found->threads.data[0].state, 'R');
	assert_int_equal(found->scopes.tasks.data[1].tid, tid);
	assert_string_equal(found->threads.data[1].comm, SCOPE_HEARTBEAT_NAME);
}

static void what_has_no_scopes_says_so(void **state)
{
	pid_t other;
	int status;

	(void)state;
	other = fork();
	if (other == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl("/bin/sleep", "sleep", "1000", (char *)NULL);
		_exit(1);
	}
	/* Until it is another program it has the memory of this one. */
	do {
		scene.error = (struct error){ 0 };
		status =
			scope_survey_process(scene.host, other, false, &scene.survey, &scene.error);
	} while (status != -ENOENT);
	assert_non_null(strstr(scene.error.message, " has no scopes: "));
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	assert_int_equal(
		scope_survey_process(scene.host, other, false, &scene.survey, &scene.error),
		-ESRCH);
}

static void all_processes_are_searched(void **state)
{
	(void)state;
	own_block(&scene.own, 0)->tid = getpid();
	assert_int_equal(scope_survey_all(scene.host, false, &scene.survey, &scene.error), 0);
	assert_non_null(own_process());
}

static void memory_that_makes_no_sense_is_counted(void **state)
{
	uint64_t before;

	(void)state;
	assert_int_equal(scope_survey_all(scene.host, false, &scene.survey, &scene.error), 0);
	before = scene.survey.broken;
	scope_survey_free(&scene.survey);
	scene.survey = (struct scope_survey){ 0 };
	((struct scope_header *)scene.own.memory)->version = SCOPE_VERSION + 1000;
	assert_int_equal(scope_survey_all(scene.host, false, &scene.survey, &scene.error), 0);
	assert_null(own_process());
	assert_true(scene.survey.broken >= before);
	assert_true(scene.survey.broken > 0);
}

/* Only root has somebody to be hidden from. */
static void what_may_not_be_read_is_counted(void **state)
{
	volatile pid_t tid = 0;
	pthread_t thread;
	int status;
	pid_t child;

	(void)state;
	if (geteuid() != 0)
		return;
	assert_int_equal(pthread_create(&thread, NULL, sleep_for_good, (void *)&tid), 0);
	while (!tid)
		usleep(100);
	child = fork();
	if (child == 0) {
		struct error error = { 0 };

		if (setuid(PLAIN_USER) < 0 ||
		    scope_survey_all(scene.host, false, &scene.survey, &error) < 0)
			_exit(1);
		/* Kernel threads have no memory that anybody could be denied. */
		_exit(scene.survey.denied > 0 && scene.survey.hidden > 0 &&
				      scene.survey.hidden < scene.survey.denied ?
			      0 :
			      2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(threads_have_the_kernels_names_and_those_that_are_gone_are_left_out),
		TEST(what_has_no_scopes_says_so),
		TEST(all_processes_are_searched),
		TEST(memory_that_makes_no_sense_is_counted),
		TEST(what_may_not_be_read_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
