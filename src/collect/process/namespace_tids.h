/* SPDX-License-Identifier: MIT */
/*
 * Translates the numbers of a process and its threads from those that the process sees to those
 * that we see.  They differ for a process in a PID namespace below ours.
 */
#ifndef COLLECT_NAMESPACE_TIDS_H
#define COLLECT_NAMESPACE_TIDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/array.h"
#include "host/proc/proc_file.h"

struct namespace_tid {
	int32_t own, ours;
};

struct namespace_tids {
	int32_t pid, own_pid;
	bool differ;
	ARRAY_OF(struct namespace_tid) list; /* sorted by the own number; only when they differ */
	struct proc_buffer buffer;
};

/*
 * Reads both numbers of a process from its directory in the proc tree.  0, -ESRCH, or another
 * negative errno.
 */
int namespace_tids_init(struct namespace_tids *tids, int process);
void namespace_tids_clear(struct namespace_tids *tids);

/* Reads the list of threads again. */
int namespace_tids_refresh(struct namespace_tids *tids, int process);
/* Our number of a thread; 0 when it is not known. */
int32_t namespace_tids_ours(const struct namespace_tids *tids, int32_t own);

#endif
