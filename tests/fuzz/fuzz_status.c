/* SPDX-License-Identifier: MIT */
#include "base/cpulist.h"
#include "base/text.h"
#include "collect/proc/affinity.h"
#include "fuzz_plan.h"
#include "host/proc/task_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct cpuset unknown;
	char *text = fuzz_text(data, size);
	struct text list = { 0 };
	size_t length = 0;
	const char *value = task_status_find(text, "Cpus_allowed_list", &length);

	if (value) {
		fuzz_require(value >= text && value + length <= text + strlen(text));
		(void)affinity_from_list(value, length, &unknown, &list);
	}
	text_free(&list);
	free(text);
	fuzz_plan(data, size, PLACE_STATUS, 0, proc_parse_keyed);
	return 0;
}
