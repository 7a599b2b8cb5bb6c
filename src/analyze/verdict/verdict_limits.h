/* SPDX-License-Identifier: MIT */
/*
 * What limits a run from outside: quota, memory limit, pressure, the queue for
 * CPUs; and how much of its time is starting processes.
 */
#ifndef ANALYZE_VERDICT_LIMITS_H
#define ANALYZE_VERDICT_LIMITS_H

#include "analyze/verdict/verdict_facts.h"

/* Call it last: it takes from the times that the others have set. */
void verdict_limits_gather(struct verdict_facts *facts);

#endif
