/* SPDX-License-Identifier: MIT */
/* A run as a snapshot: what its rows are, and that they add up to the tree. */
#include <stdio.h>

#include "scarce_memory.h"
#include "tree_events.h"

#include "base/cleanup.h"
#include "model/run/run_snapshot.h"
#include "model/run/run_states.h"
#include "model/run/words.h"
#include "model/snapshot/snapshot.h"
#include "model/tree/run.h"

static struct run *new_run(void)
{
	struct run *run = NULL;

	assert_int_equal(run_new(&run), 0);
	run->begin_ns = 50;
	run->end_ns = 5050;
	run->pid = 10;
	return run;
}

static struct snapshot *snapshot_of(const struct run *run)
{
	struct snapshot *snapshot = NULL;

	assert_int_equal(run_to_snapshot(run, &snapshot), 0);
	assert_true(snapshot_is_run(snapshot));
	return snapshot;
}

static uint64_t sum_of(const struct snapshot *snapshot, enum metric_id id)
{
	uint64_t sum = 0, value;

	for (uint32_t row = 0; row < snapshot_rows(snapshot, id); row++)
		sum += snapshot_get(snapshot, id, row, &value) ? value : 0;
	return sum;
}

/* The only row of that program, which must be there. */
static uint32_t row_of(const struct snapshot *snapshot, const char *pcomm)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t row = 0; row < snapshot->process_count; row++)
		if (strcmp(snapshot_text(snapshot, snapshot->processes[row].pcomm), pcomm) == 0) {
			assert_int_equal(found, UINT32_MAX);
			found = row;
		}
	assert_int_not_equal(found, UINT32_MAX);
	return found;
}

static void assert_cell(const struct snapshot *snapshot, enum metric_id id, uint32_t row,
			uint64_t expected)
{
	uint64_t value;

	if (!snapshot_get(snapshot, id, row, &value))
		fail_msg("%s is absent", metrics[id].name);
	assert_int_equal(value, expected);
}

static void end_program(struct tree *tree, int32_t pid, uint64_t start_ns, const char *comm,
			uint64_t cpu_ns, int status)
{
	struct tree_event event = event_of(TREE_EXEC, pid, pid, start_ns, start_ns + 1);

	fork_at(tree, 1, pid, pid, start_ns);
	snprintf(event.exec.comm, sizeof(event.exec.comm), "%s", comm);
	apply(tree, &event);
	account_at(tree, pid, pid, start_ns, cpu_ns, true);
	exit_at(tree, pid, start_ns, start_ns + cpu_ns, status);
	while (tree_take_ended(tree))
		;
}

static void ended_and_living_tasks_are_rows(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	uint32_t row;
	uint64_t value;

	(void)state;
	fork_at(run->tree, 1, 10, 10, 100);
	fork_at(run->tree, 10, 10, 11, 110);
	account_at(run->tree, 10, 10, 100, 700, false);
	account_at(run->tree, 10, 11, 110, 300, false);
	end_program(run->tree, 20, 200, "failing", 50, 3 << 8);
	end_program(run->tree, 21, 200, "killed", 60, 9);
	tree_sum_up(run->tree);
	snapshot = snapshot_of(run);
	assert_int_equal(snapshot->process_count, 3);
	assert_int_equal(snapshot->task_count, 4);
	row = row_of(snapshot, "failing");
	assert_int_equal(snapshot->processes[row].tgid, 20);
	assert_int_equal(snapshot->processes[row].parent, 1);
	assert_int_equal(snapshot->processes[row].start_time_ns, 200);
	assert_cell(snapshot, METRIC_exit_code, row, 3);
	assert_cell(snapshot, METRIC_failures, row, 1);
	assert_cell(snapshot, METRIC_begin_ns, row, 150);
	assert_cell(snapshot, METRIC_end_ns, row, 200);
	assert_false(snapshot_get(snapshot, METRIC_exit_signal, row, &value));
	row = row_of(snapshot, "killed");
	assert_cell(snapshot, METRIC_exit_signal, row, 9);
	assert_cell(snapshot, METRIC_run_time_ns, snapshot->processes[row].first_task, 60);
	assert_false(snapshot_get(snapshot, METRIC_end_ns, 0, &value));
	assert_false(snapshot_get(snapshot, METRIC_failures, 0, &value));
	assert_int_equal(sum_of(snapshot, METRIC_run_time_ns), 1110);
	assert_int_equal(sum_of(snapshot, METRIC_wait_lock_ns), 4);
	assert_int_equal(sum_of(snapshot, METRIC_thread_count), 4);
}

