/* SPDX-License-Identifier: MIT */
/*
 * A run made by hand, and what is said of it.  Each test has the numbers that a small program of
 * that kind gives.
 */
#ifndef VERDICT_SCENE_H
#define VERDICT_SCENE_H

#include "analyze/verdict/diagnosis.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "hand_run.h"

#define RUN(ms) CLEANUP(run_free_pointer) struct run *run = hand_run(ms)
#define THREAD(...) hand_thread(run, &(struct hand_thread){ __VA_ARGS__ })
#define KNOWN(number) ((struct run_number){ true, (number) })

/*
 * A part of the critical path, in milliseconds; the path is as long as all of them.  Without `via`
 * (no test has one through a disk) it is the first thread's own.
 */
#define PART(ms, ...) hand_part(run, ms, &(struct path_part){ __VA_ARGS__ })

static inline void hand_part(struct run *run, double ms, const struct path_part *like)
{
	struct path_part part = *like;

	part.ns = hand_ns(ms);
	if (part.via == WAIT_DISK)
		part.via = PATH_DIRECT;
	if (!part.processes)
		part.processes = 1;
	if (part.processes == 1 && !part.command_ns)
		part.command_ns = part.ns;
	if (!part.program[0])
		memcpy(part.program, "program", sizeof("program"));
	run->path.is_known = true;
	if (run->tree->root)
		run->path.thread = run->tree->root->key;
	run->path.total_ns += part.ns;
	if (part.kind == PATH_NOT_SEEN)
		run->path.not_seen_ns += part.ns;
	assert_int_equal(critical_path_add_part(&run->path, &part), 0);
}

static inline void check_form(const struct verdict *verdict)
{
	assert_in_range(verdict->evidence_count, 1, 4);
	for (size_t i = 0; i < verdict->evidence_count; i++) {
		assert_in_range(text_width(verdict->evidence[i]), 1, 100);
		assert_int_not_equal(verdict->evidence[i][strlen(verdict->evidence[i]) - 1], '.');
	}
	assert_true(verdict->confidence >= 0 && verdict->confidence <= 1);
	assert_ptr_equal(verdict->hint, causes[verdict->cause].hint);
}

/* For a run whose waits are set by hand: summing up again would take them from its threads. */
static inline struct verdict judge_as_is(const struct run *run)
{
	struct diagnosis diagnosis;

	diagnose(run, &diagnosis);
	check_form(&diagnosis.verdict);
	return diagnosis.verdict;
}

static inline struct verdict judge(struct run *run)
{
	hand_sum_up(run);
	return judge_as_is(run);
}

static inline void assert_cause(struct run *run, enum run_cause cause)
{
	struct verdict verdict = judge(run);

	assert_string_equal(causes[verdict.cause].name, causes[cause].name);
	assert_string_equal(class_names[verdict.class], class_names[causes[cause].class]);
}

/* The quota of its cgroup, 30 ms of CPU in 100, was used up in each of 15 periods. */
static inline void throttle(struct run *run, uint64_t throttled_ms)
{
	run->limits.cgroup_throttled_ns = KNOWN(throttled_ms * MS);
	run->limits.cgroup_periods = KNOWN(15);
	run->limits.cgroup_throttled_periods = KNOWN(15);
	run->limits.cgroup_quota_us = KNOWN(30000);
	run->limits.cgroup_period_us = KNOWN(100000);
}

#endif
