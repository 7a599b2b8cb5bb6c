/* SPDX-License-Identifier: MIT */
/*
 * A snapshot with every shape that a cell, a text and a row can have; what two
 * snapshots must have in common to be the same; and a run in a child.
 */
#ifndef SAMPLE_SNAPSHOT_H
#define SAMPLE_SNAPSHOT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "store/snapshot_file.h"

static inline uint32_t intern(struct snapshot *snapshot, const char *text)
{
	uint32_t id = 0;

	assert_int_equal(snapshot_intern(snapshot, text, strlen(text), &id), 0);
	return id;
}

static inline void set(struct snapshot *snapshot, enum metric_id id, uint32_t row, uint64_t value)
{
	assert_int_equal(snapshot_need_column(snapshot, id), 0);
	snapshot_set(snapshot, id, row, value);
}

static inline void add_process(struct snapshot *snapshot, int32_t tgid, const char *pcomm,
			       const char *cmdline, const char *user)
{
	struct process process = { .tgid = tgid, .start_time_ns = (uint64_t)tgid * 10000000 };
	uint32_t row;

	process.pcomm = intern(snapshot, pcomm);
	process.cmdline = intern(snapshot, cmdline);
	process.user = intern(snapshot, user);
	assert_int_equal(snapshot_process(snapshot, tgid, &row), 0);
	snapshot->processes[row] = process;
}

static inline void add_task(struct snapshot *snapshot, int32_t tgid, int32_t tid, const char *comm,
			    const char *cgroup)
{
	struct task task = { .tid = tid, .start_time_ns = (uint64_t)tid * 10000000 };
	uint32_t row;

	task.comm = intern(snapshot, comm);
	task.cgroup = intern(snapshot, cgroup);
	task.process = (uint32_t)snapshot_find_process(snapshot, tgid);
	assert_int_equal(snapshot_add_task(snapshot, &task, &row), 0);
}

static inline void add_metrics(struct snapshot *snapshot)
{
	for (uint32_t row = 0; row < snapshot->task_count; row++) {
		set(snapshot, METRIC_thread_count, row, 1);
		set(snapshot, METRIC_nice, row, (uint64_t)(int64_t)(row % 2 ? -20 : 19));
		set(snapshot, METRIC_run_time_ns, row, UINT64_MAX - row * 7);
		set(snapshot, METRIC_wait_time_ns, row, row % 2 ? UINT64_MAX : 0);
		set(snapshot, METRIC_minflt, row, (uint64_t)1 << row * 7);
		if (row != 4)
			set(snapshot, METRIC_voluntary_csw, row, row);
	}
	set(snapshot, METRIC_priority, 2, (uint64_t)INT64_MIN);
	set(snapshot, METRIC_majflt, 0, 0);
	set(snapshot, METRIC_majflt, 8, 12345678901);
	set(snapshot, METRIC_cpu_affinity, 1, intern(snapshot, "0-3,8"));
	set(snapshot, METRIC_cpu_affinity, 3, intern(snapshot, "0-3,8"));
	set(snapshot, METRIC_cpu_affinity, 4, 0);
	set(snapshot, METRIC_state, 5, 'S');
	set(snapshot, METRIC_rss_bytes, 0, 4096);
	set(snapshot, METRIC_uid, 1, (uint64_t)-1);
	assert_int_equal(snapshot_need_column(snapshot, METRIC_rchar), 0);
}

static inline void add_circumstances(struct snapshot *snapshot)
{
	struct source_report *source;

	for (int id = 0; id < FACT_COUNT; id++) {
		if (id == FACT_filter)
			continue;
		if (facts[id].is_text)
			snapshot_set_fact_text(snapshot, (enum fact_id)id, facts[id].name);
		else
			snapshot_set_fact_number(snapshot, (enum fact_id)id,
						 UINT64_MAX >> (id % 64));
	}
	snapshot_set_fact_text(snapshot, FACT_arch, "");
	snapshot_set_absent(snapshot, METRIC_rchar, "no permission: run as root");
	snapshot_set_absent(snapshot, METRIC_majflt, "");
	source = snapshot_source(snapshot, "task stat");
	source->read = 9;
	source = snapshot_source(snapshot, "task io");
	source->state = SOURCE_PARTIAL;
	source->reason = "permission denied\x1b[31m";
	source->failed = UINT64_MAX;
	snapshot->tally = (struct capture_tally){ .tids_walked = 9,
						  .vanished = 1,
						  .negative_dotted_values = 2,
						  .discarded_values = 3,
						  .processes_ended = 5,
						  .gap_filled = 4 };
}

static inline void set_reading(struct sheet *sheet, uint32_t row, const char *name,
			       enum cell_state state, uint64_t value)
{
	assert_int_equal(sheet_set(sheet, row, name, state, value), 0);
}

