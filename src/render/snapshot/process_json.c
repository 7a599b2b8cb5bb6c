/* SPDX-License-Identifier: MIT */
#include "render/snapshot/process_json.h"

#include "analyze/group/container.h"
#include "base/json.h"
#include "model/snapshot/snapshot.h"

static void write_container(struct json *json, const struct container *container)
{
	json_key(json, "container");
	json_begin_object(json);
	if (container->runtime) {
		json_member_string(json, "runtime", container->runtime);
		json_member_string(json, "id", container->id);
	}
	if (*container->pod)
		json_member_string(json, "pod", container->pod);
	json_end_object(json);
}

void process_json_members(struct json *json, const struct snapshot *snapshot,
			  const struct process *process)
{
	const struct task *task = &snapshot->tasks[process->first_task];
	struct container container;

	if (process->exe)
		json_member_string(json, "exe", snapshot_text(snapshot, process->exe));
	container_find(snapshot_text(snapshot, task->cgroup), &container);
	if (container.runtime || *container.pod)
		write_container(json, &container);
	if (*container.unit)
		json_member_string(json, "unit", container.unit);
}
