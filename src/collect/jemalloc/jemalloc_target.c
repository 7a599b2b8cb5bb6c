/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "collect/jemalloc/jemalloc_view.h"
#include "host/elf/tls.h"

void jemalloc_target_free(struct jemalloc_target *target)
{
	if (!target)
		return;
	close_fd(&target->process);
	free(target->threads);
	free(target);
}

int view_fail(struct target_view *view, enum jemalloc_tag tag, int error)
{
	struct jemalloc_target *target = view->target;

	if (error == -ESRCH || error == -ENOENT)
		tag = JEMALLOC_PID_MISSING;
	else if (error == -EPERM || error == -EACCES)
		tag = tag == JEMALLOC_MAPS_READ_FAILURE ? tag : JEMALLOC_PROCESS_VM_READV;
	target->tag = tag;
	target->error = error;
	return -1;
}

/* ---- the C library, which describes its own structs ---- */

static int read_modules(struct target_view *view)
{
	const struct loaded_elf *executable = &view->target->executable.elf;
	int status =
		link_map_read(&view->memory, executable->bias + executable->findings.dynamic_vaddr,
			      &view->modules);

	return status < 0 ? view_fail(view, JEMALLOC_LINK_MAP, status) : 0;
}

/* A module's dynamic section lies between its first and its last byte. */
static const struct loaded_module *find_module(const struct target_view *view, uint64_t start,
					       uint64_t end)
{
	for (size_t i = 0; i < view->modules.modules.count; i++) {
		const struct loaded_module *module = &view->modules.modules.data[i];

		if (module->dynamic >= start && module->dynamic < end)
			return module;
	}
	return NULL;
}

/* Whether the module is the C library; only modules with thread-local storage can be. */
static bool is_library(const struct target_memory *memory, struct loaded_elf *elf)
{
	return elf->findings.tls.present &&
	       loaded_elf_read_symbol(memory, elf, ELF_SYMBOL__thread_db_pthread_tid) == 0 &&
	       elf->findings.symbols[ELF_SYMBOL__thread_db_pthread_tid];
}

struct symbol_owners {
	struct loaded_elf library, loader;
	bool has_library, has_loader;
};

static void find_owners(const struct target_view *view, const struct target_memory *memory,
			struct symbol_owners *ret)
{
	for (size_t i = 1; i < view->modules.modules.count; i++) {
		const struct loaded_module *module = &view->modules.modules.data[i];
		struct loaded_elf elf;

		if (loaded_elf_read(memory, module->base, &elf) < 0)
			continue;
		if (module->base == view->target->interpreter) {
			ret->loader = elf;
			ret->has_loader = loaded_elf_read_symbols(memory, &ret->loader) == 0;
		} else if (!ret->has_library && is_library(memory, &elf)) {
			ret->library = elf;
			ret->has_library = loaded_elf_read_symbols(memory, &ret->library) == 0;
		}
	}
}

/* Takes the symbols from the C library's file if that was inspected, else from memory. */
static int describe_library(const struct target_view *view, const struct symbol_owners *owners,
			    struct thread_symbols *ret)
{
	const struct jemalloc_target *target = view->target;
	const struct loaded_module *module;

	if (owners->has_library) {
		*ret = (struct thread_symbols){ &owners->library.findings, owners->library.bias };
		return 0;
	}
	for (size_t i = 0; target->library_code && i < view->modules.modules.count; i++) {
		module = &view->modules.modules.data[i];
		/* The dynamic section is behind the code, in the same module. */
		if (module->base <= target->library_code &&
		    target->library_code < module->dynamic) {
			*ret = (struct thread_symbols){ &target->library, module->base };
			return 0;
		}
	}
	return -ENOTSUP;
}

