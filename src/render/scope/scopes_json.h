/* SPDX-License-Identifier: MIT */
/*
 * The scopes of programs as one JSON object.
 */
#ifndef RENDER_SCOPES_JSON_H
#define RENDER_SCOPES_JSON_H

#include <stdbool.h>
#include <stdio.h>

struct scope_survey;

void scopes_json(FILE *out, const struct scope_survey *survey, bool with_statistics);

#endif
