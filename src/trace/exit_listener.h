/* SPDX-License-Identifier: MIT */
/*
 * The records that the kernel sends by taskstats when a thread ends: what it used in all.
 *
 * A record is sent before the thread's exit is told by the process connector; so who reads the
 * connector first and the records then has the record of every exit.  Records of all threads of the
 * host arrive; those that nobody takes are dropped by exit_listener_forget().
 *
 * The CPU time in a record is that of the thread's last time slice but one: the end itself, and what
 * came after the last tick, is not in it.
 */
#ifndef TRACE_EXIT_LISTENER_H
#define TRACE_EXIT_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/tree_event.h"
#include "trace/counters.h"

struct error;
struct exit_listener;
struct host;

struct exit_record {
	int32_t tid;
	char comm[TREE_COMM_SIZE];
	struct thread_counters counters;
	bool has_peak;
	uint64_t peak_rss_bytes;
};

/* The record of a structure as the kernel sends it.  Pure. */
void exit_record_decode(int32_t tid, const void *bytes, size_t length, struct exit_record *ret);

int exit_listener_open(const struct host *host, struct exit_listener **ret, struct error *error);
void exit_listener_close(struct exit_listener *listener); /* NULL is allowed */
void exit_listener_close_pointer(struct exit_listener **listener);

/* Reads all that has arrived.  0 or a negative errno; records that were lost are counted. */
int exit_listener_read(struct exit_listener *listener);

/* Takes the record of a thread; false when there is none. */
bool exit_listener_take(struct exit_listener *listener, int32_t tid, struct exit_record *ret);

/* The name that a thread has in its record, or NULL. */
const char *exit_listener_comm(const struct exit_listener *listener, int32_t tid);

/* Drops all records that were not taken. */
void exit_listener_forget(struct exit_listener *listener);

#endif
