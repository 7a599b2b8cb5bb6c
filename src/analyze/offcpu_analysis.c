#include "analyze/diagnosis_parts.h"

/* clang-format off */
const char *const offcpu_bottleneck_names[OFFCPU_BOTTLENECK_COUNT] = {
	[OFFCPU_IO_BLOCKED]      = "io_blocked",
	[OFFCPU_LOCK_CONTENTION] = "lock_contention",
	[OFFCPU_SLEEP]           = "sleep",
	[OFFCPU_MIXED]           = "mixed",
	[OFFCPU_UNKNOWN]         = "unknown",
};
/* clang-format on */

void offcpu_analyze(const struct run *run, struct offcpu_analysis *ret)
{
	*ret = (struct offcpu_analysis){
		.measured = run->tree->ledger.present & LEDGER_BLOCKED,
		.bottleneck = OFFCPU_UNKNOWN,
	};
}
