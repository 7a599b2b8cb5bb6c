/* SPDX-License-Identifier: MIT */
/*
 * Load for the benchmark: PROCESSES processes of THREADS threads each, all asleep.
 *
 * Prints "ready" when every thread exists, stays until its standard input ends, then takes all of
 * them away.  The processes also die with this one, whatever ends it.
 */
#include <errno.h>
#include <limits.h>
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

/* Little more than pthread_create() insists on: 30,000 stacks of the default size are too many. */
#define STACK_BYTES (32 * 1024)

static void *sleep_forever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static int start_threads(long count)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	while (count-- > 0 && !error)
		error = pthread_create(&thread, &attributes, sleep_forever, NULL);
	pthread_attr_destroy(&attributes);
	return -error;
}

/* The life of one process: its main thread is one of the threads. */
static void run_process(long threads, pid_t parent, int ready)
{
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	error = start_threads(threads - 1);
	if (error)
		fprintf(stderr,
			"cannot start a thread: %s (see kernel.threads-max, kernel.pid_max, "
			"ulimit -u)\n",
			strerror(-error));
	else if (write(ready, "", 1) == 1)
		sleep_forever(NULL);
	_exit(1);
}

static int start_processes(long processes, long threads, int ready, pid_t *ret_pids)
{
	pid_t parent = getpid();
	long i;

	for (i = 0; i < processes; i++) {
		ret_pids[i] = fork();
		if (ret_pids[i] < 0)
			return -errno;
		if (ret_pids[i] == 0)
			run_process(threads, parent, ready);
	}
	return 0;
}

/* Whether every process reported; the pipe ends early only if one of them gave up. */
static bool wait_until_ready(long processes, int ready)
{
	char byte;

	while (processes > 0 && read(ready, &byte, 1) == 1)
		processes--;
	return processes == 0;
}

static void wait_for_end_of_input(void)
{
	char buffer[64];

	while (read(STDIN_FILENO, buffer, sizeof(buffer)) > 0)
		;
}

static void end_processes(long processes, const pid_t *pids)
{
	long i;

	for (i = 0; i < processes && pids[i] > 0; i++)
		kill(pids[i], SIGKILL);
	for (i = 0; i < processes && pids[i] > 0; i++)
		waitpid(pids[i], NULL, 0);
}

static void raise_limit(int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(resource, &limit);
	}
}

static int run(long processes, long threads, pid_t *pids)
{
	int ready[2], result;
	bool complete = false;

	if (pipe(ready) < 0)
		return -errno;
	result = start_processes(processes, threads, ready[1], pids);
	close(ready[1]);
	if (result == 0)
		complete = wait_until_ready(processes, ready[0]);
	if (complete) {
		puts("ready");
		fflush(stdout);
		wait_for_end_of_input();
	}
	end_processes(processes, pids);
	close(ready[0]);
	return complete ? 0 : result < 0 ? result : -EAGAIN;
}

static long positive(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	return *end || value < 1 || value > INT_MAX ? 0 : value;
}

int main(int argc, char **argv)
{
	long processes = argc == 3 ? positive(argv[1]) : 0;
	long threads = argc == 3 ? positive(argv[2]) : 0;
	pid_t *pids;
	int result;

	if (!processes || !threads) {
		fprintf(stderr, "usage: %s PROCESSES THREADS-IN-EACH\n", argv[0]);
		return 2;
	}
	raise_limit(RLIMIT_NPROC);
	pids = calloc((size_t)processes, sizeof(*pids));
	if (!pids)
		return 1;
	result = run(processes, threads, pids);
	if (result < 0)
		fprintf(stderr, "cannot start %ld processes of %ld threads: %s\n", processes,
			threads, strerror(-result));
	free(pids);
	return result < 0;
}
