/* SPDX-License-Identifier: MIT */
/*
 * What a recording has besides snapshots, as rows of tables: for people, and as CSV.  JSON is in
 * record_json.h, whose keys are the ids of the columns.
 */
#ifndef RENDER_RECORD_TABLE_H
#define RENDER_RECORD_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/record/host_sample.h"

struct anomaly;
struct life_event;
struct table;
struct text;

/* "2026-11-17 10:04:31", in local time. */
void record_append_time(struct text *out, uint64_t unix_ns);

/* clang-format off */
/* Two columns of a time: people read local time, programs get nanoseconds. */
#define RECORD_TIME_COLUMNS(title_, id_) { .title = title_ }, { .id = id_ }
/* clang-format on */
void record_put_time(struct table *table, uint64_t unix_ns);

void event_columns(struct table *table);
void put_event(struct table *table, const struct life_event *event);
/* The same as one line for people. */
void event_line(struct text *out, const struct life_event *event);

void anomaly_columns(struct table *table);
void put_anomaly(struct table *table, const struct anomaly *anomaly);
/* For people: a line of figures, and below it what happened. */
void anomaly_lines(struct text *out, const struct anomaly *anomaly, bool colour);

/* A series of the host: these of its figures.  With a scope, samples have its name, and figures of the host are titled as such. */
void sample_columns(struct table *table, const enum host_value *values, size_t count,
		    bool has_scope);
void put_sample(struct table *table, const struct host_sample *sample,
		const enum host_value *values, size_t count, bool has_scope);

#endif
