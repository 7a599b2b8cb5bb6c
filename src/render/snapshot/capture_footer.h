/* SPDX-License-Identifier: MIT */
/*
 * What a person should know about the capture that a table comes from: where
 * and when it was made, what was lost, which sources failed, and why shown
 * metrics lack values.
 */
#ifndef RENDER_CAPTURE_FOOTER_H
#define RENDER_CAPTURE_FOOTER_H

#include <stdbool.h>
#include <stdint.h>

struct selection;
struct snapshot;
struct text;

/* Appends a line for each reason why values of these metrics are missing, with their names. */
void capture_absences(const struct snapshot *snapshot, const struct selection *selected,
		      struct text *out);

struct footer_scope {
	uint32_t sections; /* shown, a bit each: sources of readings concern some of them */
	bool is_verbose;   /* also name sources that concern nothing that is shown */
};

/* Appends whole lines; names and reasons come from a file and are escaped. */
void capture_footer(const struct snapshot *snapshot, const struct selection *shown,
		    const struct footer_scope *scope, struct text *out);

#endif
