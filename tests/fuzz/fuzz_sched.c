/* SPDX-License-Identifier: MIT */
#include "fuzz_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_plan(data, size, PLACE_SCHED, 0, proc_parse_sched);
	return 0;
}
