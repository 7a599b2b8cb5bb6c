/* SPDX-License-Identifier: MIT */
/* The changes to a host that would let taskscope measure more, what adds most first. */
#ifndef CLI_DOCTOR_CHANGES_H
#define CLI_DOCTOR_CHANGES_H

#include <stddef.h>

#include "base/text.h"

struct findings;
struct json;

#define CHANGES_MAX 8
#define FEATURES_MAX 4

struct change {
	struct text why;     /* "scheduler statistics are off" */
	struct text command; /* what to run, in one line */
	struct text then;    /* what that does, or what else would help */
	size_t metrics;	     /* that it adds, or of which it adds those of other users' processes */
	const char *features[FEATURES_MAX];
	size_t feature_count;
};

struct changes {
	struct change list[CHANGES_MAX];
	size_t count;
	bool gives_capabilities; /* one of them gives what is missing */
};

/* None for a recorded tree. */
void changes_find(const struct findings *findings, struct changes *ret);
void changes_free(struct changes *changes);

void changes_json(struct json *json, const struct changes *changes);

#endif
