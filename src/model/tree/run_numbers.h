/* SPDX-License-Identifier: MIT */
/*
 * Numbers of a run that may be absent, and those that the hardware counts.
 */
#ifndef MODEL_RUN_NUMBERS_H
#define MODEL_RUN_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

struct run_number {
	bool present;
	uint64_t value;
};

struct run_real {
	bool present;
	double value;
};

/*
 * What the processors counted for the tree, and the energy that the host used meanwhile.  Values
 * are scaled from running_ns to enabled_ns where counters had to take turns.
 */
struct run_hardware {
	struct run_number cycles, instructions, cache_references, cache_misses, branch_misses;
	struct run_number stalled_frontend, stalled_backend; /* cycles without progress */
	struct run_number enabled_ns, running_ns;
	struct run_number package_uj, dram_uj; /* sums over all sockets */
	struct run_number platform_uj;	       /* of the whole machine, packages included */
};

/*
 * What GPUs did meanwhile, with --gpu: the most that a sample found.  Those of the tree are sums over its members at one
 * moment; all others are the host's.
 */
struct run_gpu {
	struct run_number samples;
	struct run_number busy_peak_percent; /* of the busiest GPU */
	struct run_real busy_average_percent;
	struct run_number memory_used_peak_bytes, memory_total_bytes; /* of all GPUs */
	struct run_number temperature_peak_celsius;		      /* of the hottest */
	struct run_number power_peak_milliwatts;		      /* of all */
	struct run_number tree_memory_peak_bytes, tree_busy_peak_percent;
	struct run_number tree_time_ns;	     /* that engines worked for it */
	struct run_number lost_users;	     /* readings of processes that found no room */
	struct run_number processes_omitted; /* users of GPUs that are not listed */
};

/*
 * Waits by reason that are estimates, from samples of what each thread waited for.  All are absent
 * where each wait was measured.
 */
struct run_sampled {
	struct run_number samples;     /* that found a thread blocked */
	struct run_number interval_ns; /* between two samples of a thread, on average */
	struct run_real error;	       /* of a reason's share of the blocked time; less with 95 % */
	struct run_number threads_unsampled; /* ended before their first sample: waits not known */
};

#endif