static int read_dynamic_layout(struct target_view *view, const struct target_memory *memory)
{
	CLEANUP(free_pointer) struct symbol_owners *owners = calloc(1, sizeof(*owners));
	struct thread_symbols library, loader;

	if (!owners)
		return -ENOMEM;
	find_owners(view, memory, owners);
	if (!owners->has_loader || describe_library(view, owners, &library) < 0)
		return -ENOTSUP;
	loader = (struct thread_symbols){ &owners->loader.findings, owners->loader.bias };
	return thread_layout_read(memory, &library, &loader, &view->layout);
}

/* A program without a dynamic loader contains the C library itself. */
static int read_static_layout(struct target_view *view, const struct target_memory *memory)
{
	const struct jemalloc_target *target = view->target;
	const struct thread_symbols all = { &target->library, target->executable.elf.bias };

	return target->library_code ? thread_layout_read(memory, &all, &all, &view->layout) :
				      -ENOTSUP;
}

/*
 * The library's descriptions of its structs lie close together and do not change, so reads are
 * cached.
 */
static int read_layout(struct target_view *view)
{
	CLEANUP(free_pointer)
	struct target_cache *cache = target_cache_new(&view->memory);
	struct target_memory memory = target_cache_memory(cache);

	if (!cache)
		return -ENOMEM;
	return view->target->executable.elf.findings.has_interpreter ?
		       read_dynamic_layout(view, &memory) :
		       read_static_layout(view, &memory);
}

int view_read_layout(struct target_view *view)
{
	const struct jemalloc_target *target = view->target;
	int status;

	if (view->has_layout)
		return 0;
	if (!target->executable.is_read)
		return view_fail(view, JEMALLOC_LINK_MAP, -ENODATA);
	if (target->executable.elf.findings.has_interpreter && !view->modules.modules.count &&
	    read_modules(view) < 0)
		return -1;
	status = read_layout(view);
	if (status < 0)
		return view_fail(view, JEMALLOC_THREAD_LIST, status);
	view->has_layout = true;
	return 0;
}

bool jemalloc_target_needs_library(const struct jemalloc_target *target)
{
	return target->tag == JEMALLOC_THREAD_LIST && target->error == -ENOTSUP &&
	       !target->was_inspected;
}

/* ---- the block that holds the counters ---- */

static int find_block_of_library(struct target_view *view)
{
	const struct loaded_module *module;
	int status;

	if (view_read_layout(view) < 0)
		return -1;
	module = find_module(view, view->target->holder.elf.start, view->target->holder.elf.end);
	if (!module)
		return view_fail(view, JEMALLOC_LINK_MAP, -ENODATA);
	status = tls_module_read(&view->memory, &view->layout, module->link_map, &view->module);
	if (status < 0)
		return view_fail(view, JEMALLOC_THREAD_LIST, status);
	view->is_fixed = view->module.is_static;
	view->block = view->module.offset;
	return 0;
}

static int find_block(struct target_view *view)
{
	const struct jemalloc_target *target = view->target;
	const struct elf_findings *findings = &target->holder.elf.findings;

	view->is_fixed = true;
	if (target->layout.from_pointer)
		return 0;
	if (!target->in_executable)
		return find_block_of_library(view);
	if (!tls_executable_offset(findings->machine, &findings->tls, &view->block))
		return view_fail(view, JEMALLOC_TLS_ARITHMETIC, -ERANGE);
	return 0;
}

static void read_module(const struct target_view *view, struct target_module *module)
{
	if (!module->is_read && module->header)
		module->is_read = loaded_elf_read(&view->memory, module->header, &module->elf) == 0;
}

void jemalloc_target_read(void *context)
{
	struct jemalloc_target *target = context;
	struct target_view view = { .target = target, .pid = target->tgid };

	view.memory = target_memory_of(&view.pid);
	read_module(&view, &target->executable);
	read_module(&view, &target->holder);
	if (find_block(&view) == 0 && view_find_pointers(&view) == 0 &&
	    view_read_counters(&view) == 0) {
		target->tag = JEMALLOC_READ;
		target->error = 0;
	}
	module_list_clear(&view.modules);
}
