/* SPDX-License-Identifier: MIT */
#include "fuzz_target.h"
#include "host/elf/link_map.h"

#define DYNAMIC 16 /* the dynamic section's address */
#define READS_MAX (3 * LINK_MAP_MODULES_MAX + 128)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_target target = { .data = data, .size = size, .limit = READS_MAX };
	struct target_memory memory = fuzz_target_memory(&target);
	struct module_list list = { 0 };

	if (size == 0)
		return 0;
	if (link_map_read(&memory, DYNAMIC, &list) == 0)
		fuzz_require(list.modules.count > 0 && list.modules.count <= LINK_MAP_MODULES_MAX);
	module_list_clear(&list);
	return 0;
}
