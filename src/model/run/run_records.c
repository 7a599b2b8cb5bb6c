/* SPDX-License-Identifier: MIT */
#include "model/run/run_records.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/profile/profile.h"
#include "model/tree/run_fields.h"

#define MEMBER(owner, name_, type_, member)                                                        \
	{ name_, RECORD_##type_, offsetof(struct owner, member),                                   \
	  sizeof(((struct owner *)0)->member) },

/* clang-format off */
static const struct record_field run_members[] = {
	MEMBER(run, "pid", I32, pid)
	MEMBER(run, "tracer", TEXT, tracer)
	MEMBER(run, "tracer_misses", TEXT, tracer_misses)
	MEMBER(run, "begin_unix_ns", U64, begin_unix_ns)
	MEMBER(run, "begin_ns", U64, begin_ns)
	MEMBER(run, "end_ns", U64, end_ns)
	MEMBER(run, "interval_ns", U64, interval_ns)
	MEMBER(run, "duration_ns", OPTIONAL, duration_ns)
	MEMBER(run, "cgroup", TEXT, limits.cgroup)
	MEMBER(run, "has_status", FLAG, has_status)
	MEMBER(run, "status", U32, status)
	MEMBER(run, "since_process_start", FLAG, since_start)
	MEMBER(run, "oom_killed", FLAG, oom_killed)
	MEMBER(run, "sender_pid", I32, killer_pid)
	MEMBER(run, "sender", CHARS, killer_comm)
	MEMBER(run, "has_phases", FLAG, phases.known)
	MEMBER(run, "events_omitted", U64, past.events_omitted)
	{ 0 },
};

static const struct record_field tree_members[] = {
	MEMBER(tree, "unnamed_syscalls", U64, unnamed_syscalls)
	MEMBER(tree, "unnamed_ns", U64, unnamed_ns)
	MEMBER(tree, "has_rss", FLAG, has_rss)
	MEMBER(tree, "rss_bytes", U64, rss_bytes)
	MEMBER(tree, "has_peak_rss", FLAG, has_peak_rss)
	MEMBER(tree, "tree_peak_rss_bytes", U64, peak_rss_bytes)
	MEMBER(tree, "hiwater_rss_bytes", U64, largest_rss_bytes)
	MEMBER(tree, "has_fds", FLAG, has_fds)
	MEMBER(tree, "open_fds", U64, open_fds)
	{ 0 },
};

static const struct record_field process_members[] = {
	MEMBER(tree_process, "inner_pid", I32, inner_pid)
	MEMBER(tree_process, "comm", CHARS, comm)
	MEMBER(tree_process, "cmdline_cut", FLAG, arguments_cut)
	MEMBER(tree_process, "found", FLAG, found)
	MEMBER(tree_process, "ended", FLAG, exited)
	MEMBER(tree_process, "oom_killed", FLAG, oom_killed)
	MEMBER(tree_process, "execs", U32, execs)
	MEMBER(tree_process, "begin_ns", U64, begin_ns)
	MEMBER(tree_process, "end_ns", U64, end_ns)
	MEMBER(tree_process, "known", U32, facts.present)
	MEMBER(tree_process, "status", U32, facts.status)
	MEMBER(tree_process, "sender_pid", I32, facts.sender_pid)
	MEMBER(tree_process, "sender", CHARS, facts.sender_comm)
	MEMBER(tree_process, "hiwater_rss_bytes", U64, facts.peak_rss_bytes)
	MEMBER(tree_process, "rss_bytes", U64, facts.rss_bytes)
	MEMBER(tree_process, "open_fds", U64, facts.fds)
	MEMBER(tree_process, "open_fds_peak", U64, peak_fds)
	MEMBER(tree_process, "fd_limit", U64, facts.fd_limit)
	MEMBER(tree_process, "uid", U64, facts.uid)
	MEMBER(tree_process, "threads_ever", U64, threads)
	{ 0 },
};

