/* SPDX-License-Identifier: MIT */
/*
 * Writes readings as JSON.  The words of a name are nested keys: "memory.stat
 * anon" is the member anon of the object memory.stat.  An absent reading has no
 * key.
 */
#ifndef RENDER_SHEET_JSON_H
#define RENDER_SHEET_JSON_H

#include <stdint.h>

struct json;
struct sheet;
struct snapshot;
struct table;

/* The readings of these sections as columns of a table, and a row of them. */
void sheet_add_columns(struct table *table, const struct sheet *sheet, uint32_t sections);
void sheet_put_row(struct table *table, const struct snapshot *snapshot, const struct sheet *sheet,
		   uint32_t row, uint32_t sections);

/* Writes all cgroups, the origin of their values, and why some are missing, as members. */
void sheet_json_cgroups(struct json *json, const struct snapshot *snapshot, uint32_t sections);

/* Writes why readings of cgroups are missing, as a member. */
void sheet_json_cgroup_absent(struct json *json, const struct snapshot *snapshot,
			      uint32_t sections);

/* Processes that have readings. */
void sheet_json_processes(struct json *json, const struct snapshot *snapshot, uint32_t sections);

/* Writes why readings of the host are missing, as a member. */
void sheet_json_host_absent(struct json *json, const struct snapshot *snapshot, uint32_t sections);

#endif
