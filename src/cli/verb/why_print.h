/* SPDX-License-Identifier: MIT */
/*
 * Prints an answer of why, for people and as one JSON object.
 */
#ifndef CLI_WHY_PRINT_H
#define CLI_WHY_PRINT_H

#include <stdio.h>

struct terminal;
struct why;

void why_print_text(FILE *out, const struct terminal *terminal, const struct why *why);
void why_print_json(FILE *out, const struct why *why);

/* Its threads as a table. */
struct table;
struct why_thread;
void why_table_columns(struct table *table);
void why_table_row(struct table *table, const struct why *why, const struct why_thread *thread);

#endif
