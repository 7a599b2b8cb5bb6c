/* SPDX-License-Identifier: MIT */
/*
 * An answer of why, for people and as one JSON object.
 */
#ifndef CLI_WHY_PRINT_H
#define CLI_WHY_PRINT_H

#include <stdio.h>

struct why;

void why_print_text(FILE *out, const struct why *why);
void why_print_json(FILE *out, const struct why *why);

#endif
