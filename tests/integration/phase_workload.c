/* SPDX-License-Identifier: MIT */
/*
 * A program that tells what it is doing, and prints what its phases really took:
 *
 *	phase PID LABEL WALL_NS CPU_NS
 *
 * Its words are done one after the other:
 *
 *	busy MS, sleep MS	burns or waits, in a scope of that name
 *	nested MS		burns in "inner", which is in "outer"
 *	progress MS		"progress" with 1000 steps
 *	odd MS			waits in a scope whose label no terminal should see
 *	workers N MS		as many threads burn in "worker" at a time
 *	quick N			opens and closes "quick" so often
 *	waits N			so often in "around": waits, also in "within" and "made_3" inside
 *	made N			opens and closes N labels made at run time, twice
 *	forge N			claims to have a library of its own, and N scopes, one after the other
 *	half MS			burns in "outer half", then as long in "inner half" inside
 *	pause MS		waits, in no scope
 *	die MS			burns in "die", and is killed there
 *	fork			from here on twice; the child has no "ready" and is waited for
 *	exec			the words that follow, as a program anew
 *	plain			does not start the library, when it comes first
 *	ready			prints "ready PID" and waits for a line on standard input
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/scope_layout.h"
#include "taskscope.h"

static bool is_child;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void wait_ms(uint64_t ms)
{
	struct timespec time = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	nanosleep(&time, NULL);
}

static void burn(uint64_t ms)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + ms * 1000000;

	while (clock_ns(CLOCK_MONOTONIC) < end)
		;
}

struct watch {
	uint64_t wall_ns, cpu_ns;
};

static struct watch begin(void)
{
	return (struct watch){ clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_THREAD_CPUTIME_ID) };
}

static void tell(const char *label, struct watch since)
{
	printf("phase %d %s %llu %llu\n", getpid(), label,
	       (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - since.wall_ns),
	       (unsigned long long)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - since.cpu_ns));
}

static void in_scope(const char *label, void (*work)(uint64_t), uint64_t ms)
{
	struct taskscope_scope scope = taskscope_enter(label);
	struct watch watch = begin();

	work(ms);
	tell(label, watch);
	taskscope_leave(scope);
}

static void do_busy(uint64_t ms)
{
	struct watch watch = begin();
	TASKSCOPE("busy");

	burn(ms);
	tell("busy", watch);
}

static void do_sleep(uint64_t ms)
{
	struct watch watch = begin();
	TASKSCOPE("sleep");

	wait_ms(ms);
	tell("sleep", watch);
}

static void do_nested(uint64_t ms)
{
	struct watch watch = begin();
	TASKSCOPE("outer");

	in_scope("inner", burn, ms);
	tell("outer", watch);
}

static void do_progress(uint64_t ms)
{
	struct taskscope_progress steps = taskscope_begin("progress", 1000);
	struct watch watch = begin();

	for (int i = 0; i < 1000; i++) {
		wait_ms(ms / 1000);
		taskscope_advance(&steps, 1);
	}
	tell("progress", watch);
	taskscope_end(&steps);
}

static void do_odd(uint64_t ms)
{
	char label[] = "odd\033[31m\xff";
	struct taskscope_scope scope = taskscope_enter(label);

	wait_ms(ms);
	taskscope_leave(scope);
}

static void *worker(void *ms)
{
	TASKSCOPE("worker");

	burn(*(uint64_t *)ms);
	return NULL;
}

static void do_workers(uint64_t count, uint64_t ms)
{
	pthread_t threads[16];

	if (count > 16)
		exit(2);
	for (uint64_t i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, worker, &ms) != 0)
			exit(2);
	for (uint64_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void do_quick(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		TASKSCOPE("quick");
	}
}

static void wait_us(long us)
{
	struct timespec time = { 0, us * 1000 };

	nanosleep(&time, NULL);
}

/* Adds what happened since. */
static void add(struct watch *sum, struct watch since)
{
	sum->wall_ns += clock_ns(CLOCK_MONOTONIC) - since.wall_ns;
	sum->cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - since.cpu_ns;
}

static void tell_sum(const char *label, const struct watch *sum)
{
	printf("phase %d %s %llu %llu\n", getpid(), label, (unsigned long long)sum->wall_ns,
	       (unsigned long long)sum->cpu_ns);
}

