/* SPDX-License-Identifier: MIT */
/*
 * The reasons why a thread is off the CPU: the rows of waits.def, as an enum and a table.
 */
#ifndef METRIC_WAIT_H
#define METRIC_WAIT_H

enum wait_kind {
	WAIT_COST,
	WAIT_WORK,
	WAIT_UNSURE, /* may be either: counted in neither sum */
};

enum wait_reason {
#define WAIT(id, ...) WAIT_##id,
#include "metric/waits.def"
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
 * How to find out what a thread waits for that is blocked in a system call.  The first values are
 * the reasons themselves; for the others the BPF program looks at the call's arguments.
 */
enum wait_rule {
	/* 0 to WAIT_REASON_COUNT - 1: always that reason */
	WAIT_RULE_BY_FD = 32, /* by the kind of descriptor in the first argument */
	WAIT_RULE_FUTEX,      /* by the operation, the word and its value */
	WAIT_RULE_FCNTL,      /* LOCK for the lock commands that wait, else by descriptor */
	WAIT_RULE_RESTART,    /* the reason of the interrupted call that this one continues */
	WAIT_RULE_POLL,	      /* TIMER where it polls nothing, else POLL */
	WAIT_RULE_OPEN,	      /* PIPE for a FIFO, whose other end nobody has opened; else DISK */
};

#endif
