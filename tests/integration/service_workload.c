// SPDX-License-Identifier: MIT
/*
 * A service, and what goes wrong beside it.
 *
 *	service_workload NAME serve THREADS HOLD_US BURN_US REST_US
 *	service_workload NAME steady PERIOD_MS BURN_MS
 *	service_workload NAME burn THREADS
 *	service_workload NAME leak STEP_KIB LIMIT_KIB
 *	service_workload NAME noise
 *
 * serve: each thread takes a lock, holds it for a while without a CPU, then burns
 * CPU, and rests.  steady: the same CPU time in every period.  burn: never rests.  leak:
 * takes memory step by step.  noise: starts children, reads, sleeps.  Each prints
 * a line when a round is done, and ends with its standard input.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long hold_us, burn_us, rest_us;

static void sleep_us(long us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

static long clock_us(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* Burns CPU time of this thread, however long that takes. */
static void burn(long us)
{
	long end = clock_us(CLOCK_THREAD_CPUTIME_ID) + us;

	while (clock_us(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void say_round(void)
{
	/* A reader that does not follow must not stop the work. */
	if (write(STDOUT_FILENO, "round\n", 6) < 0)
		return;
}

static void *serve(void *number)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		sleep_us(hold_us);
		pthread_mutex_unlock(&lock);
		burn(burn_us);
		if (!number)
			say_round();
		if (rest_us)
			sleep_us(rest_us);
	}
	return NULL;
}

static void *burn_always(void *number)
{
	for (;;) {
		burn(20000);
		if (!number)
			say_round();
	}
	return NULL;
}

static void start(void *(*body)(void *), long threads)
{
	pthread_t thread;

	for (long i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, body, (void *)i))
			exit(1);
}

static void *be_steady(void *period_us)
{
	struct timespec due;

	clock_gettime(CLOCK_MONOTONIC, &due);
	for (;;) {
		burn(burn_us);
		say_round();
		due.tv_nsec += (long)period_us * 1000;
		due.tv_sec += due.tv_nsec / 1000000000;
		due.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	}
	return NULL;
}

static void leak(size_t step, size_t limit)
{
	for (size_t size = 0; size < limit; size += step) {
		char *memory = malloc(step);

		if (!memory)
			exit(1);
		memset(memory, 1, step);
		say_round();
	}
}

static void *make_noise(void *unused)
{
	char bytes[65536];

	(void)unused;
	for (;;) {
		int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		pid_t child = fork();

		if (child == 0) {
			burn(2000);
			_exit(0);
		}
		while (fd >= 0 && read(fd, bytes, sizeof(bytes)) > 0)
			;
		close(fd);
		waitpid(child, NULL, 0);
		burn(3000);
		say_round();
		sleep_us(20000);
	}
	return NULL;
}

static long number_at(char **words, int count, int at)
{
	if (at >= count)
		exit(2);
	return strtol(words[at], NULL, 10);
}

int main(int count, char **words)
{
	const char *what = count > 2 ? words[2] : "";
	pthread_t thread;
	char byte;

	if (count < 3)
		return 2;
	prctl(PR_SET_NAME, words[1]);
	fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
	if (strcmp(what, "serve") == 0) {
		hold_us = number_at(words, count, 4);
		burn_us = number_at(words, count, 5);
		rest_us = number_at(words, count, 6);
		start(serve, number_at(words, count, 3));
	} else if (strcmp(what, "steady") == 0) {
		burn_us = number_at(words, count, 4) * 1000;
		pthread_create(&thread, NULL, be_steady,
			       (void *)(number_at(words, count, 3) * 1000));
	} else if (strcmp(what, "burn") == 0) {
		start(burn_always, number_at(words, count, 3));
	} else if (strcmp(what, "leak") == 0) {
		leak((size_t)number_at(words, count, 3) * 1024,
		     (size_t)number_at(words, count, 4) * 1024);
	} else if (strcmp(what, "noise") == 0) {
		pthread_create(&thread, NULL, make_noise, NULL);
	} else {
		return 2;
	}
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
