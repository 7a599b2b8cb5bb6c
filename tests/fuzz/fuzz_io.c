/* SPDX-License-Identifier: MIT */
#include "fuzz_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_plan(data, size, PLACE_IO, PLACE_GROUP_IO, proc_parse_keyed);
	return 0;
}
