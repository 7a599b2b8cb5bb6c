/* SPDX-License-Identifier: MIT */
/*
 * A first look at a process by its number: what is known of it before it is watched.
 */
#ifndef SESSION_PROCESS_LOOK_H
#define SESSION_PROCESS_LOOK_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct host;

struct process_look {
	char state;    /* as proc has it */
	bool exiting;  /* its first thread is on its way out, or a zombie */
	bool ended;    /* and no other thread goes on */
	bool kernel;   /* a kernel thread */
	int32_t group; /* its process; another number than its own for a thread */
	uint32_t user; /* effective, as proc shows it */
};

/* 0, or a negative errno: -ESRCH when there is none. */
int process_look(const struct host *host, int32_t pid, struct process_look *ret);

/* 0, or a negative errno with a sentence why the process cannot be attached to. */
int process_attachable(const struct host *host, int32_t pid, struct error *error);

#endif
