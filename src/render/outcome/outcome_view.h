/* SPDX-License-Identifier: MIT */
/*
 * This room shows jobs that ended: what goes with failure, and what a job will need
 * (analyze/outcome).
 */
#ifndef RENDER_OUTCOME_VIEW_H
#define RENDER_OUTCOME_VIEW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct correlation;
struct estimate;
struct estimate_room;
struct json;
struct outcome_group;
struct table;
struct terminal;

/* Groups as rows for programs: of CSV, and the objects of JSON. */
void outcome_group_columns(struct table *table);
void put_outcome_group(struct table *table, const struct outcome_group *group);
/* One of them as an object. */
void outcome_group_json(struct json *json, const struct outcome_group *group);

/* `name` is that of the jobs, or NULL: of all.  `limit` is of groups that are not findings, 0: all. */
void correlation_json(struct json *json, const struct correlation *correlation, const char *name);
/* 0, or -ENOMEM. */
int correlation_text(FILE *out, const struct terminal *terminal,
		     const struct correlation *correlation, const char *name, size_t limit);

/* `room` is NULL when nobody asked whether the job fits. */
void estimate_json(struct json *json, const struct estimate *estimate, const char *name,
		   const struct estimate_room *room);
int estimate_text(FILE *out, const struct terminal *terminal, const struct estimate *estimate,
		  const char *name, const struct estimate_room *room);

#endif
