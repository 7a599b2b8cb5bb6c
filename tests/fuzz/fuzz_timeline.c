/* SPDX-License-Identifier: MIT */
/*
 * The input is a series of events, sixteen bytes each, of few threads, in any order and with times
 * that contradict each other.  Whatever comes, each thread's steps are in order and do not overlap,
 * and the critical path of every thread adds up to its time.
 */
#include "analyze/path/path_find.h"
#include "base/cleanup.h"
#include "fuzz_text.h"

#define RECORD 16
#define RECORDS_MAX 512
#define THREADS 16
#define BEGIN 50
#define END 300

/* Small numbers, and a few that are too large for any sum. */
static uint64_t number_of(uint8_t byte)
{
	return byte < 240 ? byte : UINT64_MAX >> (255 - byte);
}

static struct tree_wait_event wait_from(const uint8_t *bytes)
{
	return (struct tree_wait_event){
		.serial = bytes[0] % THREADS,
		.sequence = bytes[1],
		.block_ns = number_of(bytes[2]),
		.wake_ns = number_of(bytes[3]),
		.run_ns = number_of(bytes[4]),
		.reason = bytes[5],
		.waker_class = bytes[6],
		.waker = bytes[7] % THREADS,
		.waker_comm = { (char)bytes[8] },
		.queued_comm = { (char)bytes[8] },
		.object = bytes[9],
		.queued_tree_ns = number_of(bytes[8]),
		.queued_outside_ns = number_of(bytes[9]),
		.short_queued_ns = number_of(bytes[10]),
		.short_blocked_ns = number_of(bytes[11]),
		.short_count = bytes[10],
		.short_reason = bytes[11],
		.forks = bytes[9] & 1,
		.threshold_ns = bytes[0] & 0x80 ? bytes[10] % 16 : 0,
	};
}

static void take_record(struct timeline *timeline, const uint8_t *record)
{
	struct tree_event event = {
		.type = record[0] % TREE_EVENT_TYPE_COUNT,
		.task = { record[1] % THREADS, record[2] % THREADS, record[3] & 1 },
		.time_ns = number_of(record[4]),
	};

	if (record[0] & 0x80)
		event.task.tid = event.task.pid;
	if (event.type == TREE_FORK)
		event.fork = (struct tree_fork){
			.serial = record[5] % THREADS,
			.creator = record[6] % THREADS,
			.parent_pid = record[7] % THREADS,
			.found = record[8] & 1,
			.comm = { (char)record[9] },
		};
	else if (event.type == TREE_EXEC)
		event.exec = (struct tree_exec){ .arguments = (const char *)record + 6,
						 .length = record[5] % (RECORD - 6) };
	else if (event.type == TREE_THREAD)
		event.account = (struct tree_account){ .ended = record[5] & 1,
						       .end_ns = number_of(record[6]),
						       .comm = { (char)record[7] } };
	else if (event.type == TREE_PROCESS)
		event.process = (struct tree_process_facts){ .ended = record[5] & 1,
							     .end_ns = number_of(record[6]) };
	else
		event.wait = wait_from(record + 4);
	timeline_take(timeline, &event);
}

static void check_steps(const struct timeline *timeline)
{
	uint64_t last_ns[THREADS] = { 0 };

	fuzz_require(timeline->thread_places <= THREADS);
	for (size_t i = 0; i < timeline->steps.count; i++) {
		const struct timeline_step *step = &timeline->steps.data[i];

		fuzz_require(step->thread < timeline->thread_places);
		fuzz_require(step->block_ns >= last_ns[step->thread]);
		fuzz_require(step_run_ns(step) >= step->block_ns);
		last_ns[step->thread] = step_run_ns(step);
	}
}

static void check_path(struct critical_path *path)
{
	uint64_t sum = 0, before = 0;

	for (size_t i = 0; i < path->parts.count; i++)
		sum += path->parts.data[i].ns;
	fuzz_require(sum == END - BEGIN && path->total_ns == sum);
	sum = 0;
	for (size_t i = 0; i < path->segments.count; i++) {
		fuzz_require(path->segments.data[i].begin_ns >= before);
		before = path->segments.data[i].end_ns;
		sum += before - path->segments.data[i].begin_ns;
	}
	fuzz_require(path->segments_omitted || sum == path->total_ns);
	critical_path_free(path);
}

static void check_path_of_thread(const struct timeline *timeline, uint32_t serial)
{
	struct critical_path path;

	if (!timeline_thread(timeline, serial))
		return;
	fuzz_require(critical_path_find(timeline, serial, BEGIN, END, &path) == 0);
	check_path(&path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(timeline_free_pointer) struct timeline *timeline = NULL;
	struct critical_path path;

	fuzz_require(timeline_new(&timeline) == 0);
	for (size_t i = 0; i < RECORDS_MAX && (i + 1) * RECORD <= size; i++)
		take_record(timeline, data + i * RECORD);
	check_steps(timeline);
	for (uint32_t i = 1; i < THREADS; i++)
		check_path_of_thread(timeline, i);
	if (critical_path_of_process(timeline, 1, true, BEGIN, END, &path) == 0)
		check_path(&path);
	return 0;
}
