/* SPDX-License-Identifier: MIT */
#include "host/elf/process_modules.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "host/elf/target_memory.h"

static bool is_same_file(const struct process_mapping *one, const struct process_mapping *other)
{
	return one->device == other->device && one->inode == other->inode;
}

/*
 * Finds the mapping with the ELF header: the loader maps the start of the file directly below the
 * code.
 */
static const struct process_mapping *find_header(const struct process_maps *maps,
						 const struct process_mapping *code)
{
	const struct process_mapping *mapping = code;

	while (mapping->offset && mapping > maps->mappings.data && is_same_file(mapping - 1, code))
		mapping--;
	return mapping;
}

/*
 * A file system without a disk may be on the network or served by a user's program, and may never
 * answer.
 */
static bool is_on_disk(const struct process_mapping *mapping)
{
	return major(mapping->device) != 0;
}

static int add_module(struct process_modules *modules, struct present_memory *present,
		      const struct process_mapping *mapping, const struct process_mapping *entry)
{
	const struct target_memory whole = target_memory_whole(present);
	const struct target_memory there = target_memory_present(present);
	const struct target_memory *memory = is_on_disk(mapping) ? &whole : &there;
	struct process_module module = { .mapping = mapping };

	module.header = find_header(&modules->maps, mapping)->start;
	module.status = loaded_elf_read(memory, module.header, &module.elf);
	if (module.status == 0)
		module.status = loaded_elf_read_id(memory, &module.elf);
	if (module.status == -ENOEXEC)
		return 0;
	if (modules->list.count == PROCESS_MODULES_MAX)
		return -E2BIG;
	module.is_executable = entry && is_same_file(entry, mapping);
	return array_append(&modules->list, module);
}

int process_modules_read(int process, pid_t pid, struct process_modules *ret)
{
	CLEANUP(close_fd) int pagemap = openat(process, "pagemap", O_RDONLY | O_CLOEXEC);
	struct present_memory present = { .pid = pid, .pagemap = pagemap };
	struct process_modules modules = { 0 };
	const struct process_mapping *entry = NULL, *mapping;
	size_t cursor = 0;
	int status = process_maps_read(process, &modules.maps);

	if (status == 0 && program_image_read(process, &modules.image) == 0)
		entry = process_maps_at(&modules.maps, modules.image.entry);
	while (status == 0 && (mapping = process_maps_next_file(&modules.maps, &cursor)))
		status = add_module(&modules, &present, mapping, entry);
	if (status < 0)
		process_modules_clear(&modules);
	else
		*ret = modules;
	return status;
}

void process_modules_clear(struct process_modules *modules)
{
	array_free(&modules->list);
	process_maps_clear(&modules->maps);
}
