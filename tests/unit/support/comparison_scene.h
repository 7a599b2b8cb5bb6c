/* SPDX-License-Identifier: MIT */
/* Two snapshots with tasks and processes that live, work and end in between. */
#ifndef COMPARISON_SCENE_H
#define COMPARISON_SCENE_H

#include "base/cleanup.h"
#include "two_snapshots.h"

/* Adds the same task to both, with values before and after. */
static inline void both(struct pair *pair, int32_t tgid, int32_t tid, const char *comm,
			enum metric_id id, uint64_t before, uint64_t after)
{
	hand_set(pair->before, id, hand_task(pair->before, tgid, tid, comm, "/"), before);
	hand_set(pair->after, id, hand_task(pair->after, tgid, tid, comm, "/"), after);
}

static inline uint32_t process_row(struct snapshot *snapshot, int32_t tgid)
{
	return (uint32_t)snapshot_find_process(snapshot, tgid);
}

/* Totals of exited threads. */
static inline void dead(struct pair *pair, int32_t tgid, enum metric_id id, uint64_t before,
			uint64_t after)
{
	hand_set(pair->before, id, process_row(pair->before, tgid), before);
	hand_set(pair->after, id, process_row(pair->after, tgid), after);
}

/* Every way to live: staying, born, ended, born and ended, reused, renamed, missed. */
static inline struct pair lives_of_all_kinds(void)
{
	struct pair pair = pair_new();

	both(&pair, 10, 10, "server", METRIC_run_time_ns, 1000, 1500);
	both(&pair, 10, 11, "worker-1", METRIC_run_time_ns, 200, 260);
	hand_set(pair.before, METRIC_run_time_ns, hand_task(pair.before, 10, 12, "worker-2", "/"),
		 400);
	hand_set(pair.after, METRIC_run_time_ns,
		 hand_task(pair.after, 10, FIRST_BORN + 1, "worker-3", "/"), 70);
	/* worker-2 had done 450 when it ended; another came and went, and did 30. */
	dead(&pair, 10, METRIC_dead_run_time_ns, 5000, 5000 + 450 + 30);
	both(&pair, 20, 20, "other", METRIC_run_time_ns, 9000, 9000);
	dead(&pair, 20, METRIC_dead_run_time_ns, 0, 0);
	/* Process 30 ends, another gets its number. */
	hand_set(pair.before, METRIC_run_time_ns, hand_task(pair.before, 30, 30, "short", "/"), 77);
	hand_set(pair.after, METRIC_run_time_ns, hand_task(pair.after, 30, 30, "short", "/"), 5);
	pair.after->tasks[pair.after->task_count - 1].start_time_ns = BEFORE_NS + 20000000;
	pair.after->processes[process_row(pair.after, 30)].start_time_ns = BEFORE_NS + 20000000;
	dead(&pair, 30, METRIC_dead_run_time_ns, 1, 3);
	/* Missed: older than the first snapshot. */
	hand_set(pair.after, METRIC_run_time_ns, hand_task(pair.after, 40, 40, "quiet", "/"), 666);
	return pair;
}

#endif
