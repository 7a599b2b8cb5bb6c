/* SPDX-License-Identifier: MIT */
/*
 * What keys do to processes and moments; all refuse with a sentence.
 */
#ifndef TUI_ACT_H
#define TUI_ACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "base/text.h"

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

/* Those that a signal goes to, each held by a pidfd.  All zeros is empty and valid. */
struct act_targets {
	ARRAY_OF(struct act_target {
		int32_t pid;
		int pidfd;
	})
	list;
	struct text name; /* "process 12", "the 5 processes of job nightly" */
};

void act_targets_clear(struct act_targets *targets);

/* Makes an empty file of a new name, for us alone.  False, and it was said, when it cannot. */
bool act_make_file(struct top *top, const char *path);
/* Removes it again, if nothing was written to it.  Whether it did. */
bool act_forget_file(const char *path);

/* What words in capitals stand for: PID, FILE, STORE, TIME. */
struct act_names {
	const char *pid, *file, *store, *time;
};

/* `to` has room for all words and a NULL. */
void act_put_names(const char *const *from, size_t most, const struct act_names *names,
		   const char **to);

/* Whether the key asks another verb. */
bool act_ask(struct top *top, int key);
/* Profiles the process that waits for it into a new file. */
void act_profile(struct top *top, const char *path);

/* Keeps this moment; shows what changed since the kept one. */
void act_mark(struct top *top);
void act_compare(struct top *top);
/* Writes this moment to a new file. */
void act_save(struct top *top, const char *path);

#endif
