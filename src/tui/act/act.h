/* SPDX-License-Identifier: MIT */
/*
 * What keys do to processes and moments; all refuse with a sentence.
 */
#ifndef TUI_ACT_H
#define TUI_ACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host;
struct row_identity;
struct snapshot;
struct top;

/* Why nothing may be changed; NULL: it may. */
const char *act_refusal(const struct top *top);

/* Whether the process of that number is the one that began then. */
bool act_has_start(const struct host *host, int32_t pid, uint64_t start_time_ns);

/*
 * The process of the marked row, or the one whose detail is shown.  False, and it was said, when it has
 * ended or its number is another one's.
 */
bool act_find_process(struct top *top, struct row_identity *ret);

/* Makes an empty file of a new name, for us alone.  False when it cannot. */
bool act_reserve_name(const char *ending, const char *what, char *ret, size_t size);

/* Whether the key asks another verb. */
bool act_ask(struct top *top, int key);

/* Keeps this moment; shows what changed since the kept one. */
void act_mark(struct top *top);
void act_compare(struct top *top);
/* Writes this moment to a new file. */
void act_save(struct top *top, const char *path);

#endif
