/* SPDX-License-Identifier: MIT */
/*
 * Why values of a comparison are missing.
 */
#ifndef RENDER_COMPARE_ABSENCE_H
#define RENDER_COMPARE_ABSENCE_H

struct compare_view;
struct text;

/*
 * Appends a line for each reason, with the metrics and readings that it
 * concerns: first those that one side lacks, then the metrics that no side has.
 */
void compare_absence_append(const struct compare_view *view, struct text *out);

#endif
