/* SPDX-License-Identifier: MIT */
/*
 * Processes for a job; each says what must be seen of them.  It waits for a line before each of the
 * commands that follow, and answers each with one line of JSON:
 *
 *	children N MS		N children, one after the other, each of which uses so much CPU
 *	many N			N children at once, which wait until they are killed
 *	daemon MS		a grandchild that outlives its parent, and uses so much CPU
 *	memory MIB		holds so much more memory
 *	fail STATUS		a child that ends with it
 *	kill SIGNAL		a child that sends itself the signal
 *	use MS			uses so much CPU itself
 *	exit STATUS		ends
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_now(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void use(uint64_t ms)
{
	uint64_t end = clock_now(CLOCK_PROCESS_CPUTIME_ID) + ms * 1000000;

	while (clock_now(CLOCK_PROCESS_CPUTIME_ID) < end)
		;
}

static uint64_t usage_ns(int whose)
{
	struct rusage used;

	getrusage(whose, &used);
	return ((uint64_t)used.ru_utime.tv_sec + (uint64_t)used.ru_stime.tv_sec) * 1000000000 +
	       ((uint64_t)used.ru_utime.tv_usec + (uint64_t)used.ru_stime.tv_usec) * 1000;
}

static pid_t fork_or_end(void)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("fork");
		exit(99);
	}
	return pid;
}

static void children(uint64_t count, uint64_t ms)
{
	for (uint64_t i = 0; i < count; i++) {
		pid_t pid = fork_or_end();

		if (!pid) {
			use(ms);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

static void many(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (!fork_or_end()) {
			pause();
			_exit(0);
		}
}

static pid_t daemon_of(uint64_t ms)
{
	int ends[2];
	pid_t pid, grandchild = 0;

	if (pipe(ends) < 0)
		exit(99);
	pid = fork_or_end();
	if (!pid) {
		grandchild = fork_or_end();
		if (grandchild)
			_exit(0);
		use(ms);
		grandchild = getpid();
		if (write(ends[1], &grandchild, sizeof(grandchild)) < 0)
			_exit(98);
		pause();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	if (read(ends[0], &grandchild, sizeof(grandchild)) != sizeof(grandchild))
		exit(99);
	return grandchild;
}

static void end_child(int status, int number)
{
	pid_t pid = fork_or_end();

	if (!pid) {
		if (number)
			raise(number);
		_exit(status);
	}
	waitpid(pid, NULL, 0);
}

int main(void)
{
	char command[32];
	uint64_t one, other;
	char line[128];

	printf("{\"pid\": %d}\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		uint64_t self = usage_ns(RUSAGE_SELF), waited = usage_ns(RUSAGE_CHILDREN);
		pid_t daemon = 0;

		one = other = 0;
		if (sscanf(line, "%31s %" SCNu64 " %" SCNu64, command, &one, &other) < 1)
			continue;
		if (strcmp(command, "children") == 0)
			children(one, other);
		else if (strcmp(command, "many") == 0)
			many(one);
		else if (strcmp(command, "daemon") == 0)
			daemon = daemon_of(one);
		else if (strcmp(command, "memory") == 0)
			memset(malloc(one << 20), 1, one << 20);
		else if (strcmp(command, "fail") == 0)
			end_child((int)one, 0);
		else if (strcmp(command, "kill") == 0)
			end_child(0, (int)one);
		else if (strcmp(command, "use") == 0)
			use(one);
		else if (strcmp(command, "exit") == 0)
			return (int)one;
		printf("{\"self_ns\": %" PRIu64 ", \"children_ns\": %" PRIu64 ", \"daemon\": %d}\n",
		       usage_ns(RUSAGE_SELF) - self, usage_ns(RUSAGE_CHILDREN) - waited, daemon);
		fflush(stdout);
	}
	return 0;
}
