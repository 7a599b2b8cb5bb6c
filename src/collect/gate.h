/* SPDX-License-Identifier: MIT */
/*
 * A gate is something that the kernel must have, or have switched on, for some metrics to be
 * correct.  When it is closed, its metrics are absent, with the gate's reason.
 */
#ifndef COLLECT_GATE_H
#define COLLECT_GATE_H

#include <stdbool.h>

#include "metric/metric.h"

struct host;

/* The reason for what a recording lacks; the host itself may have had it. */
#define NOT_RECORDED "not in the recorded tree"

struct gate {
	bool open;
	const char *reason;  /* why it is closed, and the least change that opens it */
	const char *lacking; /* if open: why single tasks may have no value nevertheless, or NULL */
};

/*
 * Whether this proc mount shows only processes (subset=pid).  Then a file that is missing in it
 * does not mean that the kernel lacks the feature.
 */
bool proc_has_only_processes(const struct host *host);

/*
 * Why a file of proc is not there: it was not recorded, or the mount does not show it, or else
 * `reason`, which says what the kernel lacks.
 */
const char *missing_reason(const struct host *host, const char *reason);

/* Finds out for every gate whether it is open on this host. */
void gates_read(const struct host *host, struct gate gates[GATE_COUNT]);

#endif
