/* SPDX-License-Identifier: MIT */
/* Reads the summary of a run back into the model. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "model/counter.h"
#include "store/run/replay/run_members.h"
#include "store/run/replay/run_parts.h"
#include "store/run/replay/run_values.h"

static const char *copy_text(struct run *run, const json_t *object, const char *key)
{
	const char *text = member_text(object, key);

	return text ? arena_copy(&run->arena, text, strlen(text)) : NULL;
}

/* Words of the command; NULL-terminated, in the arena. */
static int read_command(const json_t *object, struct run *run)
{
	CLEANUP(text_free) struct text words = { 0 };
	const char *word, *end;
	size_t kept = 0;
	char **command;

	if (!json_is_array(json_object_get(object, "cmd")))
		return 0;
	member_words(object, "cmd", &words);
	command = arena_alloc(&run->arena, (json_array_size(json_object_get(object, "cmd")) + 1) *
						   sizeof(*command));
	if (!command || words.failed)
		return -ENOMEM;
	word = text_string(&words);
	for (end = word + words.length; word < end; word += strlen(word) + 1) {
		command[kept] = arena_copy(&run->arena, word, strlen(word));
		if (!command[kept++])
			return -ENOMEM;
	}
	run->command = command;
	return 0;
}

static int read_pids(const json_t *list, struct run *run)
{
	size_t count = size_within(list, RUN_RUNNING_MAX), kept = 0;
	CLEANUP(free_pointer) int32_t *pids = calloc(count + 1, sizeof(*pids));
	uint64_t number;

	if (!pids)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (json_to_u64(json_array_get(list, i), &number) && number <= INT32_MAX)
			pids[kept++] = (int32_t)number;
	return kept ? run_set_pids(run, pids, kept) : 0;
}

static int read_sources(const json_t *sources, struct run *run)
{
	int status = 0;

	if (!json_is_array(sources))
		return 0;
	run->source_count = 0;
	for (size_t i = 0; status == 0 && i < json_array_size(sources); i++) {
		const json_t *source = json_array_get(sources, i);
		const char *name = member_text(source, "name"),
			   *state = member_text(source, "state");

		if (name && state)
			status = run_add_source(run, name, source_state_find(state),
						member_text(source, "reason"));
	}
	return status == -ENOSPC ? 0 : status;
}

int run_read_about(const json_t *object, struct run *run)
{
	const char *mode = member_text(object, "mode");
	uint64_t cpus;
	int status = read_command(object, run);

	run->mode = mode && strcmp(mode, "attach") == 0 ? RUN_ATTACH : RUN_COMMAND;
	member_i32(object, "pid", &run->pid);
	member_u64(object, "begin_unix_ns", &run->begin_unix_ns);
	member_u64(object, "begin_monotonic_ns", &run->begin_ns);
	member_u64(object, "interval_ns", &run->interval_ns);
	member_number(object, "duration_ns", &run->duration_ns);
	run->since_start = member_flag(object, "since_process_start");
	if (member_u64(object, "online_cpus", &cpus) && cpus <= UINT32_MAX)
		run->limits.online_cpus = (uint32_t)cpus;
	run->tracer = copy_text(run, object, "tracer");
	run->tracer_misses = copy_text(run, object, "tracer_misses");
	if (status == 0)
		status = read_pids(json_object_get(object, "pids"), run);
	if (status == 0)
		status = read_sources(json_object_get(object, "sources"), run);
	return status;
}

bool run_read_end(const json_t *object, struct run *run)
{
	const char *end = member_text(object, "end");

	return end && run_end_find(end, &run->end);
}

static void read_outcome(const json_t *object, struct run *run)
{
	run->has_status = run_read_status(object, &run->status);
	run->oom_killed = member_flag(object, "oom_killed");
	member_i32(object, "sender_pid", &run->killer_pid);
	member_comm(object, "sender", run->killer_comm);
}

static void read_memory(const json_t *object, struct tree *tree)
{
	bool largest = member_u64(object, "hiwater_rss_bytes", &tree->largest_rss_bytes);
	bool peak = member_u64(object, "tree_peak_rss_bytes", &tree->peak_rss_bytes);

	tree->has_peak_rss = largest || peak;
	tree->has_rss = member_u64(object, "rss_bytes", &tree->rss_bytes);
	tree->has_fds = member_u64(object, "open_fds", &tree->open_fds);
}

