/* SPDX-License-Identifier: MIT */
/*
 * The evidence for a cause, as one line of figures for people, without a full stop.
 */
#ifndef ANALYZE_VERDICT_EVIDENCE_H
#define ANALYZE_VERDICT_EVIDENCE_H

#include "analyze/path/path_shares.h"
#include "analyze/verdict/verdict_facts.h"
#include "base/text.h"

typedef void verdict_evidence(const struct verdict_facts *facts, struct text *out);

verdict_evidence evidence_oom_kill, evidence_deadlock, evidence_fd_limit, evidence_stopped,
	evidence_cpu_quota, evidence_memory_limit, evidence_blkio_limit, evidence_fsync,
	evidence_lock, evidence_pipe, evidence_network, evidence_fork_storm, evidence_spinning,
	evidence_tiny_io, evidence_mmap_churn, evidence_page_faults, evidence_run_queue,
	evidence_oversubscribed, evidence_disk, evidence_serialised, evidence_imbalance,
	evidence_pipe_stage, evidence_kernel_cpu, evidence_cpu, evidence_sleep, evidence_poll,
	evidence_child_wait, evidence_gc, evidence_none;

/*
 * A cause that a verdict knows, with the strength that the facts give it: about the share of the
 * time that it explains, 0 to 1.  A cause that ended the run or made calls fail has more, so that
 * no share of time outweighs it.
 */
struct verdict_rule {
	enum run_cause cause;
	double (*strength)(const struct verdict_facts *facts);
	verdict_evidence *evidence; /* the figures that support it: one line, or nothing */
	uint8_t kind;		    /* of the parts of the path that it is about; PATH_ANY: none */
};

/* In the order that decides when two are equally strong; CAUSE_NONE is the last. */
extern const struct verdict_rule verdict_rules[CAUSE_COUNT];

/* Whether it was seen with hardly a descriptor left. */
bool evidence_is_full(const struct tree_process *process);

/* Where the time went as a whole. */
verdict_evidence evidence_split;

/*
 * It is about the program and thread whose part of the path it is, or whoever had the CPU or
 * ended the waits, if that is known.  The second has more about it, as a line.
 */
void evidence_who(const struct verdict_facts *facts, const struct verdict_rule *rule,
		  struct text *out);
void evidence_part(const struct verdict_facts *facts, const struct verdict_rule *rule,
		   struct text *out);
/* Without a path: the longest wait of that kind, and who ended it. */
void evidence_top_wait(const struct verdict_facts *facts, const struct verdict_rule *rule,
		       struct text *out);

/*
 * "0.57 of 2 cores busy" after `start`, with "at least" where needed.  False when it is not known.
 */
bool evidence_cores(const struct run *run, const char *start, struct text *out);

#endif
