/* SPDX-License-Identifier: MIT */
/*
 * Values of a snapshot in a table, and points in time.
 */
#ifndef RENDER_VALUE_H
#define RENDER_VALUE_H

#include <stdint.h>

#include "model/snapshot/snapshot.h"

struct table;
struct text;

/* Puts a cell of a snapshot into a table. */
void put_column(struct table *table, const struct snapshot *snapshot, const struct column *column,
		uint32_t row);

/* Puts what is known about the host under that name. */
void put_fact(struct table *table, const struct snapshot *snapshot, enum fact_id id);

/* A time of the wall clock: 2023-11-14 22:13:20 UTC, whatever this host's time zone. */
void moment_text(struct text *out, uint64_t unix_ns);

#endif
