/* SPDX-License-Identifier: MIT */
/*
 * Readings as JSON.  The words of a name are keys within keys: "memory.stat anon"
 * is the member anon of the object memory.stat.  What is absent has no key.
 */
#ifndef RENDER_SHEET_JSON_H
#define RENDER_SHEET_JSON_H

#include <stdint.h>

struct json;
struct sheet;
struct snapshot;

/* One row's readings of these sections, as members of the object that is open. */
void sheet_json_row(struct json *json, const struct snapshot *snapshot, const struct sheet *sheet,
		    uint32_t row, uint32_t sections);

/* All cgroups, where their values come from, why some are missing: members of the object. */
void sheet_json_cgroups(struct json *json, const struct snapshot *snapshot, uint32_t sections);

/* Why readings of cgroups are missing: a member of the object. */
void sheet_json_cgroup_absent(struct json *json, const struct snapshot *snapshot,
			      uint32_t sections);

/* Processes that have readings. */
void sheet_json_processes(struct json *json, const struct snapshot *snapshot, uint32_t sections);

/* Why readings of the host are missing: a member of the object. */
void sheet_json_host_absent(struct json *json, const struct snapshot *snapshot, uint32_t sections);

#endif
