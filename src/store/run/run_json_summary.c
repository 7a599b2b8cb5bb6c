/* SPDX-License-Identifier: MIT */
/* Writes the last line of a run: all that is known about it, enough to make the report again. */
#include "store/run/run_json.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "model/tree/run_order.h"
#include "store/run/run_json_parts.h"

#define BRIEF_ROWS 4

static void write_outcome(struct json *json, const struct run *run)
{
	struct run_ending ending = {
		.status = run->status,
		.sender_pid = run->killer_pid,
		.sender = run->killer_comm,
	};

	json_member_string(json, "end", run_end_name(run->end));
	if (run->has_status)
		run_json_ending_members(json, &ending);
	json_member_flag(json, "oom_killed", run->oom_killed);
	json_member_u64(json, "wall_ns", run_wall_ns(run));
}

static void write_memory(struct json *json, const struct tree *tree)
{
	if (tree->has_peak_rss && tree->largest_rss_bytes)
		json_member_u64(json, "hiwater_rss_bytes", tree->largest_rss_bytes);
	if (tree->has_peak_rss && tree->peak_rss_bytes)
		json_member_u64(json, "tree_peak_rss_bytes", tree->peak_rss_bytes);
	if (tree->has_rss)
		json_member_u64(json, "rss_bytes", tree->rss_bytes);
	if (tree->has_fds)
		json_member_u64(json, "open_fds", tree->open_fds);
}

static void write_threads(struct json *json, const struct run *run, size_t limit)
{
	size_t count;
	CLEANUP(free_pointer)
	const struct tree_thread **threads =
		run_threads_sorted(run->tree, run_threads_by_cost, &count);

	json_member_array(json, "threads");
	for (size_t i = 0; i < count && i < limit; i++) {
		json_begin_object(json);
		run_json_thread_members(json, run, threads[i]);
		json_end_object(json);
	}
	json_end_array(json);
	if (count > limit)
		json_member_u64(json, "threads_omitted", count - limit);
}

static void write_processes(struct json *json, const struct run *run, const char *key, bool live,
			    size_t limit, unsigned detail)
{
	size_t count;
	CLEANUP(free_pointer)
	const struct tree_process **processes =
		run_processes_sorted(run->tree, !live, live, &count);

	json_member_array(json, key);
	for (size_t i = 0; i < count && i < limit; i++) {
		json_begin_object(json);
		run_json_process_members(json, run, processes[i], detail);
		json_end_object(json);
	}
	json_end_array(json);
	if (live && count > limit)
		json_member_u64(json, "running_processes_omitted", count - limit);
}

/* Without a known waker: an interrupt or the kernel ended the wait, or wakers were not recorded. */
static void write_waker(struct json *json, const struct tree_wait *wait)
{
	const struct tree_waker *waker = &wait->waker;

	if (!waker->total_ns)
		return;
	json_member_object(json, "waker");
	json_member_i64(json, "pid", waker->waker_pid);
	json_member_i64(json, "tid", waker->waker_tid);
	json_member_string(json, "comm", waker->waker_comm);
	json_member_u64(json, "count", waker->count);
	json_member_u64(json, "total_ns", waker->total_ns);
	json_member_u64(json, "longest_ns", waker->longest_ns);
	json_member_nonzero(json, "recorded_ns", wait->recorded_ns);
	json_member_fixed(json, "share", tree_wait_waker_share(wait), 4);
	json_end_object(json);
}

