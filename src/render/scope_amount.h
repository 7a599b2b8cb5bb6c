/* SPDX-License-Identifier: MIT */
/*
 * Times and progress of scopes as people read them.
 */
#ifndef RENDER_SCOPE_AMOUNT_H
#define RENDER_SCOPE_AMOUNT_H

#include <stdint.h>

struct scope;
struct text;

/* 812us, 412ms, 5.3s, 58s, 1m02s, 4h05m, 3d04h */
void scope_time_text(struct text *out, uint64_t ns);

/* 412/1000 (41%)  7.1/s  eta 1m23s; 412/?; nothing when the scope has no counter. */
void scope_progress_text(struct text *out, const struct scope *scope);

/* The label, escaped; <no label> when it found no room. */
void scope_label_append(struct text *out, const char *label);

#endif
