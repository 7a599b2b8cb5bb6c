/* SPDX-License-Identifier: MIT */
/*
 * What a thread waits for right now, from its files stat, syscall and wchan in /proc, which the
 * owner of a process may read.
 *
 * Reading is quick: the files stay open between samples, as far as there is room.  None of these
 * reads can block for long.  The exception would be the call of a thread that is in the middle of an
 * exec, which is not read.
 */
#ifndef TRACE_THREAD_STATE_H
#define TRACE_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct member_thread;
struct members;

/* The files of a thread; -1 where none is open.  Also what the last sample found in them. */
struct thread_files {
	bool is_open;
	int directory, stat, call;
	uint64_t call_hash; /* of the text of the last call */
	int call_reason;    /* its reason; -1: none was found yet */
};

enum thread_found {
	THREAD_GONE,	/* or it is blocked and we may not see why */
	THREAD_RUNNING, /* or ready to run */
	THREAD_BLOCKED,
};

/* Opens the files if need be.  *ret_reason (an enum wait_reason) is set for THREAD_BLOCKED. */
enum thread_found thread_state_read(const struct members *members, struct member_thread *thread,
				    int *ret_reason);

/* Returns whether files were open. */
bool thread_files_close(struct thread_files *files);

#endif
