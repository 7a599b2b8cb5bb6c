/* SPDX-License-Identifier: MIT */
/*
 * Where the time of a thread went: on a CPU, waiting for one, or blocked for a reason.  The parts
 * add up to its wall time while it was watched.  Ledgers of threads add up to those of processes
 * and trees.
 *
 * on_cpu_ns is wall time between being switched in and out, so that the sum closes; the CPU time
 * that the kernel charges (USAGE_CPU) leaves out interrupts and time stolen by a hypervisor.
 */
#ifndef MODEL_LEDGER_H
#define MODEL_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/wait.h"

/* What a source can tell. */
enum ledger_part {
	LEDGER_WALL = 1 << 0,
	LEDGER_ON_CPU = 1 << 1,
	LEDGER_RUN_QUEUE = 1 << 2,
	LEDGER_BLOCKED = 1 << 3, /* by reason, with counts and longest */
	LEDGER_OFF_CPU = 1 << 4,
};

struct ledger_wait {
	uint64_t ns;
	uint64_t count;
	uint64_t longest_ns;
};

/* Whole times off the CPU, each blocked, waiting for a CPU, or first one and then the other. */
struct ledger_off {
	uint64_t count;
	uint64_t longest_ns;
	uint64_t shortest_ns; /* 0: none is over yet */
};

struct ledger {
	unsigned present; /* enum ledger_part */
	uint64_t wall_ns;
	uint64_t on_cpu_ns;
	struct ledger_off off_cpu;
	uint64_t run_queue_ns;
	uint64_t run_queue_count;   /* how often it waited for a CPU */
	uint64_t run_queue_longest; /* ns */
	struct ledger_wait blocked[WAIT_REASON_COUNT];
};

void ledger_add(struct ledger *sum, const struct ledger *part);

/*
 * Raises each part to what a later look says, so that none falls.  Time that a look booked under
 * one part and the next one under another is in both then, and in the wall time, which never is
 * less than its parts.  *ret_grown gets what is to be added to sums that contain the ledger.
 */
void ledger_raise(struct ledger *ledger, const struct ledger *later, struct ledger *ret_grown);

/* Sums of blocked time by kind; costly ones contain run_queue_ns. */
uint64_t ledger_costly_ns(const struct ledger *ledger);
uint64_t ledger_waiting_for_work_ns(const struct ledger *ledger);
uint64_t ledger_blocked_ns(const struct ledger *ledger);

/* What is missing to the wall time, or is too much: 0 when the ledger closes. */
int64_t ledger_gap_ns(const struct ledger *ledger);

#endif
