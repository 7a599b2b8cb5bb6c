/* SPDX-License-Identifier: MIT */
/*
 * Reasons to be off the CPU, as rows of waits.def.
 */
#ifndef MODEL_WAIT_H
#define MODEL_WAIT_H

enum wait_kind {
	WAIT_COST,
	WAIT_WORK,
	WAIT_UNSURE, /* not known: in neither sum */
};

enum wait_reason {
#define WAIT(id, ...) WAIT_##id,
#include "model/waits.def"
#undef WAIT
	WAIT_REASON_COUNT,
};

struct wait_info {
	const char *name;
	enum wait_kind kind;
	const char *help;
};

extern const struct wait_info waits[WAIT_REASON_COUNT];

/* The reason of that name, or -1. */
int wait_find(const char *name);

/*
 * How the reason of a blocked system call is found.  The first values are reasons themselves;
 * the kernel side reads the rest of the answer from the call's arguments.
 */
enum wait_rule {
	/* 0 to WAIT_REASON_COUNT - 1: always that reason */
	WAIT_RULE_BY_FD = 32, /* what the descriptor in the first argument is */
	WAIT_RULE_FUTEX,      /* the operation in the second argument */
	WAIT_RULE_FCNTL,      /* a lock for the waiting lock commands, else by descriptor */
	WAIT_RULE_RESTART,    /* that of the call before, which this one goes on with */
};

#endif
