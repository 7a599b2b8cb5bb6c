/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The cgroup of a task in the hierarchy that paths are taken from.
 */
#ifndef BPF_CGROUP_BPF_H
#define BPF_CGROUP_BPF_H

#include "kernel.bpf.h"
#include "task.h"

#define CGROUP_LEVELS_MAX 64

const volatile __u32 cgroup_hierarchy = TASK_CGROUP_UNIFIED;

/*
 * Finds the cgroup of a set in the hierarchy that was asked for.  The kernel remembers few types
 * while it loads a program: those of one kind are used together, so that it searches for each
 * once.
 */
static __always_inline struct cgroup *cgroup_find(const struct css_set *set)
{
	struct cgroup_subsys_state *state = 0;
	__u64 controller = 0;

	switch (cgroup_hierarchy) {
	case TASK_CGROUP_UNIFIED:
		break;
#define CONTROLLER(name)                                                                           \
	case TASK_CGROUP_##name:                                                                   \
		if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, name##_cgrp_id))            \
			return 0;                                                                  \
		controller = bpf_core_enum_value(enum cgroup_subsys_id, name##_cgrp_id);           \
		break;
		TASK_CGROUP_CONTROLLERS(CONTROLLER)
#undef CONTROLLER
	default:
		return 0;
	}
	if (cgroup_hierarchy == TASK_CGROUP_UNIFIED)
		return BPF_CORE_READ(set, dfl_cgrp);
	bpf_probe_read_kernel(&state, sizeof(state),
			      (const char *)&set->subsys + controller * sizeof(state));
	return BPF_CORE_READ(state, cgroup);
}

/* Whether the task is in the cgroup of that number, or below it. */
static __always_inline bool is_in_cgroup(struct task_struct *task, __u64 id)
{
	struct cgroup *cgroup = cgroup_find(BPF_CORE_READ(task, cgroups));
	__s32 level = cgroup ? BPF_CORE_READ(cgroup, level) : -1;

	for (__s32 i = 0; i <= level && i < CGROUP_LEVELS_MAX; i++) {
		struct cgroup *ancestor = 0;

		bpf_probe_read_kernel(&ancestor, sizeof(ancestor),
				      (const char *)&cgroup->ancestors + i * sizeof(ancestor));
		if (BPF_CORE_READ(ancestor, kn, id) == id)
			return true;
	}
	return false;
}

#endif
