/* SPDX-License-Identifier: MIT */
#include "host/elf/link_map.h"

#include <elf.h>
#include <errno.h>
#include <link.h>

#include "host/elf/loaded_elf.h"
#include "host/elf/target_memory.h"

#define ATTEMPTS 3 /* since the chain may be changing */

/* Reads the value of DT_DEBUG. */
static int find_debug(const struct target_memory *memory, uint64_t dynamic, uint64_t *ret)
{
	struct dynamic_value debug = { DT_DEBUG, 0 };
	int status = dynamic_section_read(memory, dynamic, SIZE_MAX, &debug, 1);

	if (status < 0)
		return status;
	*ret = debug.value;
	return debug.value ? 0 : -ENODATA;
}

static int append_module(uint64_t address, const struct link_map *map, struct module_list *list)
{
	struct loaded_module module = {
		.link_map = address,
		.base = map->l_addr,
		.dynamic = (uintptr_t)map->l_ld,
	};

	return array_append(&list->modules, module);
}

static int walk(const struct target_memory *memory, uint64_t address, struct module_list *list)
{
	uint64_t previous = 0;

	while (address) {
		struct link_map map;
		int status = target_read(memory, address, &map, sizeof(map));

		if (status == 0 && ((uintptr_t)map.l_prev != previous ||
				    list->modules.count == LINK_MAP_MODULES_MAX))
			status = -ELOOP;
		if (status == 0)
			status = append_module(address, &map, list);
		if (status < 0)
			return status;
		previous = address;
		address = (uintptr_t)map.l_next;
	}
	return list->modules.count ? 0 : -ENODATA;
}

int link_map_read(const struct target_memory *memory, uint64_t dynamic, struct module_list *ret)
{
	struct module_list list = { 0 };
	struct r_debug debug;
	uint64_t address = 0;
	int status = find_debug(memory, dynamic, &address);

	if (status < 0)
		return status;
	for (int i = 0; i < ATTEMPTS; i++) {
		status = target_read(memory, address, &debug, sizeof(debug));
		if (status == 0)
			status = walk(memory, (uintptr_t)debug.r_map, &list);
		if (status == 0) {
			*ret = list;
			return 0;
		}
		module_list_clear(&list);
		if (status != -ELOOP && status != -EFAULT)
			break;
	}
	return status;
}

void module_list_clear(struct module_list *list)
{
	array_free(&list->modules);
}
