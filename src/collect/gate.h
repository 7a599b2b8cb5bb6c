/* SPDX-License-Identifier: MIT */
/*
 * Gates: what the kernel must have, or have switched on, for a metric to be
 * true.  A closed gate makes its metrics absent, with this reason.
 */
#ifndef COLLECT_GATE_H
#define COLLECT_GATE_H

#include <stdbool.h>

#include "metric/metric.h"

struct host;

/* Why something of a recorded host is not known: the host may well have had it. */
#define NOT_RECORDED "not in the recorded tree"

struct gate {
	bool open;
	const char *reason;  /* why it is closed, and the least change that opens it */
	const char *lacking; /* why single tasks have no value although it is open, or NULL */
};

/* Whether this proc mount has nothing but processes: what is missing in it tells nothing. */
bool proc_has_only_processes(const struct host *host);

/*
 * Why a file of proc is not there: `reason`, which is the kernel's, unless the file
 * was not recorded or the mount does not show it.
 */
const char *missing_reason(const struct host *host, const char *reason);

/* Looks at all gates of the host. */
void gates_read(const struct host *host, struct gate gates[GATE_COUNT]);

#endif
