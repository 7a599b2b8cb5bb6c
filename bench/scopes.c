/* SPDX-License-Identifier: MIT */
/*
 * What opening and closing a scope costs, in nanoseconds for a pair, next to the plain way with a
 * mutex (registry.c), and what a step of progress costs next to an atomic add:
 *
 *	scopes TURNS
 *	pair DEPTH THREADS OURS REGISTRY
 *	advance OURS ATOMIC
 *	made OURS		a pair whose label is made at run time and has a number
 *	due OURS COARSE		asking whether an interval is over, next to reading its clock
 *	statistics DEPTH THREADS OURS
 *
 * Depth is that of the scope that is opened and closed.  Each thread has a CPU of its own, so that
 * several really meet.  The ways take turns.  Of one thread the best round counts; of several the
 * middle one, since the best one of a lock is when nobody else wanted it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <taskscope.h>
#include <time.h>
#include <unistd.h>

#include "registry.h"

#define ROUNDS 15
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t turns;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A way to do something many times, in scopes that are so deep. */
typedef double way(unsigned depth);

static double ours_inside(void)
{
	static struct taskscope_site site = { "inner", 0 };
	uint64_t began = now_ns();

	for (uint64_t i = 0; i < turns; i++)
		taskscope_leave(taskscope_enter_site(&site));
	return (double)(now_ns() - began) / (double)turns;
}

static double ours(unsigned depth)
{
	static struct taskscope_site site = { "outer", 0 };
	struct taskscope_scope outer = { 0 };
	double cost;

	for (unsigned i = 1; i < depth; i++) {
		struct taskscope_scope scope = taskscope_enter_site(&site);

		if (i == 1)
			outer = scope;
	}
	cost = ours_inside();
	taskscope_leave(outer); /* and all inside of it */
	return cost;
}

static double registry(unsigned depth)
{
	uint64_t fewer = turns / 10;
	uint64_t began;
	double cost;

	for (unsigned i = 1; i < depth; i++)
		registry_push("outer");
	began = now_ns();
	for (uint64_t i = 0; i < fewer; i++) {
		registry_push("inner");
		registry_pop();
	}
	cost = (double)(now_ns() - began) / (double)fewer;
	for (unsigned i = 1; i < depth; i++)
		registry_pop();
	return cost;
}

static double advance(unsigned depth)
{
	struct taskscope_progress progress = taskscope_begin("counted", turns);
	uint64_t began = now_ns();

	(void)depth;
	for (uint64_t i = 0; i < turns; i++)
		taskscope_advance(&progress, 1);
	began = now_ns() - began;
	taskscope_end(&progress);
	return (double)began / (double)turns;
}

static double atomic(unsigned depth)
{
	static uint64_t counter;
	uint64_t began = now_ns();

	(void)depth;
	for (uint64_t i = 0; i < turns; i++)
		__atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
	return (double)(now_ns() - began) / (double)turns;
}

static double made(unsigned depth)
{
	char label[16] = "made at run";
	uint64_t began = now_ns();

	(void)depth;
	for (uint64_t i = 0; i < turns; i++)
		taskscope_leave((taskscope_enter)(label));
	return (double)(now_ns() - began) / (double)turns;
}

static double due(unsigned depth)
{
	static taskscope_due_state state;
	uint64_t began = now_ns(), times = 0;

	(void)depth;
	for (uint64_t i = 0; i < turns; i++)
		times += (uint64_t)taskscope_due(&state, 3600 * 1000);
	if (times)
		exit(1);
	return (double)(now_ns() - began) / (double)turns;
}

static double coarse_clock(unsigned depth)
{
	struct timespec now;
	uint64_t began = now_ns();

	(void)depth;
	for (uint64_t i = 0; i < turns; i++)
		clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (double)(now_ns() - began) / (double)turns;
}

struct worker {
	way *way;
	unsigned depth;
	unsigned place; /* among the CPUs that we may use */
	pthread_barrier_t *start;
	double cost;
};

static void stay_on_one_cpu(unsigned place)
{
	cpu_set_t allowed, one;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	place %= (unsigned)CPU_COUNT(&allowed);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && place-- == 0) {
			CPU_SET(cpu, &one);
			break;
		}
	sched_setaffinity(0, sizeof(one), &one);
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	stay_on_one_cpu(worker->place);
	pthread_barrier_wait(worker->start);
	worker->cost = worker->way(worker->depth);
	return NULL;
}

/* The mean of the threads. */
static double at_once(way *measured, unsigned depth, unsigned threads)
{
	struct worker workers[16];
	pthread_t ids[16];
	pthread_barrier_t start;
	double sum = 0;

	pthread_barrier_init(&start, NULL, threads);
	for (unsigned i = 0; i < threads; i++) {
		workers[i] = (struct worker){ measured, depth, i, &start, 0 };
		if (pthread_create(&ids[i], NULL, work, &workers[i]) != 0)
			exit(1);
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		sum += workers[i].cost;
	}
	pthread_barrier_destroy(&start);
	return sum / threads;
}

static int by_size(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static void typical_of_both(way *one, way *other, unsigned depth, unsigned threads, double ret[2])
{
	double costs[2][ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		costs[0][i] = at_once(one, depth, threads);
		costs[1][i] = at_once(other, depth, threads);
	}
	for (int k = 0; k < 2; k++) {
		qsort(costs[k], ROUNDS, sizeof(costs[k][0]), by_size);
		ret[k] = costs[k][threads > 1 ? ROUNDS / 2 : 0];
	}
}

static const struct {
	unsigned depth, threads;
} cases[] = { { 1, 1 }, { 4, 1 }, { 8, 1 }, { 16, 1 }, { 32, 1 }, { 1, 2 }, { 4, 2 } };

static void start(uint32_t flags)
{
	struct taskscope_options options = {
		.size = sizeof(options),
		.heartbeat_ms = TASKSCOPE_NEVER,
		.flags = flags,
	};

	if (taskscope_start(&options) < 0)
		exit(1);
}

/* In a process of its own: what was started once stays so. */
static void with_statistics(void)
{
	start(TASKSCOPE_STATISTICS);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double costs[2];

		typical_of_both(ours, ours, cases[i].depth, cases[i].threads, costs);
		printf("statistics %u %u %.2f\n", cases[i].depth, cases[i].threads,
		       costs[0] < costs[1] ? costs[0] : costs[1]);
	}
}

static void without_statistics(void)
{
	double costs[2];

	start(0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		typical_of_both(ours, registry, cases[i].depth, cases[i].threads, costs);
		printf("pair %u %u %.2f %.2f\n", cases[i].depth, cases[i].threads, costs[0],
		       costs[1]);
	}
	typical_of_both(advance, atomic, 1, 1, costs);
	printf("advance %.2f %.2f\n", costs[0], costs[1]);
	typical_of_both(made, ours, 1, 1, costs);
	printf("made %.2f\n", costs[0]);
	typical_of_both(due, coarse_clock, 1, 1, costs);
	printf("due %.2f %.2f\n", costs[0], costs[1]);
}

int main(int count, char **words)
{
	pid_t child;

	turns = count > 1 ? strtoull(words[1], NULL, 10) : 1000000;
	if (turns < 10)
		return 2;
	child = fork();
	if (child == 0) {
		with_statistics();
		return 0;
	}
	if (child < 0 || waitpid(child, NULL, 0) < 0)
		return 1;
	without_statistics();
	return 0;
}
