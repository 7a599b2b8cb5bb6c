/* SPDX-License-Identifier: MIT */
/*
 * Makes an interval of two snapshots of one boot: a snapshot whose counters are
 * the work done in between.  Two such snapshots, or several a side, are
 * compared by their rates (COMPARE_INTERVALS).
 *
 *	interval_snapshot_make(from, to, "a..b", &error);  now `to` is the interval,
 *	and to->interval_ns says how long it is
 *
 * A task that stayed has what it added to each counter, one that was born all
 * that it did, one that `from` missed nothing: what it did in between is not
 * known.  The work of threads that ended is in a row of their process with tid
 * 0.  Ended processes are in child_* of those that waited for them.  What is no
 * counter stays as `to` has it.
 */
#ifndef ANALYZE_INTERVAL_SNAPSHOT_H
#define ANALYZE_INTERVAL_SNAPSHOT_H

struct error;
struct snapshot;

/*
 * Changes `to`; `from` may be freed afterwards.  0, -ENOMEM, or -EINVAL with a
 * sentence about `name` when they are not two moments of one boot, in this order.
 */
int interval_snapshot_make(const struct snapshot *from, struct snapshot *to, const char *name,
			   struct error *error);

#endif
