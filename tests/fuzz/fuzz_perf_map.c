/* SPDX-License-Identifier: MIT */
/* Any text as the functions of a JIT compiler, in two pieces: each is found where it is. */
#include "fuzz_text.h"
#include "host/code/name/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct perf_map map = { 0 };
	size_t used = perf_map_parse(&map, text, size / 2);

	fuzz_require(used <= size / 2);
	perf_map_find(&map, 0x1000);
	fuzz_require(perf_map_parse(&map, text + used, size - used) <= size - used);
	for (size_t i = 0; i < map.list.count; i++) {
		const struct perf_map_entry entry = map.list.data[i];
		const char *name = perf_map_find(&map, entry.start);

		fuzz_require(name && name[0] && strlen(name) <= PERF_MAP_NAME_MAX);
		perf_map_find(&map, entry.start + entry.size - 1);
	}
	perf_map_find(&map, UINT64_MAX);
	perf_map_clear(&map);
	free(text);
	return 0;
}
