/* SPDX-License-Identifier: MIT */
/*
 * Processes whose lives are known.
 *
 *	life_workload storm COUNT PER_SECOND	children that execute this program and end with codes 0 to 99
 *	life_workload burn COUNT MICROSECONDS	children that use the CPU for so long
 *	life_workload threads COUNT MICROSECONDS	threads that do, of one child, whose leader ends first
 *	life_workload signals			a child for each of some signals, sent to it by this process
 *	life_workload rename NAME		gives itself a name
 *	life_workload reuse COUNT		children one after the other, then one with a number used before;
 *						run it as the first process of a PID namespace
 *	life_workload memory MEGABYTES		touches so much memory
 *	life_workload exit CODE
 *
 * Each prints what must be seen, on standard error.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const char *program;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec then = { .tv_sec = (time_t)(ns / 1000000000),
				 .tv_nsec = (long)(ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR)
		continue;
}

static pid_t start_exit(int code)
{
	char text[16];
	char *arguments[] = { (char *)program, (char *)"exit", text, NULL };
	pid_t pid;

	snprintf(text, sizeof(text), "%d", code);
	return posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ) == 0 ? pid : -1;
}

static int wait_for_one(int options)
{
	return waitpid(-1, NULL, options) > 0;
}

static int storm(uint64_t count, uint64_t per_second)
{
	uint64_t begin = now_ns(CLOCK_MONOTONIC);

	for (uint64_t i = 0; i < count; i++) {
		if (per_second)
			sleep_until(begin + i * 1000000000 / per_second);
		if (start_exit((int)(i % 100)) < 0)
			return 2;
		while (wait_for_one(per_second ? WNOHANG : 0) && per_second)
			continue;
	}
	while (wait_for_one(0))
		continue;
	printf("made=%" PRIu64 " seconds=%.3f\n", count,
	       (double)(now_ns(CLOCK_MONOTONIC) - begin) / 1e9);
	return 0;
}

static void burn(uint64_t microseconds)
{
	uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + microseconds * 1000;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		continue;
}

static void print_children(uint64_t count)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	printf("made=%" PRIu64 " cpu_ns=%" PRIu64 "\n", count,
	       ((uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		(uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)) *
		       1000);
}

static int burn_children(uint64_t count, uint64_t microseconds)
{
	for (uint64_t i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			burn(microseconds);
			_exit((int)(i % 100));
		}
		if (pid < 0)
			return 2;
		wait_for_one(0);
	}
	print_children(count);
	return 0;
}

static void *burn_thread(void *microseconds)
{
	burn((uint64_t)(uintptr_t)microseconds);
	return NULL;
}

/* Detached threads, so that the kernel alone knows what they used; the leader does not wait. */
static int burn_threads(uint64_t count, uint64_t microseconds)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		for (uint64_t i = 0; i < count; i++) {
			pthread_t thread;

			if (pthread_create(&thread, NULL, burn_thread,
					   (void *)(uintptr_t)microseconds) != 0)
				_exit(1);
			pthread_detach(thread);
		}
		syscall(SYS_exit, 0); /* of this thread alone */
	}
	waitpid(pid, &status, 0);
	printf("child=%d status=%d ", pid, status);
	print_children(count);
	return 0;
}

static int send_signals(void)
{
	static const int signals[] = { SIGTERM, SIGKILL, SIGINT, SIGSEGV, SIGUSR1 };
	struct rlimit no_core = { 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			for (;;)
				pause();
		kill(pid, signals[i]);
		waitpid(pid, &status, 0);
		printf("child=%d signal=%d sender=%d status=%d\n", pid, signals[i], getpid(),
		       status);
	}
	return 0;
}

static int rename_self(const char *name)
{
	prctl(PR_SET_NAME, name);
	printf("pid=%d\n", getpid());
	return 0;
}

static int reuse_number(uint64_t count)
{
	FILE *next;
	pid_t first = 0;

	for (uint64_t i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit((int)i);
		if (pid < 0)
			return 2;
		waitpid(pid, NULL, 0);
		if (!first)
			first = pid;
		if (pid != first)
			return 3;
		usleep(20000); /* more than a tick: start times differ */
		next = fopen("/proc/sys/kernel/ns_last_pid", "w");
		if (!next || fprintf(next, "%d", first - 1) < 0 || fclose(next) != 0)
			return 4;
	}
	printf("made=%" PRIu64 " inner=%d\n", count, first);
	return 0;
}

static int touch_memory(uint64_t megabytes)
{
	size_t bytes = (size_t)megabytes << 20;
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 2;
	memset(memory, 1, bytes);
	printf("bytes=%zu\n", bytes);
	return 0;
}

int main(int count, char **arguments)
{
	const char *what = count > 1 ? arguments[1] : "";
	uint64_t first = count > 2 ? strtoull(arguments[2], NULL, 10) : 0;
	uint64_t second = count > 3 ? strtoull(arguments[3], NULL, 10) : 0;

	program = arguments[0];
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return 2;
	if (strcmp(what, "exit") == 0)
		return (int)first;
	if (strcmp(what, "storm") == 0)
		return storm(first, second);
	if (strcmp(what, "burn") == 0)
		return burn_children(first, second);
	if (strcmp(what, "threads") == 0)
		return burn_threads(first, second);
	if (strcmp(what, "signals") == 0)
		return send_signals();
	if (strcmp(what, "rename") == 0 && count > 2)
		return rename_self(arguments[2]);
	if (strcmp(what, "reuse") == 0)
		return reuse_number(first);
	if (strcmp(what, "memory") == 0)
		return touch_memory(first);
	fprintf(stderr, "life_workload: bad arguments\n");
	return 2;
}