static void living_tasks_have_another_name_in_older_files(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	CLEANUP(run_free_pointer) struct run *run = NULL;
	uint32_t row;

	(void)state;
	assert_int_equal(snapshot_new(&snapshot), 0);
	snapshot_set_fact_text(snapshot, FACT_recording, "run");
	assert_int_equal(sheet_add_row(&snapshot->sheets[SHEET_RUN], 0, &row), 0);
	snapshot_note_number(snapshot, SHEET_RUN, "counts process_count", 3);
	snapshot_note_number(snapshot, SHEET_RUN, "counts threads_alive", 4);
	assert_int_equal(snapshot_finish_sheets(snapshot), 0);
	assert_int_equal(run_from_snapshot(snapshot, &run), 0);
	assert_int_equal(run->tree->live_processes, 3);
	assert_int_equal(run->tree->live_threads, 4);
}

static void a_number_that_came_again_is_another_process(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;

	(void)state;
	fork_at(run->tree, 1, 10, 10, 60);
	end_program(run->tree, 20, 100, "first", 50, 0);
	end_program(run->tree, 20, 1000, "second", 70, 0);
	tree_sum_up(run->tree);
	snapshot = snapshot_of(run);
	assert_int_equal(snapshot->process_count, 3);
	assert_int_equal(row_of(snapshot, "first"), 1);
	assert_int_equal(row_of(snapshot, "second"), 2);
	assert_cell(snapshot, METRIC_run_time_ns, snapshot->processes[1].first_task, 50);
	assert_cell(snapshot, METRIC_run_time_ns, snapshot->processes[2].first_task, 70);
}

/* A stranger's file may tell of one thread as often as it likes. */
static void a_thread_that_is_told_of_twice_is_there_once(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	CLEANUP(run_free_pointer) struct run *restored = NULL;
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	uint32_t row;

	(void)state;
	fork_at(run->tree, 1, 10, 10, 100);
	account_at(run->tree, 10, 10, 100, 700, false);
	end_program(run->tree, 20, 200, "ended", 50, 0);
	tree_sum_up(run->tree);
	snapshot = snapshot_of(run);
	for (uint32_t task = 0; task < snapshot->task_count; task++)
		assert_int_equal(sheet_add_row(&snapshot->sheets[SHEET_RUN_THREADS], task, &row),
				 0);
	assert_int_equal(run_from_snapshot(snapshot, &restored), 0);
	assert_int_equal(restored->tree->root->live_count, 1);
	assert_int_equal(restored->tree->ended_count, 1);
	assert_int_equal(amounts_get(&restored->tree->root->amounts, AMOUNT_run_time_ns), 700);
}

static void no_file_makes_us_keep_more_than_there_can_be(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	CLEANUP(run_free_pointer) struct run *restored = NULL;
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	uint32_t row, id;
	char name[16];

	(void)state;
	fork_at(run->tree, 1, 10, 10, 100);
	account_at(run->tree, 10, 10, 100, 700, false);
	tree_sum_up(run->tree);
	snapshot = snapshot_of(run);
	for (int i = 0; i < 200000; i++) {
		struct task task = { .tid = 11 + i };

		assert_int_equal(snapshot_add_task(snapshot, &task, &row), 0);
		assert_int_equal(sheet_add_row(&snapshot->sheets[SHEET_RUN_THREADS], row, &row), 0);
	}
	for (int i = 0; i < 10000; i++) {
		int length = snprintf(name, sizeof(name), "call%d", i);

		assert_int_equal(snapshot_intern(snapshot, name, (size_t)length, &id), 0);
		assert_int_equal(sheet_add_row(&snapshot->sheets[SHEET_SYSCALLS], id, &row), 0);
	}
	for (uint32_t i = 0; i < 2 * TREE_TOP_WAITS; i++)
		assert_int_equal(sheet_add_row(&snapshot->sheets[SHEET_TOP_WAITS], i, &row), 0);
	assert_int_equal(run_from_snapshot(snapshot, &restored), 0);
	assert_int_equal(restored->tree->root->live_count, 128 * 1024);
	assert_int_equal(restored->tree->syscalls.count, 4096);
	assert_int_equal(restored->tree->top_wait_count, TREE_TOP_WAITS);
}

