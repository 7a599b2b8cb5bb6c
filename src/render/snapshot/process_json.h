/* SPDX-License-Identifier: MIT */
/*
 * Writes what a process belongs to, as members of a JSON object: its program,
 * and the container and unit from its cgroup.
 */
#ifndef RENDER_PROCESS_JSON_H
#define RENDER_PROCESS_JSON_H

struct json;
struct process;
struct snapshot;

/* Writes what is known: `exe`, `container`, `unit`. */
void process_json_members(struct json *json, const struct snapshot *snapshot,
			  const struct process *process);

#endif
