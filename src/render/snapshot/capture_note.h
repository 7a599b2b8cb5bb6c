/* SPDX-License-Identifier: MIT */
/*
 * What there is to know about a capture: how much it saw, how, and every loss;
 * for programs, and for people in one line or below the table that comes from it.
 */
#ifndef RENDER_CAPTURE_NOTE_H
#define RENDER_CAPTURE_NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "metric/metric.h"

struct grouping;
struct json;
struct selection;
struct snapshot;
struct source_report;
struct text;

/* How many threads or processes it has, those behind rows that stand for several included. */
uint64_t capture_count(const struct snapshot *snapshot, enum metric_id count);
/* The same in words, with "at least" for a run that may have missed some. */
void capture_size(const struct snapshot *snapshot, struct text *out);
void capture_note(const struct snapshot *snapshot, struct text *out);

/* What a filter left, and what it left out because a value is absent: "only pcomm=a: 3 of 9 tasks". */
struct filter_report;
void filter_note(const struct filter_report *report, struct text *out);
/* The same as members of an object, the value of the key "filter"; nothing without a filter. */
void filter_json(struct json *json, const struct filter_report *report);

/* The tallies as an object, the value of a key that was just written. */
void capture_json(struct json *json, const struct snapshot *snapshot);

/* How a source did, as members of an open object, to which more may be added. */
void source_json_members(struct json *json, const struct source_report *source);

/* Appends a line for each reason why values of these metrics are missing, with their names. */
void capture_absences(const struct snapshot *snapshot, const struct selection *selected,
		      struct text *out);

struct footer_scope {
	uint32_t sections; /* shown, a bit each: sources of readings concern some of them */
	bool is_verbose;   /* also name sources, and gaps, that concern nothing that is shown */
	const struct grouping *grouping; /* whose first `groups` groups are shown */
	size_t groups;
};

/*
 * Appends whole lines for people: where and when it was made, what was lost,
 * which sources failed, and why shown metrics lack values.  Names and reasons
 * come from a file and are escaped.
 */
void capture_footer(const struct snapshot *snapshot, const struct selection *shown,
		    const struct footer_scope *scope, struct text *out);

#endif