/* Of those that ended the heaviest are kept, but all that live. */
static void every_process_that_has_a_row_comes_back(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	CLEANUP(run_free_pointer) struct run *restored = NULL;
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;

	(void)state;
	for (int32_t pid = 10; pid < 10 + TREE_KEPT + 100; pid++)
		fork_at(run->tree, 1, pid, pid, (uint64_t)pid * 100);
	tree_sum_up(run->tree);
	snapshot = snapshot_of(run);
	assert_int_equal(run_from_snapshot(snapshot, &restored), 0);
	assert_int_equal(restored->tree->count, TREE_KEPT + 100);
}

#define MANY 10000

/* The heaviest get rows, the others one row a program; nothing is lost or counted twice. */
static void many_short_processes_are_added_up_by_program(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	const struct tree *tree = run->tree;
	uint64_t several;
	int folded = 0;

	(void)state;
	fork_at(run->tree, 1, 10, 10, 60);
	for (int i = 0; i < MANY; i++) {
		char comm[16];

		snprintf(comm, sizeof(comm), "program%d", i % 3);
		end_program(run->tree, 100 + i % 5000, 100 + (uint64_t)i, comm,
			    1 + (uint64_t)(i * 7919 % MANY), i % 2 << 8);
	}
	tree_sum_up(run->tree);
	snapshot = snapshot_of(run);
	assert_true(snapshot->task_count <= (size_t)TREE_KEPT + 5);
	assert_int_equal(sum_of(snapshot, METRIC_process_count), MANY + 1);
	assert_int_equal(sum_of(snapshot, METRIC_thread_count), MANY + 1);
	assert_int_equal(sum_of(snapshot, METRIC_failures), MANY / 2);
	assert_int_equal(sum_of(snapshot, METRIC_run_time_ns),
			 amounts_get(&tree->amounts, AMOUNT_run_time_ns));
	assert_int_equal(sum_of(snapshot, METRIC_wall_time_ns),
			 amounts_get(&tree->amounts, AMOUNT_wall_time_ns));
	assert_int_equal(sum_of(snapshot, METRIC_wait_lock_count), MANY);
	for (uint32_t row = 0; row < snapshot->process_count; row++)
		if (snapshot->processes[row].tgid == 0) {
			assert_int_equal(snapshot->tasks[snapshot->processes[row].first_task].tid,
					 0);
			assert_true(snapshot_get(snapshot, METRIC_process_count, row, &several));
			assert_true(several > 1000);
			folded++;
		}
	assert_int_equal(folded, 3);
}

/* The threads that are kept are not those of the processes that are: each is counted once, also among
 * programs beyond those that have a row. */
static void threads_of_processes_that_were_not_kept_are_counted_once(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;

	(void)state;
	fork_at(run->tree, 1, 10, 10, 60);
	for (int i = 0; i < MANY; i++) {
		int32_t pid = 1000 + 3 * i;
		char comm[16];

		/* A heavy process of two light threads, or a light one of a single thread between. */
		snprintf(comm, sizeof(comm), "p%d", i % (TREE_PROGRAMS + 501));
		fork_at(run->tree, 1, pid, pid, 100);
		if (i % 2) {
			fork_at(run->tree, pid, pid, pid + 1, 100);
			account_at(run->tree, pid, pid + 1, 100, 60, true);
		}
		end_program(run->tree, pid, 100, comm, i % 2 ? 60 : 100, 0);
	}
	tree_sum_up(run->tree);
	assert_int_equal(run->tree->program_count, TREE_PROGRAMS);
	snapshot = snapshot_of(run);
	assert_int_equal(sum_of(snapshot, METRIC_process_count), MANY + 1);
	assert_int_equal(sum_of(snapshot, METRIC_thread_count), MANY + MANY / 2 + 1);
	assert_int_equal(sum_of(snapshot, METRIC_run_time_ns), MANY / 2 * 220);
	for (uint32_t row = 0; row < snapshot->process_count; row++)
		assert_string_not_equal(snapshot_text(snapshot, snapshot->processes[row].pcomm),
					TREE_UNSEEN);
}

