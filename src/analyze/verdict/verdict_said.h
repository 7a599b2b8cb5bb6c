/* SPDX-License-Identifier: MIT */
/* Figures in sentences of evidence. */
#ifndef ANALYZE_VERDICT_SAID_H
#define ANALYZE_VERDICT_SAID_H

#include "analyze/verdict/verdict_facts.h"
#include "base/text.h"

/* ", 1.6 M waits a second" */
void said_rate(const struct verdict_facts *facts, double count, const char *what, struct text *out);
/* "; ready 4.11 s" */
void said_ns(const char *what, double ns, struct text *out);
/* "on a CPU 78.1 % (4.11 s of 5.26 s of busy time)" */
void said_part(const struct verdict_facts *facts, const char *what, double ns, struct text *out);

#endif
