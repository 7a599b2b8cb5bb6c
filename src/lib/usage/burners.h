/* SPDX-License-Identifier: MIT */
/*
 * Finds threads that use CPU time but do not say what for: they have no scope open, and opened and
 * closed none since the last heartbeat.
 */
#ifndef LIB_BURNERS_H
#define LIB_BURNERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/heartbeat/stacks.h"
#include "lib/lines/output.h"

enum {
	BURNERS_PLACES =
		16384, /* of a table by thread number; threads beyond 3/4 of it are not seen */
	BURNERS_LINES = 4,
};

struct burner {
	pid_t tid; /* 0: free */
	uint64_t cpu_ns;
};

struct burner_table {
	uint32_t count;
	struct burner places[BURNERS_PLACES];
};

struct burners {
	pid_t own_tid;		    /* of the heartbeat thread, which is left out */
	uint64_t marked_ns;	    /* 0: never */
	struct burner_table before; /* at the mark */
};

/* Begins a new window: what threads used so far does not count in it. */
void burners_mark(struct burners *burners, uint64_t now_ns);
/* Prints the threads that used much CPU time in the window. */
void burners_print(struct burners *burners, const struct stacks *stacks, struct output *output);

#endif