static const struct record_field thread_members[] = {
	MEMBER(tree_thread, "found", FLAG, found)
	MEMBER(tree_thread, "ended", FLAG, ended)
	MEMBER(tree_thread, "begin_ns", U64, begin_ns)
	MEMBER(tree_thread, "end_ns", U64, end_ns)
	MEMBER(tree_thread, "state", U8, now.state)
	MEMBER(tree_thread, "blocked", FLAG, now.blocked)
	MEMBER(tree_thread, "reason", REASON, now.reason)
	MEMBER(tree_thread, "since_ns", U64, now.since_ns)
	MEMBER(tree_thread, "unnamed_syscalls", U64, unnamed_syscalls)
	MEMBER(tree_thread, "unnamed_ns", U64, unnamed_ns)
	{ 0 },
};

#define ERRNO(i) \
	MEMBER(syscall_stats, "errno " #i, U32, by_error[i].number)                                \
	MEMBER(syscall_stats, "errno " #i " count", U64, by_error[i].count)
#define BUCKET(i) MEMBER(syscall_stats, "bucket " #i, U64, buckets[i])
#define BUCKETS(a, b, c, d, e, f, g, h) \
	BUCKET(a) BUCKET(b) BUCKET(c) BUCKET(d) BUCKET(e) BUCKET(f) BUCKET(g) BUCKET(h)

static const struct record_field call_members[] = {
	MEMBER(syscall_stats, "count", U64, count)
	MEMBER(syscall_stats, "errors", U64, errors)
	MEMBER(syscall_stats, "total_ns", U64, total_ns)
	MEMBER(syscall_stats, "max_ns", U64, max_ns)
	ERRNO(0) ERRNO(1) ERRNO(2) ERRNO(3) ERRNO(4)
	BUCKETS(0, 1, 2, 3, 4, 5, 6, 7) BUCKETS(8, 9, 10, 11, 12, 13, 14, 15)
	BUCKETS(16, 17, 18, 19, 20, 21, 22, 23) BUCKETS(24, 25, 26, 27, 28, 29, 30, 31)
	{ 0 },
};

_Static_assert(SYSCALL_ERRORS == 4 && SYSCALL_BUCKETS == 32, "every error and bucket is stored");

static const struct record_field wait_members[] = {
	MEMBER(tree_wait, "pid", I32, thread.pid)
	MEMBER(tree_wait, "tid", I32, thread.tid)
	MEMBER(tree_wait, "start_time_ns", U64, thread.start_ns)
	MEMBER(tree_wait, "comm", CHARS, comm)
	MEMBER(tree_wait, "reason", REASON, reason)
	MEMBER(tree_wait, "total_ns", U64, total_ns)
	MEMBER(tree_wait, "longest_ns", U64, longest_ns)
	MEMBER(tree_wait, "count", U64, count)
	MEMBER(tree_wait, "recorded_ns", U64, recorded_ns)
	MEMBER(tree_wait, "waker_reason", REASON, waker.reason)
	MEMBER(tree_wait, "waker_pid", I32, waker.waker_pid)
	MEMBER(tree_wait, "waker_tid", I32, waker.waker_tid)
	MEMBER(tree_wait, "waker_comm", CHARS, waker.waker_comm)
	MEMBER(tree_wait, "waker_count", U64, waker.count)
	MEMBER(tree_wait, "waker_total_ns", U64, waker.total_ns)
	MEMBER(tree_wait, "waker_longest_ns", U64, waker.longest_ns)
	{ 0 },
};

static const struct record_field phase_members[] = {
	MEMBER(phase, "pid", I32, process.pid)
	MEMBER(phase, "start_time_ns", U64, process.start_ns)
	MEMBER(phase, "comm", CHARS, comm)
	MEMBER(phase, "label", CHARS, label)
	MEMBER(phase, "samples", U64, samples)
	MEMBER(phase, "threads", U64, threads)
	MEMBER(phase, "wall_ns", U64, wall_ns)
	MEMBER(phase, "self_wall_ns", U64, self_wall_ns)
	MEMBER(phase, "has_cpu", FLAG, has_cpu)
	MEMBER(phase, "cpu_ns", U64, cpu_ns)
	MEMBER(phase, "self_cpu_ns", U64, self_cpu_ns)
	MEMBER(phase, "has_self", FLAG, has_self)
	MEMBER(phase, "has_waits", FLAG, has_waits)
	MEMBER(phase, "off_cpu_ns", U64, off_cpu_ns)
	MEMBER(phase, "self_off_cpu_ns", U64, self_off_cpu_ns)
	MEMBER(phase, "off_cpu_exact", FLAG, is_off_cpu_exact)
	MEMBER(phase, "has_count", FLAG, has_count)
	MEMBER(phase, "count", U64, count)
	MEMBER(phase, "total_ns", U64, total_ns)
	MEMBER(phase, "self_total_ns", U64, self_total_ns)
	MEMBER(phase, "is_partial", FLAG, is_partial)
	{ 0 },
};

static const struct record_field event_members[] = {
	MEMBER(past_event, "time_ns", U64, time_ns)
	MEMBER(past_event, "event", TEXT, event)
	MEMBER(past_event, "pid", I32, task.pid)
	MEMBER(past_event, "tid", I32, task.tid)
	MEMBER(past_event, "start_time_ns", U64, task.start_ns)
	MEMBER(past_event, "other_pid", I32, other_pid)
	MEMBER(past_event, "signal", U32, signal)
	MEMBER(past_event, "comm", CHARS, comm)
	{ 0 },
};

static const struct record_field sample_members[] = {
	MEMBER(run_sample, "time_ns", U64, time_ns)
	MEMBER(run_sample, "processes", U64, processes)
	MEMBER(run_sample, "threads", U64, threads)
	MEMBER(run_sample, "rss_bytes", U64, rss_bytes)
	MEMBER(run_sample, "open_fds", U64, open_fds)
	MEMBER(run_sample, "unseen_cpu_ns", U64, unseen_cpu_ns)
	{ 0 },
};

static const struct record_field path_members[] = {
	MEMBER(critical_path, "path known", FLAG, is_known)
	MEMBER(critical_path, "path total_ns", U64, total_ns)
	MEMBER(critical_path, "path not_seen_ns", U64, not_seen_ns)
	MEMBER(critical_path, "path threshold_ns", U64, threshold_ns)
	MEMBER(critical_path, "path edges", U64, edges)
	MEMBER(critical_path, "path of_busiest", FLAG, of_busiest)
	MEMBER(critical_path, "path pid", I32, thread.pid)
	MEMBER(critical_path, "path tid", I32, thread.tid)
	MEMBER(critical_path, "path start_time_ns", U64, thread.start_ns)
	MEMBER(critical_path, "path segments_omitted", U64, segments_omitted)
	{ 0 },
};

static const struct record_field part_members[] = {
	MEMBER(path_part, "program", CHARS, program)
	MEMBER(path_part, "thread", CHARS, thread)
	MEMBER(path_part, "kind", KIND, kind)
	MEMBER(path_part, "via", KIND, via)
	MEMBER(path_part, "ns", U64, ns)
	MEMBER(path_part, "peer", CHARS, peer)
	MEMBER(path_part, "peer_ns", U64, peer_ns)
	MEMBER(path_part, "by_tree_ns", U64, by_tree_ns)
	MEMBER(path_part, "by_outside_ns", U64, by_outside_ns)
	MEMBER(path_part, "processes", U64, processes)
	MEMBER(path_part, "command", CHARS, command)
	MEMBER(path_part, "command_ns", U64, command_ns)
	{ 0 },
};

static const struct record_field segment_members[] = {
	MEMBER(path_segment, "begin_ns", U64, begin_ns)
	MEMBER(path_segment, "end_ns", U64, end_ns)
	MEMBER(path_segment, "pid", I32, task.pid)
	MEMBER(path_segment, "tid", I32, task.tid)
	MEMBER(path_segment, "start_time_ns", U64, task.start_ns)
	MEMBER(path_segment, "kind", KIND, kind)
	MEMBER(path_segment, "via", KIND, via)
	MEMBER(path_segment, "object", U64, object)
	{ 0 },
};

static const struct record_field waiter_members[] = {
	MEMBER(run_waiter, "pid", I32, pid)
	MEMBER(run_waiter, "tid", I32, tid)
	MEMBER(run_waiter, "comm", CHARS, comm)
	MEMBER(run_waiter, "waits_for", CHARS, object)
	{ 0 },
};

static const struct record_field stretch_members[] = {
	MEMBER(run_segment, "begin_ns", U64, begin_ns)
	MEMBER(run_segment, "end_ns", U64, end_ns)
	MEMBER(run_segment, "cores", REAL, cores)
	MEMBER(run_segment, "rss_bytes", OPTIONAL, rss_bytes)
	MEMBER(run_segment, "read_bytes_per_s", OPTIONAL, read_bytes_per_s)
	MEMBER(run_segment, "write_bytes_per_s", OPTIONAL, write_bytes_per_s)
	MEMBER(run_segment, "threads", OPTIONAL, threads)
	MEMBER(run_segment, "what", CHARS, what)
	{ 0 },
};

static const struct record_field gpu_user_members[] = {
	MEMBER(run_gpu_user, "pid", I32, pid)
	MEMBER(run_gpu_user, "start_time_ns", U64, start_ns)
	MEMBER(run_gpu_user, "comm", CHARS, comm)
	MEMBER(run_gpu_user, "memory_peak_bytes", OPTIONAL, memory_peak_bytes)
	MEMBER(run_gpu_user, "busy_peak_percent", OPTIONAL, busy_peak_percent)
	MEMBER(run_gpu_user, "time_ns", OPTIONAL, time_ns)
	{ 0 },
};

static const struct record_field frame_members[] = {
	MEMBER(profile_frame, "function", STRING, function)
	MEMBER(profile_frame, "module", STRING, module)
	MEMBER(profile_frame, "build_id", STRING, build_id)
	MEMBER(profile_frame, "source", STRING, source)
	MEMBER(profile_frame, "line", U32, line)
	MEMBER(profile_frame, "address", U64, address)
	MEMBER(profile_frame, "kernel", FLAG, is_kernel)
	MEMBER(profile_frame, "inlined", FLAG, is_inlined)
	{ 0 },
};

static const struct record_field node_members[] = {
	MEMBER(profile_node, "parent", U32, parent)
	MEMBER(profile_node, "frame", U32, frame)
	{ 0 },
};

static const struct record_field stack_sample_members[] = {
	MEMBER(profile_sample, "pid", I32, task.pid)
	MEMBER(profile_sample, "tid", I32, task.tid)
	MEMBER(profile_sample, "start_time_ns", U64, task.start_ns)
	MEMBER(profile_sample, "process", STRING, process_name)
	MEMBER(profile_sample, "thread", STRING, thread_name)
	MEMBER(profile_sample, "scope", STRING, scope)
	MEMBER(profile_sample, "kind", U8, kind)
	MEMBER(profile_sample, "end", U8, end)
	MEMBER(profile_sample, "reason", REASON, reason)
	MEMBER(profile_sample, "node", U32, node)
	MEMBER(profile_sample, "ns", U64, ns)
	MEMBER(profile_sample, "count", U64, count)
	MEMBER(profile_sample, "inferred_ns", U64, inferred_ns)
	{ 0 },
};

const struct record_kind
	run_record =     { SHEET_RUN, run_members },
	tree_record =    { SHEET_RUN, tree_members },
	process_record = { SHEET_RUN_PROCESSES, process_members },
	thread_record =  { SHEET_RUN_THREADS, thread_members },
	call_record =    { SHEET_SYSCALLS, call_members },
	wait_record =    { SHEET_TOP_WAITS, wait_members },
	phase_record =   { SHEET_PHASES, phase_members },
	event_record =   { SHEET_EVENTS, event_members },
	sample_record =  { SHEET_SAMPLES, sample_members },
	path_record =    { SHEET_RUN, path_members },
	part_record =    { SHEET_PATH, part_members },
	segment_record = { SHEET_PATH_SEGMENTS, segment_members },
	waiter_record =  { SHEET_DEADLOCK, waiter_members },
	frame_record =   { SHEET_STACK_FRAMES, frame_members },
	node_record =    { SHEET_STACK_NODES, node_members },
	stack_sample_record = { SHEET_STACK_SAMPLES, stack_sample_members },
	stretch_record = { SHEET_SEGMENTS, stretch_members },
	gpu_user_record = { SHEET_GPU_USERS, gpu_user_members };
/* clang-format on */

static int write_text(struct snapshot *snapshot, struct sheet *sheet, uint32_t row,
		      const char *name, const char *text, size_t length)
{
	uint32_t id;

	if (snapshot_intern(snapshot, text, length, &id) < 0)
		return -ENOMEM;
	return sheet_set(sheet, row, name, CELL_TEXT, id);
}

static uint64_t real_bits(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint64_t load(const void *at, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size); /* x86-64 and arm64 are little-endian */
	return value;
}

static int write_field(struct snapshot *snapshot, struct sheet *sheet, uint32_t row,
		       const struct record_field *field, const void *at)
{
	const struct run_number *number = at;
	const struct run_real *real = at;
	const char *text = at;
	uint64_t value = 0;

	switch (field->type) {
	case RECORD_TEXT:
		text = *(const char *const *)at;
		return text ? write_text(snapshot, sheet, row, field->name, text, strlen(text)) : 0;
	case RECORD_CHARS:
		return text[0] ? write_text(snapshot, sheet, row, field->name, text,
					    strnlen(text, field->size)) :
				 0;
	case RECORD_OPTIONAL:
		return number->present ?
			       sheet_set(sheet, row, field->name, CELL_NUMBER, number->value) :
			       0;
	case RECORD_REAL:
		return real->present ? sheet_set(sheet, row, field->name, CELL_NUMBER,
						 real_bits(real->value)) :
				       0;
	case RECORD_REASON:
		value = load(at, field->size);
		text = value < WAIT_REASON_COUNT ? waits[value].name : "";
		return write_text(snapshot, sheet, row, field->name, text, strlen(text));
	case RECORD_KIND:
		text = path_kind_name((uint8_t)load(at, field->size));
		return text ? write_text(snapshot, sheet, row, field->name, text, strlen(text)) : 0;
	case RECORD_STRING:
		value = load(at, field->size);
		return value ? sheet_set(sheet, row, field->name, CELL_TEXT, value) : 0;
	default:
		value = load(at, field->size);
		return value ? sheet_set(sheet, row, field->name, CELL_NUMBER, value) : 0;
	}
}

int record_write(struct snapshot *snapshot, const struct record_kind *kind, uint32_t row,
		 const void *record)
{
	int status = 0;

	for (const struct record_field *field = kind->fields; field->name && status == 0; field++)
		status = write_field(snapshot, &snapshot->sheets[kind->sheet], row, field,
				     (const char *)record + field->offset);
	return status;
}

static uint64_t largest(const struct record_field *field)
{
	switch (field->type) {
	case RECORD_FLAG:
		return 1;
	case RECORD_I32:
		return INT32_MAX;
	default:
		return field->size == sizeof(uint64_t) ? UINT64_MAX :
							 (UINT64_C(1) << 8 * field->size) - 1;
	}
}

static void read_number(const struct record_field *field, uint64_t value, void *at)
{
	double real;

	switch (field->type) {
	case RECORD_OPTIONAL:
		*(struct run_number *)at = (struct run_number){ true, value };
		return;
	case RECORD_REAL:
		memcpy(&real, &value, sizeof(real));
		/* Only if it is finite: neither infinite nor NaN. */
		if (real - real == 0)
			*(struct run_real *)at = (struct run_real){ true, real };
		return;
	case RECORD_TEXT:
	case RECORD_CHARS:
	case RECORD_REASON:
	case RECORD_KIND:
	case RECORD_STRING:
		return;
	default:
		if (value <= largest(field))
			memcpy(at, &value, field->size);
	}
}

static int read_text(const struct record_field *field, const char *text, struct arena *texts,
		     void *at)
{
	size_t length = strlen(text);

	if (field->type == RECORD_CHARS) {
		length = length < field->size ? length : field->size - 1;
		memcpy(at, text, length);
		((char *)at)[length] = '\0';
	} else if (field->type == RECORD_TEXT) {
		*(const char **)at = arena_copy(texts, text, length);
		return *(const char **)at ? 0 : -ENOMEM;
	} else if (field->type == RECORD_REASON) {
		int reason = wait_find(text);

		memcpy(at, reason < 0 ? &(int){ WAIT_OTHER } : &reason, field->size);
	} else if (field->type == RECORD_KIND) {
		*(uint8_t *)at = path_kind_find(text);
	}
	return 0;
}

int record_read(const struct snapshot *snapshot, const struct record_kind *kind, uint32_t row,
		struct arena *texts, void *record)
{
	const struct sheet *sheet = &snapshot->sheets[kind->sheet];
	int status = 0;

	for (const struct record_field *field = kind->fields; field->name && status == 0; field++) {
		void *at = (char *)record + field->offset;
		uint64_t value;
		enum cell_state state = column_get(sheet_find(sheet, field->name), row, &value);

		if (state == CELL_NUMBER)
			read_number(field, value, at);
		else if (state == CELL_TEXT && field->type == RECORD_STRING)
			memcpy(at, &value, field->size);
		else if (state == CELL_TEXT)
			status = read_text(field, snapshot_text(snapshot, (uint32_t)value), texts,
					   at);
	}
	return status;
}

static const char *const section_names[] = {
	[RUN_SECTION_COUNTS] = "counts",     [RUN_SECTION_HOST] = "host",
	[RUN_SECTION_CGROUP] = "cgroup",     [RUN_SECTION_HARDWARE] = "hardware",
	[RUN_SECTION_GPU] = "gpu",
	[RUN_SECTION_SAMPLING] = "sampling", [RUN_SECTION_LOSSES] = "losses",
	[RUN_SECTION_SELF] = "self",	     [RUN_SECTION_SAMPLED] = "sampled",
	[RUN_SECTION_PROFILE] = "profile",   [RUN_SECTION_STACK_LOSSES] = "stack_losses",
};

/*
 * Makes a record field from a row of run_fields.def.  A plain count is written even when it is 0.
 */
static struct record_field as_record(const struct run_field *field, const char *key,
				     char name[SHEET_NAME_SIZE])
{
	struct record_field record = { name, RECORD_U64, 0, sizeof(uint64_t) };

	snprintf(name, SHEET_NAME_SIZE, "%s %s", section_names[field->section], key);
	if (field->type == RUN_FIELD_SMALL)
		record = (struct record_field){ name, RECORD_U32, 0, sizeof(uint32_t) };
	else if (field->type == RUN_FIELD_OPTIONAL)
		record.type = RECORD_OPTIONAL;
	else if (field->type == RUN_FIELD_REAL)
		record.type = RECORD_REAL;
	return record;
}

int run_fields_write(struct snapshot *snapshot, const struct run *run)
{
	struct sheet *sheet = &snapshot->sheets[SHEET_RUN];
	char name[SHEET_NAME_SIZE];
	int status = 0;

	for (size_t i = 0; i < run_field_count && status == 0; i++) {
		struct record_field record = as_record(&run_fields[i], run_fields[i].key, name);
		const void *at = run_field_at(run, &run_fields[i]);

		if (!run_field_is_known(run, &run_fields[i]))
			continue;
		status =
			run_fields[i].type == RUN_FIELD_COUNT ?
				sheet_set(sheet, 0, name, CELL_NUMBER, load(at, sizeof(uint64_t))) :
				write_field(snapshot, sheet, 0, &record, at);
	}
	return status;
}

void run_fields_read(const struct snapshot *snapshot, struct run *run)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_RUN];
	char name[SHEET_NAME_SIZE];

	for (size_t i = 0; i < run_field_count; i++) {
		const struct run_field *field = &run_fields[i];
		const char *older = run_field_older_key(field->key);
		struct record_field record = as_record(field, field->key, name);
		uint64_t value;

		if (!run_field_at(run, field))
			continue;
		if (older && !sheet_find(sheet, name))
			record = as_record(field, older, name);
		if (column_get(sheet_find(sheet, name), 0, &value) == CELL_NUMBER)
			read_number(&record, value, run_field_at(run, field));
		else
			run->tree->unknown |= field->unknown;
	}
}
