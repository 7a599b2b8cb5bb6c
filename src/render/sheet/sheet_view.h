/* SPDX-License-Identifier: MIT */
/*
 * The view of readings: those of cgroups, of processes, of the host and of the
 * capture itself.
 */
#ifndef RENDER_SHEET_VIEW_H
#define RENDER_SHEET_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "metric/metric.h"

struct json;
struct sheet;
struct snapshot;
struct table;
struct terminal;
struct text;

/*
 * Prints the readings of one section for people: cgroups, processes, pressure,
 * the host; below each table, where values come from and why some are missing.
 * Prints at most `limit` rows of a table (0: all), and an empty line before each
 * table except the section's first (`is_first`).  Returns 0 or -ENOMEM.
 */
int sheet_text_print(const struct snapshot *snapshot, enum metric_section section, size_t limit,
		     bool is_first, const struct terminal *terminal, FILE *out);

/*
 * Pressure of the host and of cgroups in one table: a line for each resource.
 * Cgroups: at most `limit`, 0 for all.  Returns 0 or -ENOMEM.
 */
int pressure_text_print(const struct snapshot *snapshot, size_t limit,
			const struct terminal *terminal, FILE *out);

/*
 * CSV: table,row,reading,value,unit, a line for each reading that is not absent.
 * Returns 0 or -ENOMEM.
 */
int sheet_csv_print(const struct snapshot *snapshot, uint32_t sections, FILE *out);

/*
 * In JSON, the words of a name are nested keys: "memory.stat anon" is the member
 * anon of the object memory.stat.  An absent reading has no key.
 */

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

/*
 * Notes about the columns of a sheet: where values come from, if not from the
 * file that the name says, and why some are missing.
 */
enum sheet_note {
	SHEET_NOTE_ORIGIN, /* "from v1 cpu: cpu.shares: cpu.weight" */
	SHEET_NOTE_ABSENT, /* "absent, the root cgroup does not have it: memory.max, memory.high" */
	SHEET_NOTE_COUNT,
};

/*
 * Appends a line for each distinct note of that kind on columns of these
 * sections, with all names that it concerns; a star stands for all names that
 * begin with the same words.  Returns 0 or -ENOMEM.
 */
int sheet_notes_append(const struct sheet *sheet, enum sheet_note kind, uint32_t sections,
		       struct text *out);

#endif
