/* SPDX-License-Identifier: MIT */
#include "fuzz_text.h"
#include "host/elf/process_maps.h"

static void check_mapping(const struct process_maps *maps, size_t i)
{
	const struct process_mapping *mapping = &maps->mappings.data[i];

	fuzz_require(mapping->start < mapping->end && mapping->inode != 0);
	fuzz_require(i == 0 || maps->mappings.data[i - 1].end <= mapping->start);
	fuzz_require(process_maps_at(maps, mapping->start) == mapping);
	fuzz_require(process_maps_at(maps, mapping->end - 1) == mapping);
	fuzz_require(strlen(mapping->name) < 1 << 20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct process_maps maps = { 0 };
	size_t cursor = 0, files = 0;

	if (process_maps_parse(text, size, &maps) == 0) {
		for (size_t i = 0; i < maps.mappings.count; i++)
			check_mapping(&maps, i);
		while (process_maps_next_file(&maps, &cursor))
			files++;
		fuzz_require(files <= maps.mappings.count);
		process_maps_clear(&maps);
	}
	fuzz_require(!maps.mappings.data);
	free(text);
	return 0;
}
