/* SPDX-License-Identifier: MIT */
/*
 * The figures of what is recorded when that is not the whole host: a cgroup, by its own files, or a
 * tree, by its processes.  Pure.
 */
#ifndef ANALYZE_ANOMALY_SCOPE_FIGURES_H
#define ANALYZE_ANOMALY_SCOPE_FIGURES_H

#include "model/record/host_sample.h"

struct process_total;
struct snapshot;

/*
 * Adds the scope and what the files of its cgroup say; the host's figures are there already.  `before`
 * is NULL when there are no rates; else `seconds` have passed.  Nothing for the whole host.
 */
void scope_figures(const struct snapshot *before, const struct snapshot *now, double seconds,
		   struct host_sample *sample);

/* Two ticks, what their processes had used, and what was used by those that ended in between. */
struct scope_work {
	const struct snapshot *before, *now;
	const struct process_total *cpu_before, *cpu_now;
	uint64_t ended_cpu_ns;
};

/* Adds the CPU of the scope's processes, unless the cgroup has said it. */
void scope_cpu_figure(const struct scope_work *work, struct host_sample *sample);

#endif
