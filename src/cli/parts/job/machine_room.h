/* SPDX-License-Identifier: MIT */
/*
 * What this machine has left for one more job: memory, and idle CPUs.
 */
#ifndef CLI_MACHINE_ROOM_H
#define CLI_MACHINE_ROOM_H

struct error;
struct estimate_room;

/* Looks twice, a moment apart.  0, or a negative errno with a sentence. */
int machine_room_read(struct estimate_room *ret, struct error *error);

#endif
