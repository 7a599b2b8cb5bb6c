/* SPDX-License-Identifier: MIT */
/*
 * A folded value as people read it, as JSON and as a CSV field.
 *
 *	text	"-"  1.234 ms  3..7  S (3/4)  2 cpus (0-1)  1-2 cpus (mixed)
 *		and "*" at the end when only part of the group was measured
 *	JSON	members of the metric's object: value, or min and max, or mode and count
 *	CSV	the stored number; min..max; a category's text; empty when absent
 */
#ifndef RENDER_VALUE_H
#define RENDER_VALUE_H

#include <stdint.h>

#include "metric/fold.h"

struct json;
struct snapshot;
struct text;

void value_text(struct text *out, const struct snapshot *snapshot, const struct fold *fold);
void value_csv(struct text *out, const struct snapshot *snapshot, const struct fold *fold);
void value_json(struct json *json, const struct snapshot *snapshot, const struct fold *fold);

/* One stored cell, and one derived value, as a bare JSON value. */
void value_json_cell(struct json *json, const struct snapshot *snapshot, enum metric_id id,
		     uint64_t value);
void value_json_real(struct json *json, const struct fold *fold);

/*
 * Appends a CSV field that is text: escaped as in every output, quoted when RFC 4180 wants it.  What
 * a spreadsheet would compute gets an apostrophe in front, which makes it a text there.
 */
void csv_append(struct text *out, const char *string);

/* A moment of the wall clock: 2023-11-14 22:13:20 UTC, whatever this host's time zone. */
void moment_text(struct text *out, uint64_t unix_ns);

/* An age: 12.3s, 5m 06s, 4h 05m, 3d 04h. */
void age_text(struct text *out, uint64_t ns);

#endif
