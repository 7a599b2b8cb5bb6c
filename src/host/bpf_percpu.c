/* SPDX-License-Identifier: MIT */
#include <bpf/btf.h>
#include <string.h>

#include "base/cleanup.h"
#include "host/bpf.h"

#define PERCPU_SECTION ".data..percpu"

CLEANUP_POINTER(btf__free, struct btf)

/* Where a per-CPU variable of the kernel is within their section; negative when not known. */
static int64_t variable_offset(const struct btf *types, const struct btf_type *section,
			       const char *name)
{
	const struct btf_var_secinfo *variables = btf_var_secinfos(section);

	for (uint32_t i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *type = btf__type_by_id(types, variables[i].type);
		const char *found = type ? btf__name_by_offset(types, type->name_off) : NULL;

		if (found && strcmp(found, name) == 0)
			return variables[i].offset;
	}
	return -1;
}

static int64_t member_offset(const struct btf *types, const char *structure, const char *member)
{
	int id = btf__find_by_name_kind(types, structure, BTF_KIND_STRUCT);
	const struct btf_type *type = id > 0 ? btf__type_by_id(types, (uint32_t)id) : NULL;

	for (uint32_t i = 0; type && i < btf_vlen(type); i++) {
		const char *name = btf__name_by_offset(types, btf_members(type)[i].name_off);

		if (name && strcmp(name, member) == 0)
			return btf_member_bit_offset(type, i) / 8;
		/* The members of pcpu_hot are in an anonymous struct in an anonymous union. */
		if (name && !*name)
			type = btf__type_by_id(types, btf_members(type)[i].type), i = (uint32_t)-1;
	}
	return -1;
}

/* A variable of its own, or, from 6.2 to 6.14, a member of pcpu_hot. */
static int64_t preempt_count_offset(const struct btf *types, const struct btf_type *section)
{
	int64_t offset = variable_offset(types, section, "__preempt_count");
	int64_t hot = variable_offset(types, section, "pcpu_hot");
	int64_t member = member_offset(types, "pcpu_hot", "preempt_count");

	if (offset >= 0)
		return offset;
	return hot >= 0 && member >= 0 ? hot + member : -1;
}

int64_t host_bpf_preempt_distance(void)
{
	CLEANUP(btf__free_pointer) struct btf *types = btf__load_vmlinux_btf();
	const struct btf_type *section = NULL;
	int64_t queue, count;
	int id;

	if (!types)
		return 0;
	id = btf__find_by_name_kind(types, PERCPU_SECTION, BTF_KIND_DATASEC);
	section = id > 0 ? btf__type_by_id(types, (uint32_t)id) : NULL;
	if (!section)
		return 0;
	queue = variable_offset(types, section, "runqueues");
	count = preempt_count_offset(types, section);
	return queue >= 0 && count >= 0 ? count - queue : 0;
}
