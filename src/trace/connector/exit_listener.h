/* SPDX-License-Identifier: MIT */
/*
 * Receives the records that the kernel sends through taskstats when a thread ends, with all that
 * it used.
 *
 * The kernel sends a record before the process connector reports the exit.  So a caller that first
 * reads the connector and then the records has the record of every exit.  Records of all threads
 * of the host arrive; exit_listener_forget() drops those that were not taken.
 *
 * The CPU time in a record is a little too low: it is that at the end of the last time slice but
 * one, without the exit itself and what came after the last tick.
 */
#ifndef TRACE_EXIT_LISTENER_H
#define TRACE_EXIT_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/tree/tree_event.h"
#include "trace/bpf/counters.h"

struct error;
struct exit_listener;
struct host;

struct exit_record {
	int32_t tid;
	char comm[TREE_COMM_SIZE];
	struct amounts counters;
	bool has_peak;
	uint64_t peak_rss_bytes;
};

/* Decodes a record as the kernel sends it.  Pure. */
void exit_record_decode(int32_t tid, const void *bytes, size_t length, struct exit_record *ret);

int exit_listener_open(const struct host *host, struct exit_listener **ret, struct error *error);
void exit_listener_close(struct exit_listener *listener); /* NULL is allowed */
CLEANUP_POINTER(exit_listener_close, struct exit_listener)

/* Reads all records that have arrived.  0 or a negative errno. */
int exit_listener_read(struct exit_listener *listener);

/* Takes the record of a thread; false when there is none. */
bool exit_listener_take(struct exit_listener *listener, int32_t tid, struct exit_record *ret);

/* The name of a thread in its record, or NULL. */
const char *exit_listener_comm(const struct exit_listener *listener, int32_t tid);

/* Drops all records that were not taken. */
void exit_listener_forget(struct exit_listener *listener);

#endif
