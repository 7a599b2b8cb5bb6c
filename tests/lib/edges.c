/* SPDX-License-Identifier: MIT */
/*
 * A program in hard places: edges SCENE
 *
 * Prints one line of what came of it; see test_edges.py for the places.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <taskscope.h>

#include "lib/scope/area.h"
#include "lib/scope/ticks.h"

enum { HANG_SECONDS = 180 };

/* Whether a scope is recorded, and whether somebody outside could read it. */
static void tell(const char *where)
{
	struct taskscope_progress progress = taskscope_begin("told", 10);
	const struct scope_frame *frame = progress.frame;

	taskscope_advance(&progress, 3);
	printf("%s: %s, %s\n", where,
	       progress.scope.handle && frame->count == 3 ? "recorded" : "not recorded",
	       area.fd >= 0 ? "shared" : "not shared");
	fflush(stdout);
	taskscope_end(&progress);
}

static int scene_start(void)
{
	int error = taskscope_start(NULL);

	tell(error ? strerrorname_np(-error) : "started");
	return 0;
}

static int scene_linked(void)
{
	tell("linked");
	return 0;
}

static void limit(int resource, rlim_t value)
{
	struct rlimit limit = { value, value };

	setrlimit(resource, &limit);
}

static int scene_no_descriptors(void)
{
	limit(RLIMIT_NOFILE, 3);
	return scene_start();
}

static int scene_few_descriptors(void)
{
	limit(RLIMIT_NOFILE, 50);
	return scene_start();
}

static int scene_small_files(void)
{
	limit(RLIMIT_FSIZE, 4096);
	return scene_start();
}

static int scene_no_memory(void)
{
	limit(RLIMIT_AS, 4096);
	return scene_start();
}

/* The program itself has taken all that there are. */
static int scene_no_keys(void)
{
	pthread_key_t key;

	while (pthread_key_create(&key, NULL) == 0)
		;
	return scene_start();
}

static int scene_forbidden_ticks(void)
{
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
	ticks_choose();
	prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
	puts(ticks_clock == SCOPE_CLOCK_TSC ? "a fault" : "another clock");
	return 0;
}

/* No thread of ours starts in this program: there is none to be had. */
static bool has_no_threads;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *argument)
{
	if (has_no_threads)
		return EAGAIN;
	return __real_pthread_create(thread, attributes, run, argument);
}

static void (*when_logged)(void);

static void log_line(void *context, enum taskscope_level level, const char *line)
{
	(void)context;
	if (level != TASKSCOPE_WARNING)
		return;
	printf("log: %s\n", line);
	fflush(stdout);
	if (when_logged)
		when_logged();
}

static int scene_no_threads(void)
{
	has_no_threads = true;
	return scene_start();
}

/* A log function that does what nobody should have to wait for. */
static int log_and(void (*act)(void))
{
	struct taskscope_options options = { .size = sizeof(options), .log = log_line };

	alarm(HANG_SECONDS);
	when_logged = act;
	taskscope_start(&options);
	tell("started");
	taskscope_stop();
	return 0;
}

static int scene_log(void)
{
	return log_and(NULL);
}

static void fork_and_wait(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void exit_well(void)
{
	exit(0);
}

static int scene_log_stops(void)
{
	has_no_threads = true;
	return log_and(taskscope_stop);
}

static int scene_log_forks(void)
{
	has_no_threads = true;
	return log_and(fork_and_wait);
}

static int scene_log_exits(void)
{
	has_no_threads = true;
	return log_and(exit_well);
}

/* There is a thread for the parent, and none for its child. */
static int scene_child_log_stops(void)
{
	struct taskscope_options options = { .size = sizeof(options), .log = log_line };
	pid_t pid;
	int status;

	taskscope_start(&options);
	taskscope_leave(taskscope_enter("parent"));
	pid = fork();
	if (pid == 0) {
		alarm(HANG_SECONDS);
		when_logged = taskscope_stop;
		has_no_threads = true;
		tell("child");
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid ? status : 1;
}

static void tell_before_the_stop(void)
{
	tell("before");
}

static void tell_after_the_stop(void)
{
	tell("after");
}

/* Handlers run in the reverse order: the library's own is between these two. */
static int scene_exit(void)
{
	atexit(tell_after_the_stop);
	taskscope_start(NULL);
	atexit(tell_before_the_stop);
	taskscope_enter("left open");
	return 0;
}

static void *work_for_a_while(void *argument)
{
	struct taskscope_scope scope = taskscope_enter("worker");

	usleep(300 * 1000);
	taskscope_leave(scope);
	return argument;
}

/* The first thread ends before the program does. */
static int end_the_first_thread(bool has_worker)
{
	pthread_t worker;

	alarm(HANG_SECONDS);
	atexit(tell_after_the_stop);
	taskscope_start(NULL);
	taskscope_leave(taskscope_enter("main"));
	if (has_worker && pthread_create(&worker, NULL, work_for_a_while, NULL) == 0)
		pthread_detach(worker);
	pthread_exit(NULL);
}

static int scene_first_thread_ends(void)
{
	return end_the_first_thread(false);
}

static int scene_worker_ends_last(void)
{
	return end_the_first_thread(true);
}

/* A signal that came too late for the program's threads is not lost. */
static void signal_itself(void)
{
	kill(getpid(), SIGTERM);
	pause();
}

static int scene_signal_at_the_end(void)
{
	atexit(signal_itself);
	return end_the_first_thread(false);
}

/* The child ends like any program, and has nothing to say unless it used scopes. */
static int fork_and_exit(bool uses_scopes)
{
	pid_t pid;
	int status;

	taskscope_start(NULL);
	taskscope_enter("parent");
	pid = fork();
	if (pid == 0 && uses_scopes)
		taskscope_enter("child");
	if (pid == 0)
		exit(0);
	printf("%d %d\n", getpid(), pid);
	return waitpid(pid, &status, 0) == pid ? status : 1;
}

static int scene_silent_child(void)
{
	return fork_and_exit(false);
}

static int scene_child(void)
{
	return fork_and_exit(true);
}

static const struct {
	const char *name;
	int (*run)(void);
} scenes[] = {
	{ "start", scene_start },
	{ "linked", scene_linked },
	{ "no-descriptors", scene_no_descriptors },
	{ "few-descriptors", scene_few_descriptors },
	{ "small-files", scene_small_files },
	{ "no-memory", scene_no_memory },
	{ "no-keys", scene_no_keys },
	{ "no-threads", scene_no_threads },
	{ "forbidden-ticks", scene_forbidden_ticks },
	{ "log", scene_log },
	{ "log-stops", scene_log_stops },
	{ "log-forks", scene_log_forks },
	{ "log-exits", scene_log_exits },
	{ "child-log-stops", scene_child_log_stops },
	{ "exit", scene_exit },
	{ "first-thread-ends", scene_first_thread_ends },
	{ "worker-ends-last", scene_worker_ends_last },
	{ "signal-at-the-end", scene_signal_at_the_end },
	{ "silent-child", scene_silent_child },
	{ "child", scene_child },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(scenes) / sizeof(*scenes); i++) {
		if (strcmp(argv[1], scenes[i].name) == 0)
			return scenes[i].run();
	}
	return 2;
}
