/* SPDX-License-Identifier: MIT */
#include "fuzz_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct proc_identity identity;

	if (proc_parse_identity(text, &identity))
		fuzz_require(identity.comm > text &&
			     identity.comm + identity.comm_length < text + strlen(text) &&
			     identity.comm[-1] == '(' &&
			     identity.comm[identity.comm_length] == ')');
	free(text);
	fuzz_plan(data, size, PLACE_STAT, PLACE_GROUP_STAT, proc_parse_stat);
	return 0;
}
