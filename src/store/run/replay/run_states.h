/* SPDX-License-Identifier: MIT */
/*
 * The sheets of readings in the JSON lines of a run: what the host and the cgroups were like when
 * it began and ended.  Private to src/store/run.
 */
#ifndef STORE_RUN_STATES_H
#define STORE_RUN_STATES_H

#include <stddef.h>

#include "model/snapshot/snapshot.h"

/* How a limit is written that nobody set. */
#define STATE_UNLIMITED "max"

/* The sheets of run->states, by their keys in the line of kind "states". */
struct state_sheet {
	const char *key;
	enum sheet_id id;
};

#define STATE_SHEETS 4
extern const struct state_sheet state_sheets[STATE_SHEETS];

#endif
