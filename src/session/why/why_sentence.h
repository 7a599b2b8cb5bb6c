/* SPDX-License-Identifier: MIT */
/* Parts of the sentence that answers why. */
#ifndef SESSION_WHY_SENTENCE_H
#define SESSION_WHY_SENTENCE_H

#include "session/why/why.h"

struct text;

/* The first thread; if it ended before the others, the busiest of them. */
const struct why_thread *why_leader(const struct why *why);

void why_append_name(struct text *out, const char *comm);

/* Appends the CPU time of these threads while they were watched, as a share of one CPU. */
void why_append_cpu(struct text *out, const struct why *why, const struct why_thread *threads,
		    size_t count);

/* Appends how long a thread has been blocked. */
void why_append_since(struct text *out, const struct why_thread *thread);

/* Appends where a thread is blocked: "in read of pipe:[123], for 2.0 s, last woken by x (12)". */
void why_append_blocked(struct text *out, const struct why_thread *thread);

/* Two of the situations: false when it is another one. */
bool why_say_children(const struct why *why, struct text *out);
bool why_say_verdict(const struct why *why, struct text *out);

#endif
