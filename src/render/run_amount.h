/* SPDX-License-Identifier: MIT */
/*
 * Amounts for people, three digits: 12.3 s, 1.23 ms, 412 MiB.
 */
#ifndef RENDER_RUN_AMOUNT_H
#define RENDER_RUN_AMOUNT_H

#include <stdint.h>

struct text;

void amount_time(struct text *out, uint64_t ns); /* from 10 minutes on as age_text() has it */
void amount_bytes(struct text *out, uint64_t bytes);
void amount_short_bytes(struct text *out, double bytes); /* 412M, 3.1M, 0 */
void amount_percent(struct text *out, double share);	 /* of 1: "41 %", "<1 %" */

#endif
