/* SPDX-License-Identifier: MIT */
/*
 * A comparison as one JSON object; docs/json.md describes it.
 */
#ifndef RENDER_COMPARE_JSON_H
#define RENDER_COMPARE_JSON_H

#include <stdio.h>

struct compare_view;

void compare_json_print(const struct compare_view *view, FILE *out);

#endif
