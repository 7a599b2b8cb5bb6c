/* SPDX-License-Identifier: MIT */
/*
 * Lists the modules of a running program, from the list that its dynamic loader keeps for
 * debuggers: the executable's dynamic section points to the loader's r_debug, which starts the
 * chain of link_maps.
 *
 * This part is the same in every libc.  The chain may be changing, broken or forged.  So the walk
 * ends after LINK_MAP_MODULES_MAX modules, and where a module does not point back at the one
 * before it.
 */
#ifndef HOST_LINK_MAP_H
#define HOST_LINK_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"

#define LINK_MAP_MODULES_MAX 4096

struct target_memory;

struct loaded_module {
	uint64_t link_map; /* where its link_map is; thread_list.h reads the rest of it */
	uint64_t base;	   /* load bias: what to add to an address of the file */
	uint64_t dynamic;  /* address of its dynamic section; the mapping there names its file */
};

/* In load order, the executable first.  All zeros is empty and valid. */
struct module_list {
	ARRAY_OF(struct loaded_module) modules;
};

/*
 * `dynamic` is the address of the executable's dynamic section: load bias plus PT_DYNAMIC's
 * p_vaddr.  Returns 0 and at least one module, -ENODATA when there is no r_debug or no module in
 * it (no dynamic loader, or one that has not started), -ELOOP when the chain was inconsistent in
 * each of several attempts, -EFAULT, -EPERM, -ESRCH, -ENOMEM.
 */
int link_map_read(const struct target_memory *memory, uint64_t dynamic, struct module_list *ret);
void module_list_clear(struct module_list *list);

#endif