static inline void add_readings(struct snapshot *snapshot)
{
	struct sheet *cgroups = &snapshot->sheets[SHEET_CGROUPS];
	struct sheet *processes = &snapshot->sheets[SHEET_PROCESSES];
	uint32_t root, child, row;

	assert_int_equal(sheet_add_row(cgroups, intern(snapshot, "/"), &root), 0);
	assert_int_equal(sheet_add_row(cgroups, intern(snapshot, "/only here"), &child), 0);
	set_reading(cgroups, root, "memory.current", CELL_NUMBER, UINT64_MAX);
	set_reading(cgroups, child, "memory.current", CELL_NUMBER, 0);
	set_reading(cgroups, child, "memory.max", CELL_UNLIMITED, 0);
	set_reading(cgroups, child, "cpuset.cpus", CELL_TEXT, intern(snapshot, "0-1\x1b"));
	set_reading(cgroups, child, "cpu.weight.nice", CELL_NUMBER, (uint64_t)-20);
	assert_int_equal(sheet_set_origin(cgroups, "memory.current", "v1 memory"), 0);
	assert_int_equal(sheet_set_absent(cgroups, "memory.peak", "no such file"), 0);
	assert_int_equal(sheet_add_row(processes, 2, &row), 0);
	set_reading(processes, row, "smaps Future_Key", CELL_NUMBER, 4096);
	assert_int_equal(
		snapshot_note_number(snapshot, SHEET_HOST, "pressure cpu some avg10", 1234), 0);
	assert_int_equal(snapshot_note_text(snapshot, SHEET_CAPTURE, "jemalloc dominant_failure",
					    "symbols-stripped"),
			 0);
	for (int id = 0; id < SHEET_COUNT; id++)
		assert_int_equal(sheet_finish(&snapshot->sheets[id]), 0);
}

/* Every shape a cell, a text and a row can have. */
static inline struct snapshot *make_snapshot(void)
{
	struct snapshot *snapshot;

	assert_int_equal(snapshot_new(&snapshot), 0);
	intern(snapshot, "a text that no row uses");
	add_process(snapshot, 1, "init", "/sbin/init splash", "root");
	add_process(snapshot, 20, "\x01\xff\n\x1b[2J", "", "");
	add_process(snapshot, INT32_MAX, "", "\"quoted\" \\", "nobody");
	add_task(snapshot, 1, 1, "init", "/init.scope");
	add_task(snapshot, 20, 20, "fifteen bytes..", "/a b:c");
	for (int32_t tid = 21; tid < 27; tid++)
		add_task(snapshot, 20, tid, tid % 2 ? "odd" : "", "/");
	add_task(snapshot, INT32_MAX, INT32_MAX, "last", "");
	add_metrics(snapshot);
	add_circumstances(snapshot);
	add_readings(snapshot);
	assert_int_equal(snapshot_finish(snapshot), 0);
	return snapshot;
}

/*
 * What version 1 did not know at first: threads in a scope, with steps and without, one whose label
 * found no room, and one whose steps are all there are.
 */
static inline void add_scopes(struct snapshot *snapshot)
{
	snapshot->tasks[1].scope = intern(snapshot, "load matrix");
	snapshot->tasks[2].scope = intern(snapshot, "solve \x1b[2J\xff");
	snapshot->tasks[3].scope = intern(snapshot, "odd");
	set(snapshot, METRIC_scope_age_ns, 1, 58000000000);
	set(snapshot, METRIC_scope_age_ns, 2, 0);
	set(snapshot, METRIC_scope_age_ns, 3, UINT64_MAX);
	set(snapshot, METRIC_scope_age_ns, 4, 1);
	set(snapshot, METRIC_scope_count, 2, 0);
	set(snapshot, METRIC_scope_count, 3, UINT64_MAX);
	set(snapshot, METRIC_scope_total, 3, UINT64_MAX);
}

static inline void assert_same_text(const struct snapshot *a, uint32_t first,
				    const struct snapshot *b, uint32_t second)
{
	assert_string_equal(snapshot_text(a, first), snapshot_text(b, second));
}

static inline void assert_same_rows(const struct snapshot *a, const struct snapshot *b)
{
	assert_int_equal(a->process_count, b->process_count);
	assert_int_equal(a->task_count, b->task_count);
	for (size_t row = 0; row < a->process_count; row++) {
		const struct process *first = &a->processes[row], *second = &b->processes[row];

		assert_int_equal(first->tgid, second->tgid);
		assert_int_equal(first->first_task, second->first_task);
		assert_int_equal(first->start_time_ns, second->start_time_ns);
		assert_same_text(a, first->pcomm, b, second->pcomm);
		assert_same_text(a, first->cmdline, b, second->cmdline);
		assert_same_text(a, first->user, b, second->user);
		assert_int_equal(snapshot_find_process(b, first->tgid), row);
	}
	for (size_t row = 0; row < a->task_count; row++) {
		const struct task *first = &a->tasks[row], *second = &b->tasks[row];

		assert_int_equal(first->tid, second->tid);
		assert_int_equal(first->process, second->process);
		assert_int_equal(first->start_time_ns, second->start_time_ns);
		assert_same_text(a, first->comm, b, second->comm);
		assert_same_text(a, first->cgroup, b, second->cgroup);
		assert_same_text(a, first->scope, b, second->scope);
	}
}