static void write_top_waits(struct json *json, const struct tree *tree)
{
	json_member_array(json, "top_waits");
	for (size_t i = 0; i < tree->top_wait_count; i++) {
		const struct tree_wait *wait = &tree->top_waits[i];

		json_begin_object(json);
		json_member_i64(json, "pid", wait->thread.pid);
		json_member_i64(json, "tid", wait->thread.tid);
		json_member_nonzero(json, "start_time_ns", wait->thread.start_ns);
		json_member_string(json, "comm", wait->comm);
		json_member_string(json, "reason", waits[wait->reason].name);
		json_member_u64(json, "total_ns", wait->total_ns);
		if (wait->count) {
			json_member_u64(json, "longest_ns", wait->longest_ns);
			json_member_u64(json, "count", wait->count);
		}
		write_waker(json, wait);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_section(struct json *json, const struct run *run, const char *key,
			  enum run_section section)
{
	json_member_object(json, key);
	if (section == RUN_SECTION_CGROUP && run->limits.cgroup)
		json_member_string(json, "path", run->limits.cgroup);
	run_json_fields(json, run, section);
	json_end_object(json);
}

static void write_pressure(struct json *json, const struct run *run)
{
	json_member_object(json, "pressure");
	write_section(json, run, "host", RUN_SECTION_HOST);
	write_section(json, run, "cgroup", RUN_SECTION_CGROUP);
	json_end_object(json);
}

/* The process that came nearest to its limit of descriptors. */
static void write_fullest(struct json *json, const struct run *run)
{
	const struct tree_process *process = run->tree->fullest;

	if (!process)
		return;
	json_member_object(json, "fullest");
	run_json_process_members(json, run, process, RUN_JSON_BRIEF);
	json_end_object(json);
}

/* Threads that ended and have no row. */
static void write_folded(struct json *json, const struct tree *tree)
{
	if (!tree->folded.present)
		return;
	json_member_object(json, "folded_amounts");
	run_json_amounts(json, &tree->folded);
	json_end_object(json);
}

static void write_tree(struct json *json, const struct run *run, bool is_brief)
{
	const struct tree *tree = run->tree;

	run_json_amounts(json, &tree->amounts);
	write_memory(json, tree);
	run_json_fields(json, run, RUN_SECTION_COUNTS);
	write_threads(json, run, is_brief ? BRIEF_ROWS : RUN_THREADS_MAX);
	write_folded(json, tree);
	write_processes(json, run, "running_processes", true,
			is_brief ? BRIEF_ROWS : RUN_RUNNING_MAX,
			RUN_JSON_WAITS | RUN_JSON_SYSCALLS);
	write_processes(json, run, "top_processes", false,
			is_brief ? BRIEF_ROWS : RUN_TOP_PROCESSES, RUN_JSON_WAITS);
	write_fullest(json, run);
	write_top_waits(json, tree);
	run_json_syscalls(json, run);
	if (!is_brief)
		run_json_phases(json, run);
}

static void write_bounds(struct json *json, const struct run *run)
{
	static const char *const keys[] = { "processes_ever", "cpu_time_ns", "hiwater_rss_bytes" };
	unsigned bounds = run_lower_bounds(run);
	const char *found[ARRAY_SIZE(keys)];
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (bounds & 1U << i)
			found[count++] = keys[i];
	if (count)
		json_member_strings(json, "at_least", found, count);
}

/* Not written where nothing was counted: the sources have the reason. */
static void write_hardware(struct json *json, const struct run *run)
{
	const struct run_hardware *hardware = &run->hardware;

	if (!run_section_is_known(run, RUN_SECTION_HARDWARE))
		return;
	json_member_object(json, "hardware");
	run_json_fields(json, run, RUN_SECTION_HARDWARE);
	if (hardware->cycles.present && hardware->instructions.present && hardware->cycles.value)
		json_member_fixed(
			json, "ipc",
			(double)hardware->instructions.value / (double)hardware->cycles.value, 3);
	json_end_object(json);
}

static void write_deadlock(struct json *json, const struct run_deadlock *deadlock)
{
	if (!deadlock->count)
		return;
	json_member_array(json, "deadlock");
	for (uint32_t i = 0; i < deadlock->count; i++) {
		const struct run_waiter *waiter = &deadlock->waiters[i];

		json_begin_object(json);
		json_member_i64(json, "pid", waiter->pid);
		json_member_i64(json, "tid", waiter->tid);
		json_member_string(json, "comm", waiter->comm);
		json_member_string(json, "waits_for", waiter->object);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_segments(struct json *json, const struct run_segments *segments)
{
	if (!segments->count)
		return;
	json_member_array(json, "segments");
	for (uint32_t i = 0; i < segments->count; i++) {
		const struct run_segment *segment = &segments->list[i];

		json_begin_object(json);
		json_member_u64(json, "begin_ns", segment->begin_ns);
		json_member_u64(json, "end_ns", segment->end_ns);
		if (segment->cores.present)
			json_member_fixed(json, "cores", segment->cores.value, 3);
		run_json_number(json, "rss_bytes", &segment->rss_bytes);
		run_json_number(json, "read_bytes_per_s", &segment->read_bytes_per_s);
		run_json_number(json, "write_bytes_per_s", &segment->write_bytes_per_s);
		run_json_number(json, "threads", &segment->threads);
		json_member_string(json, "what", segment->what);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_gpu_users(struct json *json, const struct run_gpu_users *users)
{
	if (!users->count)
		return;
	json_member_array(json, "processes");
	for (uint32_t i = 0; i < users->count; i++) {
		const struct run_gpu_user *user = &users->list[i];

		json_begin_object(json);
		json_member_i64(json, "pid", user->pid);
		json_member_nonzero(json, "start_time_ns", user->start_ns);
		json_member_string(json, "comm", user->comm);
		run_json_number(json, "memory_peak_bytes", &user->memory_peak_bytes);
		run_json_number(json, "busy_peak_percent", &user->busy_peak_percent);
		run_json_number(json, "time_ns", &user->time_ns);
		json_end_object(json);
	}
	json_end_array(json);
}

static void write_gpu(struct json *json, const struct run *run)
{
	if (!run_section_is_known(run, RUN_SECTION_GPU))
		return;
	json_member_object(json, "gpu");
	run_json_fields(json, run, RUN_SECTION_GPU);
	write_gpu_users(json, &run->gpu_users);
	json_end_object(json);
}

void run_json_summary(FILE *out, const struct run *run, run_json_conclusions *conclusions,
		      const void *context, bool is_brief)
{
	struct json json = run_json_begin(out, "summary", run_unix_ns(run, run->end_ns));

	run_json_about(&json, run);
	write_outcome(&json, run);
	json_member_flag(&json, "brief", is_brief);
	write_tree(&json, run, is_brief);
	run_json_path(&json, run, is_brief);
	run_json_profile(&json, run, is_brief);
	write_deadlock(&json, &run->deadlock);
	write_segments(&json, &run->segments);
	conclusions(&json, run, context, is_brief);
	write_pressure(&json, run);
	write_hardware(&json, run);
	write_gpu(&json, run);
	write_section(&json, run, "sampling", RUN_SECTION_SAMPLING);
	if (run_is_sampled(run))
		write_section(&json, run, "sampled", RUN_SECTION_SAMPLED);
	write_section(&json, run, "losses", RUN_SECTION_LOSSES);
	write_bounds(&json, run);
	if (run->host && !is_brief) {
		json_member_object(&json, "environment");
		run_json_environment(&json, run->host);
		json_end_object(&json);
	}
	if (run_self_is_known(&run->self))
		write_section(&json, run, "self", RUN_SECTION_SELF);
	json_end_object(&json);
}
