/* SPDX-License-Identifier: MIT */
#include "collect/jemalloc/jemalloc_target.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "host/elf/tls.h"

void jemalloc_target_free(struct jemalloc_target *target)
{
	if (!target)
		return;
	module_scan_free(&target->scan);
	module_list_clear(&target->modules);
	free(target->threads);
	free(target);
}

int target_fail(struct jemalloc_target *target, enum jemalloc_tag tag, int error)
{
	if (error == -ESRCH || error == -ENOENT)
		tag = JEMALLOC_PID_MISSING;
	else if (error == -EPERM || error == -EACCES)
		tag = tag == JEMALLOC_MAPS_READ_FAILURE ? tag : JEMALLOC_PROCESS_VM_READV;
	target->tag = tag;
	target->error = error;
	return -1;
}

static bool is_read(const struct process_module *module)
{
	return module && module->status == 0;
}

/* Reads a header that was not in memory when the modules were listed. */
static void fetch_header(struct jemalloc_target *target, struct process_module *module)
{
	if (module && module->status == -EAGAIN)
		module->status = loaded_elf_read(&target->memory, module->header, &module->elf);
}

/* ---- the C library, which describes its own structs ---- */

/* Whether the module is the C library; only modules with thread-local storage can be. */
static bool is_libc(const struct target_memory *memory, struct loaded_elf *elf)
{
	return elf->findings.tls.present &&
	       loaded_elf_read_symbol(memory, elf, ELF_SYMBOL__thread_db_pthread_tid) == 0 &&
	       elf->findings.symbols[ELF_SYMBOL__thread_db_pthread_tid];
}

static struct thread_symbols symbols_of(const struct process_module *module)
{
	return (struct thread_symbols){ &module->elf.findings, module->elf.bias };
}

/* Takes the symbols of the C library from memory, else from its file if that was inspected. */
static int read_dynamic_structs(struct jemalloc_target *target, const struct target_memory *memory)
{
	struct process_modules *modules = &target->scan->modules;
	struct thread_symbols library = { 0 }, loader = { 0 };

	for (size_t i = 0; i < modules->list.count; i++) {
		struct process_module *module = &modules->list.data[i];
		bool is_loader;

		if (module->is_executable)
			continue;
		fetch_header(target, module);
		is_loader = module->elf.bias == modules->image.interpreter;
		if (module->status < 0 ||
		    (!is_loader && (library.findings || !is_libc(memory, &module->elf))) ||
		    loaded_elf_read_symbols(memory, &module->elf) < 0)
			continue;
		*(is_loader ? &loader : &library) = symbols_of(module);
	}
	if (!library.findings && is_read(target->libc))
		library = (struct thread_symbols){ &target->libc_findings, target->libc->elf.bias };
	if (!loader.findings || !library.findings)
		return -ENOTSUP;
	return thread_layout_read(memory, &library, &loader, &target->structs);
}

/* A program without a dynamic loader contains the C library itself. */
static int read_static_structs(struct jemalloc_target *target, const struct target_memory *memory)
{
	const struct thread_symbols all = { &target->libc_findings, target->executable->elf.bias };

	return target->libc ? thread_layout_read(memory, &all, &all, &target->structs) : -ENOTSUP;
}

/*
 * The library's descriptions of its structs lie close together and do not change, so reads are
 * cached.
 */
static int read_structs(struct jemalloc_target *target)
{
	CLEANUP(free_pointer)
	struct target_cache *cache = target_cache_new(&target->memory);
	struct target_memory memory = target_cache_memory(cache);

	if (!cache)
		return -ENOMEM;
	return target->executable->elf.findings.has_interpreter ?
		       read_dynamic_structs(target, &memory) :
		       read_static_structs(target, &memory);
}

int target_read_structs(struct jemalloc_target *target)
{
	int status;

	if (target->has_structs)
		return 0;
	if (!is_read(target->executable))
		return target_fail(target, JEMALLOC_LINK_MAP, -ENODATA);
	status = read_structs(target);
	if (status < 0)
		return target_fail(target, JEMALLOC_THREAD_LIST, status);
	target->has_structs = true;
	return 0;
}

bool jemalloc_target_needs_library(const struct jemalloc_target *target)
{
	return target->tag == JEMALLOC_THREAD_LIST && target->error == -ENOTSUP &&
	       !target->was_inspected;
}

/* ---- the block that holds the counters ---- */

/* A module's dynamic section lies between its first and its last byte. */
static const struct loaded_module *find_module(const struct jemalloc_target *target)
{
	for (size_t i = 0; i < target->modules.modules.count; i++) {
		const struct loaded_module *module = &target->modules.modules.data[i];

		if (module->dynamic >= target->holder->elf.start &&
		    module->dynamic < target->holder->elf.end)
			return module;
	}
	return NULL;
}

static int read_modules(struct jemalloc_target *target)
{
	const struct loaded_elf *elf = &target->executable->elf;
	int status;

	if (!elf->findings.has_interpreter || target->modules.modules.count)
		return 0;
	status = link_map_read(&target->memory, elf->bias + elf->findings.dynamic_vaddr,
			       &target->modules);
	return status < 0 ? target_fail(target, JEMALLOC_LINK_MAP, status) : 0;
}

static int find_block_of_library(struct jemalloc_target *target)
{
	const struct loaded_module *module;
	int status;

	if (!is_read(target->executable))
		return target_fail(target, JEMALLOC_LINK_MAP, -ENODATA);
	if (read_modules(target) < 0 || target_read_structs(target) < 0)
		return -1;
	module = find_module(target);
	if (!module)
		return target_fail(target, JEMALLOC_LINK_MAP, -ENODATA);
	status = tls_module_read(&target->memory, &target->structs, module->link_map,
				 &target->module);
	if (status < 0)
		return target_fail(target, JEMALLOC_THREAD_LIST, status);
	target->is_fixed = target->module.is_static;
	target->block = target->module.offset;
	return 0;
}

static int find_block(struct jemalloc_target *target)
{
	const struct elf_findings *findings = &target->holder->elf.findings;

	target->is_fixed = true;
	if (target->layout.from_pointer)
		return 0;
	if (!target->holder->is_executable)
		return find_block_of_library(target);
	if (!tls_executable_offset(findings->machine, &findings->tls, &target->block))
		return target_fail(target, JEMALLOC_TLS_ARITHMETIC, -ERANGE);
	return 0;
}

void jemalloc_target_read(void *context)
{
	struct jemalloc_target *target = context;

	target->memory = target_memory_of(&target->pid);
	fetch_header(target, target->executable);
	fetch_header(target, target->holder);
	if (find_block(target) == 0 && target_find_pointers(target) == 0 &&
	    target_read_counters(target) == 0) {
		target->tag = JEMALLOC_READ;
		target->error = 0;
	}
}