/* Threads that are in the sums but not named anywhere. */
static void count_omitted(const json_t *object, struct tree *tree)
{
	size_t named = json_array_size(json_object_get(object, "threads"));
	uint64_t omitted = 0;

	member_u64(object, "threads_omitted", &omitted);
	counter_add(&tree->folded_threads, omitted);
	if (named > RUN_THREADS_MAX)
		counter_add(&tree->folded_threads, named - RUN_THREADS_MAX);
}

static void read_waker(const json_t *object, enum wait_reason reason, struct tree_waker *ret)
{
	ret->reason = reason;
	member_i32(object, "pid", &ret->waker_pid);
	member_i32(object, "tid", &ret->waker_tid);
	member_comm(object, "comm", ret->waker_comm);
	member_u64(object, "count", &ret->count);
	member_u64(object, "total_ns", &ret->total_ns);
	member_u64(object, "longest_ns", &ret->longest_ns);
}

static void read_wait(const json_t *object, struct tree *tree)
{
	struct tree_wait *wait = &tree->top_waits[tree->top_wait_count];
	const char *name = member_text(object, "reason");
	int reason = name ? wait_find(name) : -1;

	if (reason < 0)
		return;
	member_i32(object, "pid", &wait->thread.pid);
	member_i32(object, "tid", &wait->thread.tid);
	member_u64(object, "start_time_ns", &wait->thread.start_ns);
	member_comm(object, "comm", wait->comm);
	wait->reason = (enum wait_reason)reason;
	member_u64(object, "total_ns", &wait->total_ns);
	member_u64(object, "longest_ns", &wait->longest_ns);
	member_u64(object, "count", &wait->count);
	read_waker(json_object_get(object, "waker"), wait->reason, &wait->waker);
	member_u64(json_object_get(object, "waker"), "recorded_ns", &wait->recorded_ns);
	tree->top_wait_count++;
}

static void read_waits(const json_t *list, struct tree *tree)
{
	tree->top_wait_count = 0;
	for (size_t i = 0; i < json_array_size(list) && tree->top_wait_count < TREE_TOP_WAITS; i++)
		read_wait(json_array_get(list, i), tree);
}

static void read_deadlock(const json_t *list, struct run_deadlock *ret)
{
	*ret = (struct run_deadlock){ 0 };
	for (size_t i = 0; i < json_array_size(list) && i < RUN_WAITERS_MAX; i++) {
		const json_t *object = json_array_get(list, i);
		struct run_waiter *waiter = &ret->waiters[ret->count++];

		member_i32(object, "pid", &waiter->pid);
		member_i32(object, "tid", &waiter->tid);
		member_comm(object, "comm", waiter->comm);
		member_bytes(object, "waits_for", waiter->object, sizeof(waiter->object));
	}
}

static void read_segments(const json_t *list, struct run_segments *ret)
{
	*ret = (struct run_segments){ 0 };
	for (size_t i = 0; i < json_array_size(list) && i < RUN_SEGMENTS_MAX; i++) {
		const json_t *object = json_array_get(list, i);
		struct run_segment *segment = &ret->list[ret->count++];

		member_u64(object, "begin_ns", &segment->begin_ns);
		member_u64(object, "end_ns", &segment->end_ns);
		member_real(object, "cores", &segment->cores);
		member_number(object, "rss_bytes", &segment->rss_bytes);
		member_number(object, "read_bytes_per_s", &segment->read_bytes_per_s);
		member_number(object, "write_bytes_per_s", &segment->write_bytes_per_s);
		member_number(object, "threads", &segment->threads);
		member_bytes(object, "what", segment->what, sizeof(segment->what));
	}
}

static void read_gpu(const json_t *object, struct run *run)
{
	const json_t *list = json_object_get(object, "processes");
	struct run_gpu_users *users = &run->gpu_users;

	run_read_fields(object, run, RUN_SECTION_GPU);
	*users = (struct run_gpu_users){ 0 };
	for (size_t i = 0; i < json_array_size(list) && i < RUN_GPU_USERS_MAX; i++) {
		const json_t *row = json_array_get(list, i);
		struct run_gpu_user *user = &users->list[users->count++];

		member_i32(row, "pid", &user->pid);
		member_u64(row, "start_time_ns", &user->start_ns);
		member_comm(row, "comm", user->comm);
		member_number(row, "memory_peak_bytes", &user->memory_peak_bytes);
		member_number(row, "busy_peak_percent", &user->busy_peak_percent);
		member_number(row, "time_ns", &user->time_ns);
	}
}