/* One process, and more threads than are kept: the rest is a row of that process. */
static void threads_that_are_not_kept_are_a_row_of_their_process(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	uint64_t several;

	(void)state;
	fork_at(run->tree, 1, 10, 10, 60);
	for (int32_t i = 0; i < MANY; i++) {
		fork_at(run->tree, 10, 10, 100 + i, 70);
		account_at(run->tree, 10, 100 + i, 70, 1 + (uint64_t)i, true);
	}
	tree_sum_up(run->tree);
	snapshot = snapshot_of(run);
	assert_int_equal(snapshot->process_count, 1);
	assert_int_equal(snapshot->tasks[0].tid, 0);
	assert_true(snapshot_get(snapshot, METRIC_thread_count, 0, &several));
	assert_int_equal(several, run->tree->folded_threads);
	assert_int_equal(sum_of(snapshot, METRIC_thread_count), MANY + 1);
	assert_int_equal(sum_of(snapshot, METRIC_run_time_ns),
			 amounts_get(&run->tree->amounts, AMOUNT_run_time_ns));
}

/* CPU time of children that nobody saw belongs to nobody who has a row. */
static void what_belongs_to_nobody_has_a_row(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;

	(void)state;
	fork_at(run->tree, 1, 10, 10, 60);
	account_at(run->tree, 10, 10, 60, 100, false);
	amounts_set(&run->tree->amounts, AMOUNT_run_time_ns, 111);
	tree_sum_up(run->tree);
	snapshot = snapshot_of(run);
	assert_cell(snapshot, METRIC_run_time_ns,
		    snapshot->processes[row_of(snapshot, TREE_UNSEEN)].first_task, 11);
	assert_int_equal(sum_of(snapshot, METRIC_run_time_ns), 111);
}

static uint64_t cell_of(const struct snapshot *snapshot, enum sheet_id id, const char *name,
			uint32_t row)
{
	uint64_t value = 0;

	column_get(sheet_find(&snapshot->sheets[id], name), row, &value);
	return value;
}

