#include "analyze/diagnosis_parts.h"

void syscalls_analyze(const struct run *run, struct syscall_analysis *ret)
{
	(void)run;
	*ret = (struct syscall_analysis){
		.basis = BASIS_NONE,
		.behavior = CLASS_UNKNOWN,
		.workload_type = "insufficient_data",
	};
}
