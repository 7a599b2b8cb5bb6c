/* SPDX-License-Identifier: MIT */
/* What a source of a recording knows of its times: where a move leads, and the ruler. */
#ifndef TUI_STORE_MOVES_H
#define TUI_STORE_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "store/history/history.h"
#include "tui/moment/moment_source.h"

struct store_source {
	struct moment_source source;
	struct history *history;
	ARRAY_OF(uint64_t) times;  /* of all moments, oldest first; no time is there twice */
	ARRAY_OF(uint64_t) later;  /* while they are read: newer ones, the newest first */
	ARRAY_OF(uint64_t) opened; /* when anomalies did, oldest first */
	ARRAY_OF(uint64_t) events; /* that people should see, oldest first */
	ARRAY_OF(uint64_t) edges;  /* begins and ends of jobs, oldest first */
	ARRAY_OF(struct history_span) jobs;
	size_t at; /* the moment that was taken last, if any was */
	bool was_taken;
	uint64_t start_unix_ns; /* what is taken first; 0: the first moment */
	uint64_t from_unix_ns;	/* nothing before is looked at */
	struct snapshot *now;
};

/* The newest moment at or before that time; the first one before all. */
size_t store_find_time(const struct store_source *store, uint64_t unix_ns);
/* Where a move leads; false when there is no such moment. */
bool store_find_move(const struct store_source *store, const struct move *move, size_t *ret);
/* A sentence for that. */
const char *store_no_moment(const struct move *move);
void store_make_ruler(struct moment_source *source, struct ruler *ruler);

#endif