static void read_limits(const json_t *object, struct run *run)
{
	const json_t *pressure = json_object_get(object, "pressure");
	const json_t *cgroup = json_object_get(pressure, "cgroup");

	run_read_fields(json_object_get(pressure, "host"), run, RUN_SECTION_HOST);
	run_read_fields(cgroup, run, RUN_SECTION_CGROUP);
	run->limits.cgroup = copy_text(run, cgroup, "path");
	run_read_fields(json_object_get(object, "hardware"), run, RUN_SECTION_HARDWARE);
	read_gpu(json_object_get(object, "gpu"), run);
	run_read_fields(json_object_get(object, "sampling"), run, RUN_SECTION_SAMPLING);
	run_read_fields(json_object_get(object, "sampled"), run, RUN_SECTION_SAMPLED);
	run_read_fields(json_object_get(object, "losses"), run, RUN_SECTION_LOSSES);
	run_read_fields(json_object_get(object, "self"), run, RUN_SECTION_SELF);
}

/*
 * A run begins at the exec, and the first line was written before it.  So the times read so far
 * move: they count from the beginning that the summary gives.
 */
static void shift_time(uint64_t *time_ns, uint64_t by)
{
	*time_ns += *time_ns ? by : 0;
}

static void shift_thread(struct tree_thread *thread, uint64_t by)
{
	shift_time(&thread->begin_ns, by);
	shift_time(&thread->end_ns, by);
	shift_time(&thread->seen_ns, by);
	shift_time(&thread->now.since_ns, by);
}

static void shift_process(struct tree_process *process, uint64_t by)
{
	shift_time(&process->begin_ns, by);
	shift_time(&process->end_ns, by);
	shift_time(&process->facts.end_ns, by);
	shift_time(&process->state.seen_ns, by);
	shift_time(&process->state.threads_end_ns, by);
	for (size_t i = 0; i < process->live_count; i++)
		shift_thread(process->live[i], by);
}

static void shift_program(struct program_sums *program, uint64_t by)
{
	shift_time(&program->begin_ns, by);
	shift_time(&program->end_ns, by);
}

static void shift_times(struct run *run, uint64_t by)
{
	struct tree *tree = run->tree;

	for (size_t i = 0; i < tree->count; i++)
		shift_process(tree->all[i], by);
	for (size_t i = 0; i < tree->ended_count; i++)
		shift_thread(tree->ended[i], by);
	for (size_t i = 0; i < tree->program_count; i++)
		shift_program(&tree->programs[i], by);
	shift_program(&tree->other_programs, by);
	for (size_t i = 0; i < run->past.events.count; i++)
		shift_time(&run->past.events.data[i].time_ns, by);
	for (size_t i = 0; i < run->past.samples.count; i++)
		shift_time(&run->past.samples.data[i].time_ns, by);
}

int run_read_start(const json_t *object, struct run *run)
{
	uint64_t begin_ns = run->begin_ns, wall = 0;
	int status = run_read_about(object, run);

	shift_times(run, run->begin_ns - begin_ns);
	member_u64(object, "wall_ns", &wall);
	run->end_ns = run->begin_ns + wall;
	return status;
}

static int read_calls(const json_t *object, struct tree *tree)
{
	syscall_table_clear(&tree->syscalls);
	tree->unnamed_syscalls = tree->unnamed_ns = 0;
	return run_read_syscall_summary(object, tree);
}

int run_read_summary(const json_t *object, struct run *run)
{
	struct tree *tree = run->tree;
	int status = read_calls(json_object_get(object, "syscalls"), tree);

	if (status == 0)
		status = run_read_phases(json_object_get(object, "phases"), &run->phases);
	if (status == 0)
		status = run_read_path(json_object_get(object, "critical_path"), &run->path);
	if (status == 0)
		status = run_read_profile(json_object_get(object, "profile"), run);
	if (status < 0)
		return status;
	read_outcome(object, run);
	tree->amounts = tree->folded = (struct amounts){ 0 };
	run_read_amounts(object, &tree->amounts);
	run_read_amounts(json_object_get(object, "folded_amounts"), &tree->folded);
	run_read_fields(object, run, RUN_SECTION_COUNTS);
	count_omitted(object, tree);
	read_memory(object, tree);
	read_waits(json_object_get(object, "top_waits"), tree);
	read_deadlock(json_object_get(object, "deadlock"), &run->deadlock);
	read_segments(json_object_get(object, "segments"), &run->segments);
	read_limits(object, run);
	return 0;
}
