/* SPDX-License-Identifier: MIT */
/* Reads the phases of a summary back into the model. */
#include <errno.h>

#include "store/run/replay/run_parts.h"
#include "store/run/replay/run_values.h"

static void read_self(const json_t *object, struct phase *ret)
{
	bool has_wall = member_u64(object, "self_wall_ns", &ret->self_wall_ns);
	bool has_off_cpu = member_u64(object, "self_off_cpu_ns", &ret->self_off_cpu_ns);
	bool has_total = member_u64(object, "self_total_ns", &ret->self_total_ns);

	member_u64(object, "self_run_time_ns", &ret->self_cpu_ns);
	ret->has_self = has_wall || has_off_cpu || has_total;
}

/* False when the object has no label or no process. */
static bool read_phase(const json_t *object, struct phase *ret)
{
	bool has_threads = member_u64(object, "threads_ever", &ret->threads);

	if (!member_text(object, "label") || !member_i32(object, "pid", &ret->process.pid) ||
	    ret->process.pid <= 0)
		return false;
	ret->process.tid = ret->process.pid;
	member_u64(object, "start_time_ns", &ret->process.start_ns);
	member_comm(object, "comm", ret->comm);
	member_bytes(object, "label", ret->label, sizeof(ret->label));
	if (has_threads && member_u64(object, "wall_ns", &ret->wall_ns))
		member_u64(object, "samples", &ret->samples);
	ret->has_cpu = member_u64(object, "run_time_ns", &ret->cpu_ns);
	ret->has_waits = member_u64(object, "off_cpu_ns", &ret->off_cpu_ns) && !ret->has_cpu;
	ret->is_off_cpu_exact = member_flag(object, "off_cpu_exact");
	ret->has_count = member_u64(object, "count", &ret->count) &&
			 member_u64(object, "total_ns", &ret->total_ns);
	read_self(object, ret);
	ret->is_partial = !member_flag(object, "exact");
	return true;
}

int run_read_phases(const json_t *list, struct phases *ret)
{
	size_t count = json_array_size(list);

	if (!json_is_array(list))
		return 0;
	ret->known = true;
	for (size_t i = 0; i < count && i < PHASES_MAX; i++) {
		struct phase phase = { 0 };

		if (read_phase(json_array_get(list, i), &phase) &&
		    array_append(&ret->list, phase) < 0)
			return -ENOMEM;
	}
	return 0;
}
