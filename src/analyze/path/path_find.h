/* SPDX-License-Identifier: MIT */
/*
 * Finds the critical path in a timeline.
 *
 * The path is that of one thread from begin_ns to end_ns.  While it runs, the time is its own
 * (PATH_CPU).  While it is ready and has no CPU, that is PATH_RUN_QUEUE.  While it is blocked until
 * a thread of the tree wakes it, the time is replaced with what that thread did meanwhile, by the
 * same rule; then the path returns.  A wait that nobody in the tree ended is a part of its own.
 *
 *  - Lock episodes: of consecutive waits for one futex with little CPU time between them, those
 *    that timed out count as ended by the thread that finally ended one.
 *  - Join-all episodes: of consecutive waits for children or joins, with little CPU time and no
 *    forks between them, the last waker counts for all.
 *  - What a thread was before it began is what its creator did.  If the thread whose path it is
 *    ends early, the main thread of its process goes on, or the one that made it.
 *  - A thread that is already on the path, further out, cannot be what it waits for: PATH_MUTUAL.
 *  - Times off the CPU below the threshold are taken out of the stretch between two steps in
 *    proportion; segments show them after its CPU time.
 *
 * Every moment belongs to exactly one part.  The work is bounded: when a timeline makes it too
 * long, further wakers are not followed, and such waits are PATH_NOT_SEEN.
 */
#ifndef ANALYZE_PATH_FIND_H
#define ANALYZE_PATH_FIND_H

#include "model/path/critical_path.h"
#include "model/path/timeline.h"

/*
 * The path of the thread with that serial number.  Returns 0 and a path that the caller frees with
 * critical_path_free(); -ESRCH: there is no such thread; -EINVAL: there is no time between begin_ns
 * and end_ns; -ENOMEM.
 */
int critical_path_find(const struct timeline *timeline, uint32_t serial, uint64_t begin_ns,
		       uint64_t end_ns, struct critical_path *ret);

/*
 * The path that says most about a process: that of its main thread, with exceptions, for which
 * ret->of_busiest is set.
 *
 *  - Nobody started the process for us (`is_attached`), and its main thread spent nearly all the time
 *    waiting for work from outside of the tree: the busiest thread, if any is busier.  Where it waited
 *    for a child or thread that did not end, any that does not wait for another one.
 *  - It waited all the time for bytes of a pipe or socket that did not come, and another was at work
 *    for most of the time, itself or by others that it waited for: the one that was longest.  Who will
 *    write them is not visible before they come, but that is who it is most likely to be.
 *  - Most of its path are naps, as of a shell that sleeps again and again until its job is done:
 *    likewise.  What somebody polls for is not visible.
 *  - Nearly all of its path is a process's wait for events, or for who does not end, as of timeout(1)
 *    for a signal: likewise, of the threads below that process.
 *  - Nearly all of its path is a sleep, and another thread of the process worked for most of the time:
 *    that one.  Many main threads only keep the time.
 *
 * Returns as critical_path_find().
 */
int critical_path_of_process(const struct timeline *timeline, int32_t pid, bool is_attached,
			     uint64_t begin_ns, uint64_t end_ns, struct critical_path *ret);

#endif
