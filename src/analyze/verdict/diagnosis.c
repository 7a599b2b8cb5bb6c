/* SPDX-License-Identifier: MIT */
#include "analyze/verdict/diagnosis.h"

#include "analyze/verdict/diagnosis_parts.h"

/* clang-format off */
const char *const class_names[CLASS_COUNT] = {
	[CLASS_CPU_BOUND]     = "cpu_bound",
	[CLASS_IO_BOUND]      = "io_bound",
	[CLASS_MEMORY_BOUND]  = "memory_bound",
	[CLASS_NETWORK_BOUND] = "network_bound",
	[CLASS_LOCK_BOUND]    = "lock_bound",
	[CLASS_STARVED]       = "starved",
	[CLASS_IDLE]          = "idle",
	[CLASS_MIXED]         = "mixed",
	[CLASS_UNKNOWN]       = "unknown",
};
/* clang-format on */

const struct cause_info causes[CAUSE_COUNT] = {
#define CAUSE(id, name, class, hint) [CAUSE_##id] = { name, CLASS_##class, hint },
#include "analyze/verdict/causes.def"
#undef CAUSE
};

void diagnose(const struct run *run, struct diagnosis *ret)
{
	syscalls_analyze(run, &ret->syscalls);
	offcpu_analyze(run, &ret->offcpu);
	verdict_reach(run, &ret->verdict);
}
