/* SPDX-License-Identifier: MIT */
/*
 * Completes the profile of a run: time that no stack stands for becomes samples without a stack.  Off the
 * CPU, that is what the ledger has and the stacks have not, so both have the same sums; on the CPU it is the
 * time of stacks that were lost.
 */
#ifndef SESSION_STACK_MISSING_H
#define SESSION_STACK_MISSING_H

#include <stdint.h>

struct run;

/* The process name of time that belongs to threads which are not kept one by one. */
#define STACK_OTHER_THREADS "(other threads)"

/*
 * Samples on the CPU that were lost stand for `lost_on_cpu_ns`; that, or what the CPU clock did not count, becomes a
 * sample of the same kind.  0 or -ENOMEM.
 */
int stack_missing_add(struct run *run, uint64_t lost_on_cpu_ns);

#endif
