/* SPDX-License-Identifier: MIT */
/*
 * The view of the scopes of programs: for people a line for each process, thread
 * and scope; for programs one JSON object.
 */
#ifndef RENDER_SCOPES_VIEW_H
#define RENDER_SCOPES_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "render/terminal.h"

struct scope_losses;
struct scope_survey;
struct scopes;
struct table;

/* 0, or -ENOMEM. */
int scopes_text(FILE *out, const struct scope_survey *survey, bool with_statistics,
		const struct terminal *terminal);
void scopes_json(FILE *out, const struct scope_survey *survey, bool with_statistics);

/* A table of how often and how long, a row for each label. */
void scopes_statistics_columns(struct table *table);
void scopes_statistics_put(struct table *table, const struct scopes *scopes);

/* What enum scope_stall means. */
extern const char *const scope_stall_words[];

/* One kind of loss: its key, and the words for a count of it. */
struct scope_loss_word {
	const char *key;
	const char *one, *many;
	size_t offset; /* in struct scope_losses */
};

#define SCOPE_LOSS_COUNT 10
extern const struct scope_loss_word scope_loss_words[SCOPE_LOSS_COUNT];

uint64_t scope_loss_count(const struct scope_losses *losses, size_t which);

#endif
