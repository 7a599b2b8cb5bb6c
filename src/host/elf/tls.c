/* SPDX-License-Identifier: MIT */
#include "host/elf/tls.h"

#include <elf.h>
#include <stddef.h>

#include "base/collection/array.h"
#include "host/elf/elf_inspect.h"

#define BLOCK_MAX (1ull << 47) /* larger than a program's address space */

/* What differs between machines.  A distance is from the thread pointer to a block. */
struct machine {
	uint16_t id;
	bool above;			 /* variant I: blocks, and the thread pointer, lie above */
	uint64_t reserved;		 /* bytes at the thread pointer before the first block */
	bool descriptor_ends_at_pointer; /* struct pthread lies right below the thread pointer */
};

static const struct machine machines[] = {
	{ .id = EM_X86_64 },
	{ .id = EM_AARCH64, .above = true, .reserved = 16, .descriptor_ends_at_pointer = true },
};

static const struct machine *find_machine(uint16_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].id == id)
			return &machines[i];
	return NULL;
}

/* The smallest distance >= `least` that is congruent to `residue` modulo `align`. */
static uint64_t aligned_distance(uint64_t least, uint64_t residue, uint64_t align)
{
	return least + ((residue - least) & (align - 1));
}

bool tls_executable_offset(uint16_t machine, const struct elf_tls *tls, int64_t *ret)
{
	const struct machine *rules = find_machine(machine);
	uint64_t align = tls->align ? tls->align : 1;

	if (!rules || !tls->present || (align & (align - 1)) != 0 || align > BLOCK_MAX ||
	    tls->memsz > BLOCK_MAX)
		return false;
	if (rules->above)
		*ret = (int64_t)aligned_distance(rules->reserved, tls->vaddr, align);
	else
		*ret = -(int64_t)aligned_distance(tls->memsz, -tls->vaddr, align);
	return true;
}

bool tls_module_offset(uint16_t machine, uint64_t kept, int64_t *ret)
{
	const struct machine *rules = find_machine(machine);

	if (!rules || kept > BLOCK_MAX)
		return false;
	*ret = rules->above ? (int64_t)kept : -(int64_t)kept;
	return true;
}

bool tls_thread_pointer(uint16_t machine, uint64_t pthread, uint64_t pthread_size, uint64_t *ret)
{
	const struct machine *rules = find_machine(machine);

	if (!rules)
		return false;
	return !__builtin_add_overflow(pthread,
				       rules->descriptor_ends_at_pointer ? pthread_size : 0, ret);
}

bool tls_thread_descriptor(uint16_t machine, uint64_t pointer, uint64_t pthread_size, uint64_t *ret)
{
	const struct machine *rules = find_machine(machine);

	if (!rules)
		return false;
	return !__builtin_sub_overflow(pointer,
				       rules->descriptor_ends_at_pointer ? pthread_size : 0, ret);
}

bool tls_counter_address(uint64_t thread_pointer, int64_t block, uint64_t member, uint64_t *ret)
{
	uint64_t start, address;

	if (__builtin_add_overflow(thread_pointer, block, &start) ||
	    __builtin_add_overflow(start, member, &address))
		return false;
	*ret = address;
	return true;
}