static void events_that_people_ask_about_are_kept(void **state)
{
	static const struct {
		enum tree_event_type type;
		int32_t tid;
		bool is_kept;
	} cases[] = {
		{ TREE_FORK, 11, true },     { TREE_FORK, 12, false }, { TREE_EXEC, 11, true },
		{ TREE_SIGNAL, 11, true },   { TREE_OOM, 11, true },   { TREE_THREAD, 11, false },
		{ TREE_PROCESS, 11, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(run_free_pointer) struct run *run = new_run();
		struct tree_event event = event_of(cases[i].type, 11, cases[i].tid, 60, 70);

		run_take_event(run, &event);
		assert_int_equal(run->past.events.count, cases[i].is_kept);
		assert_int_equal(run->past.events_omitted, 0);
		if (!cases[i].is_kept)
			continue;
		assert_string_equal(run->past.events.data[0].event,
				    tree_event_names[cases[i].type]);
		assert_int_equal(run->past.events.data[0].task.pid, 11);
		assert_int_equal(run->past.events.data[0].time_ns, 70);
	}
}

static void events_and_samples_are_kept_within_bounds(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	struct tree_event event = event_of(TREE_SIGNAL, 10, 10, 60, 70);
	struct run_sample sample = { .threads = 1 };

	(void)state;
	fork_at(run->tree, 1, 10, 10, 60);
	event.signal = (struct tree_signal){ 15, 33, "sender" };
	run_take_event(run, &event);
	event = account_of(10, 10, 60, 5, 1);
	run_take_event(run, &event); /* an account is not an event of the past */
	for (int i = 0; i < PAST_EVENTS + 9; i++) {
		event = event_of(TREE_FORK, 100 + i, 100 + i, 60, 80 + (uint64_t)i);
		run_take_event(run, &event);
	}
	for (uint64_t i = 0; i < 3 * PAST_SAMPLES; i++) {
		sample.time_ns = 100 + i;
		amounts_set(&sample.amounts, AMOUNT_run_time_ns, i);
		run_add_sample(run, &sample);
	}
	tree_sum_up(run->tree);
	snapshot = snapshot_of(run);
	assert_int_equal(snapshot->sheets[SHEET_EVENTS].row_count, PAST_EVENTS);
	assert_int_equal(cell_of(snapshot, SHEET_RUN, "events_omitted", 0), 10);
	assert_string_equal(
		snapshot_text(snapshot, (uint32_t)cell_of(snapshot, SHEET_EVENTS, "event", 0)),
		"signal");
	assert_int_equal(cell_of(snapshot, SHEET_EVENTS, "signal", 0), 15);
	assert_int_equal(cell_of(snapshot, SHEET_EVENTS, "other_pid", 0), 33);
	assert_int_equal(snapshot->sheets[SHEET_SAMPLES].row_count, 3 * PAST_SAMPLES / 4);
	for (uint32_t row = 0; row < 3 * PAST_SAMPLES / 4; row++) {
		assert_int_equal(cell_of(snapshot, SHEET_SAMPLES, "time_ns", row), 100 + 4 * row);
		assert_int_equal(cell_of(snapshot, SHEET_SAMPLES, "run_time_ns", row), 4 * row);
	}
}

static void words_come_back_as_they_were(void **state)
{
	static const char *const words[] = { "a", "", "two words", "back\\slash", "\\ ", "end " };
	CLEANUP(text_free) struct text joined = { 0 };
	CLEANUP(text_free) struct text word = { 0 };
	const char *cursor;

	(void)state;
	for (size_t i = 0; i < 6; i++)
		words_append(&joined, words[i], strlen(words[i]), i == 0);
	cursor = joined.data;
	for (size_t i = 0; i < 6; i++) {
		assert_true(words_next(&cursor, &word));
		assert_string_equal(text_string(&word), words[i]);
	}
	assert_false(words_next(&cursor, &word));
}

static bool is_whole(const struct run *run)
{
	return run->tree->count == 2;
}

static void no_memory_at_any_point_does_no_harm(void **state)
{
	CLEANUP(run_free_pointer) struct run *run = new_run();
	struct snapshot *snapshot = NULL;
	struct run *again = NULL;
	int status = -1;

	(void)state;
	fork_at(run->tree, 1, 10, 10, 100);
	end_program(run->tree, 20, 200, "failing", 50, 3 << 8);
	tree_sum_up(run->tree);
	for (unsigned long refused = 1; status < 0; refused++) {
		memory.asked = 0;
		memory.refused = refused;
		status = run_to_snapshot(run, &snapshot);
		assert_true(status < 0 || snapshot->task_count == 2);
		status = memory.asked >= refused && status == 0 ? (snapshot_free(snapshot), -1) :
								  status;
		memory.refused = 0;
	}
	status = -1;
	for (unsigned long refused = 1; status < 0; refused++) {
		memory.asked = 0;
		memory.refused = refused;
		status = run_from_snapshot(snapshot, &again);
		assert_true(status < 0 || is_whole(again));
		status = memory.asked >= refused && status == 0 ? (run_free(again), -1) : status;
		memory.refused = 0;
	}
	assert_true(is_whole(again));
	run_free(again);
	snapshot_free(snapshot);
}

/* A snapshot with the host's waits and a cgroup's use; a cgroup without throttling at first. */
static struct snapshot *state_of(uint64_t waited, uint64_t used, const char *throttled)
{
	struct snapshot *snapshot = NULL;
	uint32_t path, row;

	assert_int_equal(snapshot_new(&snapshot), 0);
	assert_int_equal(
		snapshot_note_number(snapshot, SHEET_HOST, "pressure cpu some total", waited), 0);
	assert_int_equal(snapshot_intern(snapshot, "/build", 6, &path), 0);
	assert_int_equal(sheet_add_row(&snapshot->sheets[SHEET_CGROUPS], path, &row), 0);
	assert_int_equal(sheet_set(&snapshot->sheets[SHEET_CGROUPS], row, "cpu.stat usage_usec",
				   CELL_NUMBER, used),
			 0);
	assert_int_equal(sheet_set(&snapshot->sheets[SHEET_CGROUPS], row, "memory.current",
				   CELL_NUMBER, used),
			 0);
	if (throttled)
		assert_int_equal(
			sheet_set(&snapshot->sheets[SHEET_CGROUPS], row, throttled, CELL_NUMBER, 7),
			0);
	return snapshot;
}

static void events_and_samples_come_back(void **state)
{
	struct run *run = new_run(), *back = NULL;
	struct run_sample sample = {
		.time_ns = 100, .processes = 2, .threads = 3, .has_rss = true, .rss_bytes = 4096
	};
	struct tree_event event = { .type = TREE_SIGNAL, .task = { 10, 11, 7 }, .time_ns = 120 };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;

	(void)state;
	event.signal.number = 9;
	event.signal.sender_pid = 4;
	assert_int_equal(run_take_event(run, &event), 0);
	amounts_set(&sample.amounts, AMOUNT_read_bytes, 512);
	run_past_sample(&run->past, &sample);
	sample = (struct run_sample){ .time_ns = 200 };
	run_past_sample(&run->past, &sample);
	snapshot = snapshot_of(run);
	assert_int_equal(run_from_snapshot(snapshot, &back), 0);
	assert_int_equal(back->past.events.count, 1);
	assert_string_equal(back->past.events.data[0].event, "signal");
	assert_int_equal(back->past.events.data[0].time_ns, 120);
	assert_int_equal(back->past.events.data[0].signal, 9);
	assert_int_equal(back->past.events.data[0].other_pid, 4);
	assert_int_equal(back->past.samples.count, 2);
	assert_memory_equal(&back->past.samples.data[0], &run->past.samples.data[0],
			    sizeof(sample));
	assert_false(back->past.samples.data[1].has_rss);
	assert_false(amounts_has(&back->past.samples.data[1].amounts, AMOUNT_read_bytes));
	run_free(back);
	run_free(run);
}

static void sheets_of_the_end_count_from_the_beginning(void **state)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *begin = state_of(100, 40, NULL);
	CLEANUP(snapshot_free_pointer)
	struct snapshot *end = state_of(130, 90, "cpu.stat throttled_usec");
	CLEANUP(run_free_pointer) struct run *run = new_run();
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	const struct column *throttled;
	uint64_t value;

	(void)state;
	assert_int_equal(run_keep_states(run, begin, begin, end), 0);
	snapshot = snapshot_of(run);
	assert_int_equal(cell_of(snapshot, SHEET_HOST, "pressure cpu some total", 0), 30);
	assert_int_equal(cell_of(snapshot, SHEET_HOST_BEGIN, "pressure cpu some total", 0), 100);
	assert_int_equal(cell_of(snapshot, SHEET_CGROUPS, "cpu.stat usage_usec", 0), 50);
	assert_int_equal(cell_of(snapshot, SHEET_CGROUPS_BEGIN, "cpu.stat usage_usec", 0), 40);
	/* A level is as it was at the end. */
	assert_int_equal(cell_of(snapshot, SHEET_CGROUPS, "memory.current", 0), 90);
	assert_string_equal(snapshot_text(snapshot, snapshot->sheets[SHEET_CGROUPS].keys[0]),
			    "/build");
	throttled = sheet_find(&snapshot->sheets[SHEET_CGROUPS], "cpu.stat throttled_usec");
	assert_int_equal(column_get(throttled, 0, &value), CELL_ABSENT);
	assert_string_equal(throttled->absent, "it was not there when the run began");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ended_and_living_tasks_are_rows),
		cmocka_unit_test(living_tasks_have_another_name_in_older_files),
		cmocka_unit_test(a_number_that_came_again_is_another_process),
		cmocka_unit_test(a_thread_that_is_told_of_twice_is_there_once),
		cmocka_unit_test(no_file_makes_us_keep_more_than_there_can_be),
		cmocka_unit_test(many_short_processes_are_added_up_by_program),
		cmocka_unit_test(threads_of_processes_that_were_not_kept_are_counted_once),
		cmocka_unit_test(threads_that_are_not_kept_are_a_row_of_their_process),
		cmocka_unit_test(what_belongs_to_nobody_has_a_row),
		cmocka_unit_test(events_that_people_ask_about_are_kept),
		cmocka_unit_test(events_and_samples_are_kept_within_bounds),
		cmocka_unit_test(events_and_samples_come_back),
		cmocka_unit_test(sheets_of_the_end_count_from_the_beginning),
		cmocka_unit_test(every_process_that_has_a_row_comes_back),
		cmocka_unit_test(words_come_back_as_they_were),
		cmocka_unit_test(no_memory_at_any_point_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
