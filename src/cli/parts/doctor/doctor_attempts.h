/* SPDX-License-Identifier: MIT */
/* What `doctor` finds out about ways of following processes: each is tried. */
#ifndef CLI_DOCTOR_ATTEMPTS_H
#define CLI_DOCTOR_ATTEMPTS_H

#include <stdio.h>

#include "base/error.h"
#include "model/snapshot/source_report.h"

#define ATTEMPTS_MAX 8

struct host;
struct json;

struct attempt {
	const char *name, *needs, *misses;
	enum source_state state;
	struct error reason; /* unless it works */
};

struct attempts {
	struct attempt list[ATTEMPTS_MAX];
	size_t count;
};

struct doctor_attempts {
	struct attempts tracers, stacks, kernel_names, lives, activity;
};

/*
 * Tries all ways to follow a tree, to take its stacks and to name the kernel's functions in them, and all sources of
 * the events and the activity of a recording.
 */
void attempts_examine(const struct host *host, struct doctor_attempts *ret);

void attempts_print(FILE *out, const char *title, const struct attempts *attempts);
void attempts_json(struct json *json, const char *key, const struct attempts *attempts);

#endif
