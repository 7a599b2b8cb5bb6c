/* SPDX-License-Identifier: MIT */
#include "fuzz_text.h"
#include "host/proc/cpu_times.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct cpu_times times = { 0 }, none = { 0 };
	struct cpu_time grown;

	fuzz_require(cpu_times_parse(text, &times) == 0);
	(void)cpu_times_between(&times, &times, &grown);
	fuzz_require(times.list.count <= size / 17);
	(void)cpu_times_between(&none, &times, &grown);
	fuzz_require(grown.busy == 0 && grown.stolen == 0);
	cpu_times_clear(&times);
	free(text);
	return 0;
}
