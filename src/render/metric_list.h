/* SPDX-License-Identifier: MIT */
/*
 * The metric table for people, for programs and as a man page.
 */
#ifndef RENDER_METRIC_LIST_H
#define RENDER_METRIC_LIST_H

#include <stdio.h>

/* Text by section; returns 0 or -ENOMEM. */
int metric_list_text(FILE *out, size_t width); /* 0: as wide as is good to read */

/* One object: format, version, metrics. */
void metric_list_json(FILE *out);

/* scdoc source of taskscope-metrics(7); returns 0 or -ENOMEM. */
int metric_list_man(FILE *out);

#endif
