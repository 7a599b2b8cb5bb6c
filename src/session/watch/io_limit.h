/* SPDX-License-Identifier: MIT */
/*
 * The limit of I/O of a process's cgroup: the lowest number of bytes a second that it or a cgroup
 * further up may read or write, of any disk (io.max; of cgroup v1 blkio.throttle.*_bps_device).
 */
#ifndef SESSION_IO_LIMIT_H
#define SESSION_IO_LIMIT_H

#include "host/hierarchy.h"
#include "model/tree/run.h"

/* `places` is the text of the process's cgroup file.  Absent when there is no limit. */
struct run_number io_limit_read(const struct hierarchies *trees, const char *places);

#endif
