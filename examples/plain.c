/* SPDX-License-Identifier: MIT */
/*
 * Phases and progress in plain C: heat spreads over a plate, step by step.
 *
 *	plain [STEPS]
 *
 * Look at it while it runs: `taskscope scopes -p PID`.  For lines sooner than after a minute:
 * `TASKSCOPE_HEARTBEAT=1s plain 100000`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskscope.h>

#define WIDTH 256

typedef double plate[WIDTH][WIDTH];

static plate now, next;

static void heat_the_edge(void)
{
	TASKSCOPE("heat the edge"); /* until the end of the function */

	for (int x = 0; x < WIDTH; x++)
		now[0][x] = next[0][x] = 100.0;
}

static void step(void)
{
	for (int y = 1; y < WIDTH - 1; y++)
		for (int x = 1; x < WIDTH - 1; x++)
			next[y][x] =
				(now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1]) / 4;
	memcpy(now, next, sizeof(now));
}

/* A scope with a counter: lines and readers tell how far it is, how fast, and the time left. */
static void spread(unsigned long steps)
{
	struct taskscope_progress progress = taskscope_begin("spread", steps);

	for (unsigned long i = 0; i < steps; i++) {
		step();
		taskscope_advance(&progress, 1);
	}
	taskscope_end(&progress);
}

static double mean(void)
{
	double sum = 0;

	TASKSCOPE("mean");
	for (int y = 0; y < WIDTH; y++)
		for (int x = 0; x < WIDTH; x++)
			sum += now[y][x];
	return sum / (WIDTH * WIDTH); /* closed here, too */
}

int main(int count, char **words)
{
	struct taskscope_options options = {
		.size = sizeof(options),
		.heartbeat_ms = 10000,
		.stall_ms = 30000, /* a step takes microseconds: so long without one is a stall */
	};

	if (taskscope_start(&options) < 0)
		fprintf(stderr, "no memory for scopes: going on without\n");
	heat_the_edge();
	spread(count > 1 ? strtoul(words[1], NULL, 10) : 20000);
	printf("mean %.3f\n", mean());
	return 0; /* the last line is printed at the exit */
}
