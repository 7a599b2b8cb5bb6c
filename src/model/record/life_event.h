/* SPDX-License-Identifier: MIT */
/*
 * This room is what a recording has besides snapshots: events in the lives of processes, samples
 * of the host as a whole, and anomalies.  Tracers and the analysis make them, the store keeps them,
 * and the verbs and the socket show them.
 *
 * A lifecycle event is about a process, never about one of its threads.
 */
#ifndef MODEL_LIFE_EVENT_H
#define MODEL_LIFE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tree/tree_event.h"

enum life_kind {
#define LIFE_KIND(id, ...) LIFE_##id,
#include "model/record/life_kinds.def"
	LIFE_KIND_COUNT,
};

extern const char *const life_kind_names[LIFE_KIND_COUNT];
extern const char *const life_kind_helps[LIFE_KIND_COUNT];

/* The kind of that name, or -1. */
int life_kind_find(const char *name);

/* Which members are known. */
enum life_part {
	LIFE_HAS_STATUS = 1 << 0,
	LIFE_HAS_PEAK = 1 << 1,
	LIFE_HAS_UID = 1 << 2,
	LIFE_HAS_SENDER = 1 << 3, /* 0 as a sender is the kernel */
};

/* Texts belong to the sender of the event and are valid during the call only. */
struct life_event {
	enum life_kind kind;
	unsigned present;     /* enum life_part */
	uint64_t unix_ns;     /* wall clock */
	struct task_key task; /* the process; all 0 in LIFE_LOST */
	int32_t parent_pid;   /* 0: not known */
	uint32_t uid;	      /* effective user */
	char comm[TREE_COMM_SIZE];
	const char *cmd;	 /* words with blanks between them; NULL when not known */
	int status;		 /* LIFE_EXIT: as wait() has it */
	int signal;		 /* LIFE_SIGNAL, LIFE_KILL, LIFE_OOM */
	int32_t sender_pid;	 /* LIFE_SIGNAL, LIFE_KILL; of LIFE_EXIT by a signal, too */
	const char *details;	 /* for people; NULL: none */
	struct amounts amounts;	 /* LIFE_EXIT: what the process used in its whole life */
	uint64_t peak_rss_bytes; /* LIFE_EXIT */
	uint64_t lost;		 /* LIFE_LOST: how many; comm says of which program, if of one */
};

/* Returns 0, or a negative errno that ends the walk. */
typedef int life_event_sink(void *context, const struct life_event *event);

#endif
