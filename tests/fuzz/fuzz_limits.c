/* SPDX-License-Identifier: MIT */
#include "collect/proc/proc_parse.h"
#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	uint64_t limit = 12345;

	if (!proc_parse_limits(text, &limit))
		fuzz_require(limit == 12345);
	free(text);
	return 0;
}
