/* SPDX-License-Identifier: MIT */
/*
 * Shows progress and labels of scopes to people.
 */
#ifndef RENDER_SCOPE_AMOUNT_H
#define RENDER_SCOPE_AMOUNT_H

struct scope;
struct text;

/* 412/1000 (41%)  7.10/s  eta 83.0 s; 412/?; nothing when the scope has no counter. */
void scope_progress_text(struct text *out, const struct scope *scope);

/* The label, escaped; <no label> when there was no room to store it. */
void scope_label_append(struct text *out, const char *label);

#endif
