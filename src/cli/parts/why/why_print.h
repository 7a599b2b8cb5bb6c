/* SPDX-License-Identifier: MIT */
/*
 * Prints an answer of why, for people and as one JSON object.
 */
#ifndef CLI_WHY_PRINT_H
#define CLI_WHY_PRINT_H

#include <stdbool.h>
#include <stdio.h>

struct terminal;
struct why;

/* At most 12 lines, unless all threads and stacks are wanted. */
void why_print_text(FILE *out, const struct terminal *terminal, const struct why *why, bool all);
void why_print_json(FILE *out, const struct why *why);

/* Where in the code its threads stand, for people, and as members of a JSON object. */
struct json;
void why_print_stacks(FILE *out, const struct why *why);
void why_json_stacks(struct json *json, const struct why *why);

/* Its threads as a table. */
struct table;
struct why_thread;
void why_table_columns(struct table *table);
void why_table_row(struct table *table, const struct why *why, const struct why_thread *thread);

/* The members of a deadlock as a table. */
struct wait_member;
void why_member_columns(struct table *table);
void why_member_row(struct table *table, const struct wait_member *member);

#endif
