/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "collect/jemalloc_anatomy.h"
#include "host/process_maps.h"
#include "host/tls.h"

void jemalloc_target_free(struct jemalloc_target *target)
{
	if (!target)
		return;
	close_fd(&target->process);
	free(target->threads);
	free(target);
}

int anatomy_fail(struct anatomy *anatomy, enum jemalloc_tag tag, int error)
{
	struct jemalloc_target *target = anatomy->target;

	if (error == -ESRCH || error == -ENOENT)
		tag = JEMALLOC_PID_MISSING;
	else if (error == -EPERM || error == -EACCES)
		tag = tag == JEMALLOC_MAPS_READ_FAILURE ? tag : JEMALLOC_PROCESS_VM_READV;
	target->tag = tag;
	target->error = error;
	return -1;
}

/* ---- modules: where each file is loaded, and what the C library says of its structs ---- */

/* A module's dynamic section lies where its file is mapped. */
static const struct loaded_module *find_module(const struct anatomy *anatomy, enum scout_part part)
{
	const struct address_range *place = &anatomy->target->parts[part].place;

	for (size_t i = 0; i < anatomy->modules.modules.count; i++) {
		const struct loaded_module *module = &anatomy->modules.modules.data[i];

		if (module->dynamic >= place->start && module->dynamic < place->end)
			return module;
	}
	return NULL;
}

/* A part is not among the files that could be opened. */
static int miss_part(struct anatomy *anatomy, enum jemalloc_tag tag, int error)
{
	return anatomy_fail(anatomy, anatomy->target->misses_files ? JEMALLOC_FILE_UNREADABLE : tag,
			    error);
}

/* The executable's load bias. */
static int find_bias(struct anatomy *anatomy)
{
	struct program_image image;
	int status;

	if (!anatomy->target->parts[PART_EXECUTABLE].present)
		return miss_part(anatomy, JEMALLOC_LINK_MAP, -ENODATA);
	status = program_image_read(anatomy->target->process, &image);
	if (status < 0)
		return anatomy_fail(anatomy, JEMALLOC_MAPS_READ_FAILURE, status);
	anatomy->bias = image.entry - anatomy->target->parts[PART_EXECUTABLE].file.findings.entry;
	return 0;
}

static int read_modules(struct anatomy *anatomy)
{
	const struct elf_findings *executable =
		&anatomy->target->parts[PART_EXECUTABLE].file.findings;
	int status = link_map_read(&anatomy->memory, anatomy->bias + executable->dynamic_vaddr,
				   &anatomy->modules);

	return status < 0 ? anatomy_fail(anatomy, JEMALLOC_LINK_MAP, status) : 0;
}

static bool place_symbols(const struct anatomy *anatomy, enum scout_part part,
			  struct thread_symbols *ret)
{
	const struct target_part *found = &anatomy->target->parts[part];
	const struct loaded_module *module = found->present ? find_module(anatomy, part) : NULL;

	if (!module)
		return false;
	*ret = (struct thread_symbols){ &found->file.findings, module->base };
	return true;
}

/* A program without a dynamic loader has all of it in itself. */
static int find_symbols(struct anatomy *anatomy, struct thread_symbols *library,
			struct thread_symbols *loader)
{
	const struct elf_findings *executable =
		&anatomy->target->parts[PART_EXECUTABLE].file.findings;

	if (!executable->has_interpreter) {
		*library = *loader = (struct thread_symbols){ executable, anatomy->bias };
		return 0;
	}
	if (read_modules(anatomy) < 0)
		return -1;
	if (!place_symbols(anatomy, PART_LIBRARY, library) ||
	    !place_symbols(anatomy, PART_LOADER, loader))
		return miss_part(anatomy, JEMALLOC_THREAD_LIST, -ENOTSUP);
	return 0;
}

/* What the library says of its structs lies close together and does not change. */
static int read_described(struct anatomy *anatomy, const struct thread_symbols *library,
			  const struct thread_symbols *loader)
{
	CLEANUP(free_pointer)
	struct target_cache *cache = target_cache_new(&anatomy->memory);
	struct target_memory memory = target_cache_memory(cache);

	if (!cache)
		return -ENOMEM;
	return thread_layout_read(&memory, library, loader, &anatomy->layout);
}

int anatomy_read_layout(struct anatomy *anatomy)
{
	struct thread_symbols library, loader;
	int status;

	if (anatomy->has_layout)
		return 0;
	if (find_bias(anatomy) < 0 || find_symbols(anatomy, &library, &loader) < 0)
		return -1;
	status = read_described(anatomy, &library, &loader);
	if (status < 0)
		return anatomy_fail(anatomy, JEMALLOC_THREAD_LIST, status);
	anatomy->has_layout = true;
	return 0;
}

/* ---- the block that holds the counters ---- */

static int find_block_of_library(struct anatomy *anatomy)
{
	const struct loaded_module *module;
	int status;

	if (anatomy_read_layout(anatomy) < 0)
		return -1;
	module = find_module(anatomy, PART_HOLDER);
	if (!module)
		return anatomy_fail(anatomy, JEMALLOC_LINK_MAP, -ENODATA);
	status = tls_module_read(&anatomy->memory, &anatomy->layout, module->link_map,
				 &anatomy->module);
	if (status < 0)
		return anatomy_fail(anatomy, JEMALLOC_THREAD_LIST, status);
	anatomy->is_fixed = anatomy->module.is_static;
	anatomy->block = anatomy->module.offset;
	return 0;
}

static int find_block(struct anatomy *anatomy)
{
	const struct jemalloc_target *target = anatomy->target;
	const struct elf_findings *findings = &target->parts[PART_HOLDER].file.findings;

	anatomy->is_fixed = true;
	if (target->layout.from_pointer)
		return 0;
	if (!target->in_executable)
		return find_block_of_library(anatomy);
	if (!tls_executable_offset(findings->machine, &findings->tls, &anatomy->block))
		return anatomy_fail(anatomy, JEMALLOC_TLS_ARITHMETIC, -ERANGE);
	return 0;
}

void jemalloc_target_read(void *context)
{
	struct jemalloc_target *target = context;
	struct anatomy anatomy = { .target = target, .pid = target->tgid };

	anatomy.memory = target_memory_of(&anatomy.pid);
	if (find_block(&anatomy) == 0 && anatomy_find_pointers(&anatomy) == 0 &&
	    anatomy_read_counters(&anatomy) == 0) {
		target->tag = JEMALLOC_READ;
		target->error = 0;
	}
	module_list_clear(&anatomy.modules);
}
