/* SPDX-License-Identifier: MIT */
/*
 * A snapshot as one JSON object; docs/json.md describes it.
 */
#ifndef RENDER_SNAPSHOT_JSON_H
#define RENDER_SNAPSHOT_JSON_H

#include <stdio.h>

struct snapshot_view;

void snapshot_json_print(const struct snapshot_view *view, FILE *out);

#endif
