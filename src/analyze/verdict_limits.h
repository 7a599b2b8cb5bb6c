/* SPDX-License-Identifier: MIT */
/*
 * What holds a run up from outside: quota, memory limit, pressure, the queue for CPUs; and how much
 * of it is starting processes.
 */
#ifndef ANALYZE_VERDICT_LIMITS_H
#define ANALYZE_VERDICT_LIMITS_H

#include "analyze/verdict_facts.h"

/* After everything else: takes from the times that are there. */
void verdict_limits_gather(struct verdict_facts *facts);

#endif