static void wait_within(struct watch *sum, struct watch *made_sum)
{
	char label[] = "made_3";
	struct watch watch = begin();

	{
		TASKSCOPE("within");
		wait_us(700);
	}
	add(sum, watch);
	watch = begin();
	taskscope_leave(taskscope_enter(label));
	{
		struct taskscope_scope made = taskscope_enter(label);

		wait_us(300);
		taskscope_leave(made);
	}
	add(made_sum, watch);
}

static void do_waits(uint64_t count)
{
	struct watch around = { 0 }, within = { 0 }, made = { 0 };

	for (uint64_t i = 0; i < count; i++) {
		struct watch watch = begin();
		TASKSCOPE("around");

		wait_us(500);
		wait_within(&within, &made);
		add(&around, watch);
	}
	tell_sum("around", &around);
	tell_sum("within", &within);
	tell_sum("made_3", &made);
}

static void do_made(uint64_t count)
{
	char label[32];

	for (uint64_t i = 0; i < 2 * count; i++) {
		snprintf(label, sizeof(label), "made %llu", (unsigned long long)(i % count));
		taskscope_leave(taskscope_enter(label));
	}
}

/* Nothing of this can be found in its memory files; only a tracer in the kernel believes it. */
static void do_forge(uint64_t count)
{
	static _Thread_local struct scope_thread *self;
	static struct scope_thread block;
	static struct scope_header header = { .anchor_ns = 1 };

	self = &block;
	prctl(PR_SET_NAME, "forger", &header, SCOPE_ANNOUNCE,
	      (char *)&self - (char *)__builtin_thread_pointer());
	for (uint64_t i = 0; i < count; i++) {
		block.path[0] = (uint16_t)(i + 1);
		block.depth = 1;
		nanosleep(&(struct timespec){ .tv_nsec = 1 }, NULL);
	}
}

static void do_half(uint64_t ms)
{
	TASKSCOPE("outer half");

	burn(ms / 2);
	{
		TASKSCOPE("inner half");
		burn(ms / 2);
	}
}

static void do_die(uint64_t ms)
{
	struct watch watch = begin();
	TASKSCOPE("die");

	burn(ms);
	tell("die", watch);
	raise(SIGKILL);
}

static void do_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		exit(2);
	is_child = pid == 0;
}

static void do_ready(void)
{
	char line[16];

	if (is_child)
		return;
	printf("ready %d\n", getpid());
	if (!fgets(line, sizeof(line), stdin))
		exit(2);
}

static const struct {
	const char *word;
	void (*work)(uint64_t number);
} works[] = {
	{ "busy", do_busy },	     { "sleep", do_sleep }, { "nested", do_nested },
	{ "progress", do_progress }, { "odd", do_odd },	    { "quick", do_quick },
	{ "pause", wait_ms },	     { "die", do_die },	    { "waits", do_waits },
	{ "made", do_made },	     { "half", do_half },   { "forge", do_forge },
};

static void do_work(const char *word, const char *number)
{
	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++) {
		if (strcmp(works[i].word, word) != 0)
			continue;
		works[i].work(strtoull(number, NULL, 10));
		return;
	}
	fprintf(stderr, "what is '%s'?\n", word);
	exit(2);
}

static void do_words(char **words)
{
	char *self = words[0];

	while (*++words) {
		if (strcmp(*words, "fork") == 0) {
			do_fork();
		} else if (strcmp(*words, "ready") == 0) {
			do_ready();
		} else if (strcmp(*words, "exec") == 0) {
			*words = self;
			execv("/proc/self/exe", words);
			exit(2);
		} else if (strcmp(*words, "workers") == 0 && words[1] && words[2]) {
			do_workers(strtoull(words[1], NULL, 10), strtoull(words[2], NULL, 10));
			words += 2;
		} else if (words[1]) {
			do_work(words[0], words[1]);
			words++;
		}
	}
}

int main(int count, char **words)
{
	bool is_plain = count > 1 && strcmp(words[1], "plain") == 0;
	struct taskscope_options options = { .size = sizeof(options),
					     .heartbeat_ms = TASKSCOPE_NEVER };

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!is_plain && taskscope_start(&options) < 0)
		return 2;
	if (is_plain) {
		words[1] = words[0];
		words++;
	}
	do_words(words);
	while (wait(NULL) > 0)
		;
	return 0;
}
