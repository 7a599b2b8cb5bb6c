/* SPDX-License-Identifier: MIT */
/*
 * Writes a made run to a .tscope file, for pages whose figures are known: usage: run_maker KIND FILE
 *
 *	before	a small build; with names that would be HTML elsewhere
 *	after	the same, where "add" takes more and "sub" less, "gone" is gone and "fresh" is new
 *	bare	the same without stacks, samples and a critical path
 *	large	ten minutes of 2,000 processes
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "hand_profile.h"
#include "hand_run.h"
#include "model/run/run_snapshot.h"
#include "model/snapshot/snapshot.h"
#include "store/snapshot_file.h"

#define WALL_MS 10000
#define LARGE_WALL_MS 600000
#define LARGE_PROCESSES 2000
#define LARGE_STACKS 20000

static char script[] = "</script><script>document.title='owned'</script>";
static char image[] = "<img src=x onerror=\"document.title='owned'\">";
static char *command[] = { "/usr/bin/build", script, image, "\xe2\x80\xa8&amp;\xff", NULL };

static void add_command(struct run *run, int32_t pid)
{
	char arguments[256];
	struct tree_event event = hand_event(run, TREE_EXEC, pid, pid);
	size_t length = 0;

	for (char **word = command; *word; word++)
		length += (size_t)snprintf(arguments + length, sizeof(arguments) - length, "%s",
					   *word) +
			  1;
	snprintf(event.exec.comm, sizeof(event.exec.comm), "</script><b>x");
	event.exec.arguments = arguments;
	event.exec.length = length;
	hand_apply(run, &event);
}

static void add_members(struct run *run)
{
	static const struct hand_thread threads[] = {
		{ .pid = 100,
		  .comm = "build",
		  .on_cpu = 500,
		  .kernel = 100,
		  .run_queue = 100,
		  .waits = { { WAIT_CHILD, 9400, 3, 0 } },
		  .calls = { { "futex", 1000, 4000, 11, 7 }, { "read", 500, 30, 0, 0 } } },
		{ .pid = 100,
		  .tid = 101,
		  .comm = "worker",
		  .on_cpu = 6000,
		  .run_queue = 500,
		  .waits = { { WAIT_LOCK, 3000, 900, 40 }, { WAIT_DISK, 500, 50, 20 } } },
		{ .pid = 200,
		  .comm = "<i>cc</i>",
		  .on_cpu = 4000,
		  .kernel = 50,
		  .waits = { { WAIT_PIPE, 6000, 20, 900 } },
		  .moves = 9,
		  .bytes = 1 << 20 },
		{ .pid = 300, .comm = "ld", .on_cpu = 100, .waits = { { WAIT_DISK, 9900, 8, 0 } } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		hand_thread(run, &threads[i]);
	add_command(run, 200);
	hand_end_process(run, 100, 0);
	hand_end_process(run, 200, 0);
	hand_end_process(run, 300, 2 << 8);
}

static void add_samples(struct run *run, size_t count)
{
	uint64_t wall = run_wall_ns(run);

	for (size_t i = 1; i <= count; i++) {
		struct run_sample sample = { .time_ns = run->begin_ns + wall * i / count,
					     .processes = 3,
					     .threads = 4,
					     .has_rss = true,
					     .rss_bytes = (uint64_t)(i % 64 + 1) << 20 };

		set_times(&sample.amounts, wall * i / count * 4, wall * i / count);
		amounts_set(&sample.amounts, AMOUNT_read_bytes, i * 100000);
		amounts_set(&sample.amounts, AMOUNT_write_bytes, i * i * 100);
		for (int reason = 0; reason < WAIT_REASON_COUNT; reason++)
			amounts_set_waited_ns(&sample.amounts, reason,
					      wall * i / count / (uint64_t)(reason + 2));
		run_past_sample(&run->past, &sample);
	}
}

static void add_path(struct run *run)
{
	struct path_segment segment = { .task = { 100, 101, 101 * MS }, .via = PATH_DIRECT };
	struct path_part part = { .program = "build",
				  .thread = "worker",
				  .kind = PATH_CPU,
				  .via = PATH_DIRECT,
				  .ns = 6000 * MS };
	static const uint8_t kinds[] = { PATH_CPU, WAIT_LOCK, PATH_CPU, WAIT_DISK, PATH_RUN_QUEUE };

	run->path.is_known = true;
	run->path.total_ns = run_wall_ns(run);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		segment.begin_ns = i * 2000 * MS;
		segment.end_ns = (i + 1) * 2000 * MS;
		segment.kind = kinds[i];
		assert_int_equal(critical_path_add_segment(&run->path, &segment), 0);
	}
	assert_int_equal(critical_path_add_part(&run->path, &part), 0);
	part = (struct path_part){
		.program = "<i>cc</i>", .kind = WAIT_DISK, .via = WAIT_CHILD, .ns = 4000 * MS
	};
	assert_int_equal(critical_path_add_part(&run->path, &part), 0);
}

static void add_segments(struct run *run)
{
	struct run_segments *segments = &run->segments;

	segments->list[segments->count++] = (struct run_segment){ .end_ns = 7500 * MS,
								  .cores = { true, 1.5 },
								  .what = "computing" };
	segments->list[segments->count++] = (struct run_segment){ .begin_ns = 7500 * MS,
								  .end_ns = run_wall_ns(run),
								  .what = "mostly waiting" };
}

static void add_gpu_users(struct run *run)
{
	struct run_gpu_user *user = &run->gpu_users.list[run->gpu_users.count++];

	run->gpu.samples = (struct run_number){ true, 2 };
	run->gpu.tree_memory_peak_bytes = (struct run_number){ true, 3 << 20 };
	*user = (struct run_gpu_user){ .pid = 100,
				       .comm = "<b>train",
				       .memory_peak_bytes = { true, 3 << 20 },
				       .busy_peak_percent = { true, 37 } };
}

static void add_stacks(struct run *run, bool is_after)
{
	struct profile *profile = hand_profile();
	struct profile_sample other;

	run->profile = profile;
	hand_add(profile, PROFILE_ON_CPU, "main;work;add", (is_after ? 6000 : 3000) * MS);
	hand_add(profile, PROFILE_ON_CPU, "main;work;sub", (is_after ? 1000 : 3000) * MS);
	hand_add(profile, PROFILE_ON_CPU, is_after ? "main;fresh" : "main;gone", 1000 * MS);
	hand_add(profile, PROFILE_ON_CPU, "main;work;<img src=x onerror=alert(1)>", 500 * MS);
	hand_add(profile, PROFILE_ON_CPU, "", 200 * MS);
	hand_add(profile, PROFILE_OFF_CPU, "main;work;lock@/usr/lib/libc.so.6;futex_wait_[k]",
		 3000 * MS);
	hand_add(profile, PROFILE_WAKER, "main;unlock", 700 * MS);
	other = hand_sample(profile, PROFILE_ON_CPU, "main;compile;parse_[i]", 4000 * MS);
	other.process_name = other.thread_name = profile_text(profile, "<i>cc</i>");
	assert_int_equal(profile_add_sample(profile, &other), 0);
	other = hand_sample(profile, PROFILE_OFF_CPU, "main;compile;read@/usr/lib/libc.so.6",
			    6000 * MS);
	other.process_name = other.thread_name = profile_text(profile, "<i>cc</i>");
	other.reason = WAIT_PIPE;
	assert_int_equal(profile_add_sample(profile, &other), 0);
	profile->frequency_hz = 99;
	profile->off_cpu_min_ns = MS;
	profile->losses.truncated = 3;
}

static void add_many_stacks(struct run *run)
{
	struct profile *profile = hand_profile();
	char stack[256];

	run->profile = profile;
	for (unsigned int i = 0; i < LARGE_STACKS; i++) {
		struct profile_sample sample;

		snprintf(stack, sizeof(stack),
			 "main;run_%u;phase_%u;pass_of_the_compiler_%u;visit_%u;lookup_%u;hash_%u",
			 i % 3, i % 17, i % 211, i % 1009, i % 4001, i % 7);
		sample = hand_sample(profile, i % 3 ? PROFILE_ON_CPU : PROFILE_OFF_CPU, stack,
				     (i % 50 + 1) * MS);
		sample.task.pid = sample.task.tid = 1000 + (int32_t)(i % LARGE_PROCESSES);
		snprintf(stack, sizeof(stack), "cc-%u", i % 40);
		sample.process_name = sample.thread_name = profile_text(profile, stack);
		assert_int_equal(profile_add_sample(profile, &sample), 0);
	}
}

static void add_many_members(struct run *run)
{
	char name[TREE_COMM_SIZE];

	for (unsigned int i = 0; i < LARGE_PROCESSES; i++) {
		int32_t pid = 1000 + (int32_t)i;

		snprintf(name, sizeof(name), "cc-%u", i % 40);
		hand_thread(run,
			    &(struct hand_thread){ .pid = pid,
						   .comm = name,
						   .on_cpu = 100 + i,
						   .run_queue = i % 31,
						   .faults = i,
						   .waits = { { WAIT_DISK, i % 100 + 1, 3, 0 },
							      { WAIT_PIPE, i % 1000 + 1, 9, 0 } },
						   .calls = { { "read", i + 1, i % 90 + 1, 0, 0 },
							      { "futex", 2, 1, 11, 1 } } });
		add_command(run, pid);
		hand_end_process(run, pid, i % 100 ? 0 : 1 << 8);
	}
}

static struct run *make(const char *kind)
{
	bool is_large = strcmp(kind, "large") == 0, is_bare = strcmp(kind, "bare") == 0;
	struct run *run = hand_run(is_large ? LARGE_WALL_MS : WALL_MS);

	run->command = command;
	run->pid = is_large ? 1000 : 100;
	run->end = RUN_EXITED;
	run->has_status = true;
	run->tracer = "bpf";
	run->begin_unix_ns = 1700000000000000000ull;
	run->interval_ns = 100 * MS;
	assert_int_equal(run_add_source(run, "tree", SOURCE_OK, NULL), 0);
	assert_int_equal(
		run_add_source(run, "hardware", SOURCE_UNAVAILABLE, "no <b>counters</b> here"), 0);
	run->losses.waits = 3;
	if (is_large)
		add_many_members(run);
	else
		add_members(run);
	hand_sum_up(run);
	run_find_root(run);
	if (is_bare)
		return run;
	add_samples(run, is_large ? PAST_SAMPLES : 40);
	add_path(run);
	add_segments(run);
	add_gpu_users(run);
	if (is_large)
		add_many_stacks(run);
	else
		add_stacks(run, strcmp(kind, "after") == 0);
	return run;
}

int main(int argc, char **argv)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	CLEANUP(run_free_pointer) struct run *run = NULL;
	struct error error = { 0 };

	if (argc != 3)
		return 2;
	run = make(argv[1]);
	if (run_to_snapshot(run, &snapshot) < 0 ||
	    snapshot_file_write(snapshot, argv[2], &error) < 0) {
		fprintf(stderr, "%s: %s\n", argv[2], error.message);
		return 1;
	}
	return 0;
}
