/* SPDX-License-Identifier: MIT */
/*
 * What a person should know about the capture that a table comes from: where
 * and when, what was lost, which sources did not work, and why the metrics that
 * are shown lack values.
 */
#ifndef RENDER_CAPTURE_FOOTER_H
#define RENDER_CAPTURE_FOOTER_H

#include <stdint.h>

struct selection;
struct snapshot;
struct text;

/* Appends a line for each reason why values of these metrics are missing, with their names. */
void capture_absences(const struct snapshot *snapshot, const struct selection *selected,
		      struct text *out);

/*
 * Appends whole lines; names and reasons come from a file and are escaped.
 * Sources of readings are told of when their sections (a bit each) are shown.
 */
void capture_footer(const struct snapshot *snapshot, const struct selection *shown,
		    uint32_t sections, struct text *out);

#endif
