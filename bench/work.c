/* SPDX-License-Identifier: MIT */
/*
 * Commands to be watched while they work: usage: work loop ROUNDS | timed ROUNDS | storm COUNT | herd COUNT MS | clock
 *
 *	loop	computes; always the same work for a number of rounds
 *	timed	the same, and prints the nanoseconds of CPU time that it took
 *	storm	starts /bin/true so many times, one after another, and prints the CPU time of all
 *	herd	has so many children that sleep for so long
 *	clock	prints CLOCK_MONOTONIC as early as it can
 */
#include <inttypes.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int print_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%" PRIu64 "\n", (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
	return 0;
}

static int loop(unsigned long rounds)
{
	volatile uint64_t state = 1;

	for (unsigned long i = 0; i < rounds; i++)
		for (int j = 0; j < 1000000; j++)
			state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return 0;
}

static int timed(unsigned long rounds)
{
	struct timespec used;

	loop(rounds);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("%" PRIu64 "\n", (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec);
	return 0;
}

static int storm(unsigned long count)
{
	char *command[] = { "/bin/true", NULL };
	struct rusage usage;
	pid_t pid;

	for (unsigned long i = 0; i < count; i++) {
		if (posix_spawn(&pid, command[0], NULL, NULL, command, environ) != 0)
			return 1;
		waitpid(pid, NULL, 0);
	}
	getrusage(RUSAGE_CHILDREN, &usage);
	printf("%lld\n", (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL +
				 usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	return 0;
}

static int herd(unsigned long count, unsigned long milliseconds)
{
	for (unsigned long i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0) {
			usleep((useconds_t)milliseconds * 1000);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

int main(int count, char **words)
{
	unsigned long number = count > 2 ? strtoul(words[2], NULL, 10) : 0;

	if (count > 1 && strcmp(words[1], "clock") == 0)
		return print_clock();
	if (count > 2 && strcmp(words[1], "loop") == 0)
		return loop(number);
	if (count > 2 && strcmp(words[1], "timed") == 0)
		return timed(number);
	if (count > 2 && strcmp(words[1], "storm") == 0)
		return storm(number);
	if (count > 3 && strcmp(words[1], "herd") == 0)
		return herd(number, strtoul(words[3], NULL, 10));
	fprintf(stderr,
		"usage: work loop ROUNDS | timed ROUNDS | storm COUNT | herd COUNT MS | clock\n");
	return 2;
}
