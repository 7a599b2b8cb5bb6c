/* SPDX-License-Identifier: MIT */
/*
 * Scopes the plain way, to measure ours against: one mutex for the process, and under it, at each
 * push and each pop, a copy of the thread's whole stack for whoever wants to read it.
 */
#ifndef BENCH_REGISTRY_H
#define BENCH_REGISTRY_H

void registry_push(const char *label);
void registry_pop(void);

#endif