static inline void assert_same_cells(const struct snapshot *a, const struct snapshot *b,
				     enum metric_id id)
{
	for (uint32_t row = 0; row < snapshot_rows(a, id); row++) {
		uint64_t first = 0, second = 0;

		assert_int_equal(snapshot_get(a, id, row, &first),
				 snapshot_get(b, id, row, &second));
		if (metrics[id].kind == KIND_CPUSET)
			assert_same_text(a, (uint32_t)first, b, (uint32_t)second);
		else
			assert_true(first == second);
	}
	assert_int_equal(snapshot_measured(a, id), snapshot_measured(b, id));
}

static inline void assert_same_maybe(const char *first, const char *second)
{
	assert_int_equal(first == NULL, second == NULL);
	if (first)
		assert_string_equal(first, second);
}

static inline void assert_same_circumstances(const struct snapshot *a, const struct snapshot *b)
{
	for (int id = 0; id < FACT_COUNT; id++) {
		assert_int_equal(a->facts[id].present, b->facts[id].present);
		assert_true(a->facts[id].number == b->facts[id].number);
		assert_same_maybe(a->facts[id].text, b->facts[id].text);
	}
	for (int id = 0; id < METRIC_STORED; id++)
		assert_same_maybe(a->columns[id].absent, b->columns[id].absent);
	assert_int_equal(a->source_count, b->source_count);
	for (size_t i = 0; i < a->source_count; i++) {
		assert_string_equal(a->sources[i].name, b->sources[i].name);
		assert_int_equal(a->sources[i].state, b->sources[i].state);
		assert_same_maybe(a->sources[i].reason, b->sources[i].reason);
		assert_true(a->sources[i].read == b->sources[i].read);
		assert_true(a->sources[i].failed == b->sources[i].failed);
	}
	assert_memory_equal(&a->tally, &b->tally, sizeof(a->tally));
}

static inline void assert_same_column(const struct snapshot *a, const struct snapshot *b,
				      enum sheet_id id, size_t index)
{
	const struct column *first = &a->sheets[id].columns.data[index];
	const struct column *second = &b->sheets[id].columns.data[index];

	assert_string_equal(first->metric->name, second->metric->name);
	assert_same_maybe(first->origin, second->origin);
	assert_same_maybe(first->absent, second->absent);
	for (uint32_t row = 0; row < a->sheets[id].row_count; row++) {
		uint64_t x = 0, y = 0;
		enum cell_state state = column_get(first, row, &x);

		assert_int_equal(state, column_get(second, row, &y));
		if (state == CELL_TEXT)
			assert_same_text(a, (uint32_t)x, b, (uint32_t)y);
		else if (state == CELL_NUMBER)
			assert_true(x == y);
	}
}

static inline void assert_same_sheets(const struct snapshot *a, const struct snapshot *b)
{
	for (int id = 0; id < SHEET_COUNT; id++) {
		const struct sheet *first = &a->sheets[id], *second = &b->sheets[id];

		assert_int_equal(first->row_count, second->row_count);
		assert_int_equal(first->columns.count, second->columns.count);
		for (size_t row = 0; row < first->row_count; row++) {
			if (id == SHEET_CGROUPS)
				assert_same_text(a, first->keys[row], b, second->keys[row]);
			else
				assert_int_equal(first->keys[row], second->keys[row]);
		}
		for (size_t i = 0; i < first->columns.count; i++)
			assert_same_column(a, b, (enum sheet_id)id, i);
	}
}

static inline void assert_same_snapshot(const struct snapshot *a, const struct snapshot *b)
{
	assert_same_rows(a, b);
	for (int id = 0; id < METRIC_STORED; id++)
		assert_same_cells(a, b, (enum metric_id)id);
	assert_same_circumstances(a, b);
	assert_same_sheets(a, b);
}

/* The file of make_snapshot(), for tests that break it. */
static inline uint8_t *make_file(size_t *ret_size)
{
	struct snapshot *snapshot = make_snapshot();
	struct error error = { 0 };
	void *bytes;

	assert_int_equal(snapshot_encode(snapshot, &bytes, ret_size, &error), 0);
	snapshot_free(snapshot);
	return bytes;
}

/* Runs with limits or another user that the test itself must not have; gives its wait status. */
static inline int in_child(int (*run)(const void *argument), const void *argument)
{
	pid_t child;
	int status;

	fflush(NULL);
	child = fork();
	if (child == 0)
		_exit(run(argument));
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

#endif
