/* SPDX-License-Identifier: MIT */
/* What the files of the timeline share. */
#ifndef MODEL_TIMELINE_ROOM_H
#define MODEL_TIMELINE_ROOM_H

#include "model/path/timeline.h"

/* The thread of that number, which is added if it is new.  NULL when there is no room. */
struct timeline_thread *timeline_get_thread(struct timeline *timeline, uint32_t serial,
					    const struct task_key *task);

void timeline_take_wait(struct timeline *timeline, const struct tree_event *event);

/* Makes room for one more step: 0, -ENOSPC or -ENOMEM. */
int timeline_make_room(struct timeline *timeline);
/* Folds ended threads.  False when too few have ended. */
bool timeline_fold(struct timeline *timeline);
/* Adds a step that becomes a short time, with those before it. */
void shorts_add_step(struct timeline_shorts *sum, const struct timeline_step *step);
/* Moves all of `rest` to the short times before the step. */
void shorts_give(struct timeline_shorts *rest, struct timeline_step *step);
struct packed_shorts shorts_pack(const struct timeline_shorts *shorts);
/* Interns a program; 0 when there is no room. */
uint32_t timeline_add_program(struct timeline *timeline, const struct tree_exec *exec);
uint32_t timeline_add_peer(struct timeline *timeline, const char comm[TREE_COMM_SIZE]);

#endif
