/* SPDX-License-Identifier: MIT */
/* Writes what was concluded from a run as members of the object that is open. */
#ifndef RENDER_VERDICT_JSON_H
#define RENDER_VERDICT_JSON_H

#include <stdbool.h>

struct diagnosis;
struct json;
struct run;

/* `verdict` alone. */
void verdict_json(struct json *json, const struct diagnosis *diagnosis);

/*
 * `offcpu`, `analysis` and `verdict`; the diagnosis is a struct diagnosis.  The summary of a run
 * calls it (store/run/run_json.h).
 */
void diagnosis_json(struct json *json, const struct run *run, const void *diagnosis, bool is_brief);

#endif
