/* SPDX-License-Identifier: MIT */
/* Rows, cells and reasons of a snapshot. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "hand_snapshot.h"
#include "scarce_memory.h"

static int make_snapshot(void **state)
{
	*state = hand_new();
	return 0;
}

static int free_snapshot(void **state)
{
	snapshot_free(*state);
	return 0;
}

static uint64_t get(const struct snapshot *snapshot, enum metric_id id, uint32_t row)
{
	uint64_t value = 0;

	assert_true(snapshot_get(snapshot, id, row, &value));
	return value;
}

static void a_cell_that_was_not_set_is_absent_not_zero(void **state)
{
	struct snapshot *snapshot = *state;
	uint64_t value = 7;

	hand_task(snapshot, 1, 1, "a", "/");
	hand_task(snapshot, 1, 2, "b", "/");
	assert_false(snapshot_get(snapshot, METRIC_majflt, 0, &value));
	hand_set(snapshot, METRIC_majflt, 1, 0);
	assert_false(snapshot_get(snapshot, METRIC_majflt, 0, &value));
	assert_int_equal(value, 7);
	assert_true(snapshot_get(snapshot, METRIC_majflt, 1, &value));
	assert_int_equal(value, 0);
	assert_int_equal(snapshot_measured(snapshot, METRIC_majflt), 1);
	assert_int_equal(snapshot_measured(snapshot, METRIC_minflt), 0);
}

static void a_process_has_one_row_however_often_it_is_met(void **state)
{
	struct snapshot *snapshot = *state;
	uint32_t first, again, other;

	assert_int_equal(snapshot_find_process(snapshot, 5), -1);
	assert_int_equal(snapshot_process(snapshot, 5, &first), 0);
	assert_int_equal(snapshot_process(snapshot, 9, &other), 0);
	assert_int_equal(snapshot_process(snapshot, 5, &again), 0);
	assert_int_equal(first, again);
	assert_int_not_equal(first, other);
	assert_int_equal(snapshot->process_count, 2);
	assert_int_equal(snapshot_find_process(snapshot, 9), other);
	assert_int_equal(snapshot_find_process(snapshot, 7), -1);
}

static void columns_grow_with_the_rows(void **state)
{
	struct snapshot *snapshot = *state;

	/* Before any row, too: the cells of later rows start absent. */
	assert_int_equal(snapshot_need_column(snapshot, METRIC_majflt), 0);
	assert_int_equal(snapshot_need_column(snapshot, METRIC_rss_bytes), 0);
	for (int32_t tid = 1; tid <= 5000; tid++) {
		uint32_t row = hand_task(snapshot, tid / 10 * 10 + 1, tid, "t", "/");

		if (tid % 3 == 0)
			snapshot_set(snapshot, METRIC_majflt, row, (uint64_t)tid);
	}
	assert_int_equal(snapshot_rows(snapshot, METRIC_majflt), 5000);
	assert_int_equal(snapshot_rows(snapshot, METRIC_rss_bytes), 501);
	assert_int_equal(snapshot_measured(snapshot, METRIC_majflt), 1666);
	assert_int_equal(snapshot_measured(snapshot, METRIC_rss_bytes), 0);
	for (uint32_t row = 0; row < 5000; row++)
		if (snapshot->tasks[row].tid % 3 == 0)
			assert_int_equal(get(snapshot, METRIC_majflt, row), row + 1);
}

/* Rows in the wrong order, each with a value that tells which it is. */
static void add_shuffled(struct snapshot *snapshot)
{
	static const int32_t tasks[][2] = { { 30, 31 }, { 10, 12 }, { 30, 30 }, { 10, 11 },
					    { 20, 25 }, { 10, 10 }, { 20, 24 } };

	for (size_t i = 0; i < 7; i++) {
		uint32_t row = hand_task(snapshot, tasks[i][0], tasks[i][1], "t", "/");

		hand_set(snapshot, METRIC_run_time_ns, row, (uint64_t)tasks[i][1]);
		if (tasks[i][1] % 2)
			hand_set(snapshot, METRIC_majflt, row, (uint64_t)tasks[i][1]);
	}
	for (uint32_t row = 0; row < 3; row++)
		hand_set(snapshot, METRIC_rss_bytes, row, (uint64_t)snapshot->processes[row].tgid);
}

static void assert_cells_are_with_their_rows(const struct snapshot *snapshot)
{
	for (uint32_t row = 0; row < snapshot->task_count; row++) {
		int32_t tid = snapshot->tasks[row].tid;
		uint64_t value;

		assert_int_equal(get(snapshot, METRIC_run_time_ns, row), tid);
		assert_int_equal(snapshot_get(snapshot, METRIC_majflt, row, &value), tid % 2);
	}
	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		int32_t tgid = snapshot->processes[row].tgid;

		assert_int_equal(get(snapshot, METRIC_rss_bytes, row), tgid);
		assert_int_equal(snapshot_find_process(snapshot, tgid), row);
	}
}

static void finishing_puts_rows_in_order_and_cells_go_along(void **state)
{
	static const int32_t order[] = { 10, 11, 12, 24, 25, 30, 31 };
	struct snapshot *snapshot = *state;

	add_shuffled(snapshot);
	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_int_equal(snapshot->task_count, 7);
	for (size_t row = 0; row < 7; row++) {
		const struct task *task = &snapshot->tasks[row];

		assert_int_equal(task->tid, order[row]);
		assert_int_equal(snapshot->processes[task->process].tgid, order[row] / 10 * 10);
	}
	assert_cells_are_with_their_rows(snapshot);
}

static void a_process_knows_its_leader_or_else_its_lowest_thread(void **state)
{
	struct snapshot *snapshot = *state;

	add_shuffled(snapshot);
	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_int_equal(snapshot->processes[0].first_task, 0);
	assert_int_equal(snapshot->processes[1].first_task, 3); /* 24: its leader is gone */
	assert_int_equal(snapshot->processes[2].first_task, 5);
	hand_task(snapshot, 24, 2, "after tid wrap", "/");
	hand_task(snapshot, 24, 24, "leader", "/");
	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_int_equal(snapshot->tasks[snapshot->processes[2].first_task].tid, 24);
}

static void finishing_nothing_is_fine(void **state)
{
	struct snapshot *snapshot = *state;

	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_int_equal(snapshot_keep(snapshot, (const uint8_t *)""), 0);
	assert_int_equal(snapshot->task_count, 0);
}

static void tasks_that_are_dropped_take_their_cells_and_empty_processes_along(void **state)
{
	struct snapshot *snapshot = *state;
	uint8_t keep[7];

	add_shuffled(snapshot);
	for (size_t row = 0; row < 7; row++)
		keep[row] = snapshot->tasks[row].tid != 24 && snapshot->tasks[row].tid != 25 &&
			    snapshot->tasks[row].tid != 10;
	assert_int_equal(snapshot_keep(snapshot, keep), 0);
	assert_int_equal(snapshot->task_count, 4);
	assert_int_equal(snapshot->process_count, 2);
	assert_int_equal(snapshot_find_process(snapshot, 20), -1);
	assert_cells_are_with_their_rows(snapshot);
	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_cells_are_with_their_rows(snapshot);
	assert_int_equal(snapshot->tasks[0].tid, 11);
}

static int finish(struct snapshot *snapshot)
{
	return snapshot_finish(snapshot);
}

static int keep_all(struct snapshot *snapshot)
{
	static const uint8_t keep[] = { 1, 1, 1, 1, 1, 1, 1 };

	return snapshot_keep(snapshot, keep);
}

/* Each allocation is refused in turn, and all after it. */
static void without_memory_rows_are_not_said_to_be_moved(void **state)
{
	static int (*const moves[])(struct snapshot *) = { finish, keep_all };

	(void)state;
	for (size_t i = 0; i < sizeof(moves) / sizeof(*moves); i++) {
		int status = -ENOMEM;

		for (unsigned long first = 1; status < 0; first++) {
			struct snapshot *snapshot = hand_new();

			add_shuffled(snapshot);
			refuse_from(first);
			status = moves[i](snapshot);
			assert_int_equal(status, memory.asked < first ? 0 : -ENOMEM);
			allow_all();
			snapshot_free(snapshot);
		}
	}
}

static void a_row_after_a_dropped_one_starts_without_cells(void **state)
{
	struct snapshot *snapshot = *state;
	uint64_t value;
	uint32_t row;

	hand_set(snapshot, METRIC_majflt, hand_task(snapshot, 1, 1, "a", "/"), 1);
	hand_set(snapshot, METRIC_majflt, hand_task(snapshot, 1, 2, "b", "/"), 2);
	assert_int_equal(snapshot_keep(snapshot, (const uint8_t[]){ 1, 0 }), 0);
	row = hand_task(snapshot, 1, 3, "c", "/");
	assert_int_equal(row, 1);
	assert_false(snapshot_get(snapshot, METRIC_majflt, row, &value));
}

static void a_process_after_a_dropped_one_starts_empty(void **state)
{
	struct snapshot *snapshot = *state;
	uint32_t row;

	hand_task(snapshot, 1, 1, "a", "/");
	hand_task(snapshot, 2, 2, "b", "/");
	snapshot->processes[1].user = hand_text(snapshot, "root");
	snapshot->processes[1].cmdline = hand_text(snapshot, "/bin/b");
	assert_int_equal(snapshot_keep(snapshot, (const uint8_t[]){ 1, 0 }), 0);
	assert_int_equal(snapshot_process(snapshot, 3, &row), 0);
	assert_int_equal(row, 1);
	assert_int_equal(snapshot->processes[row].user, 0);
	assert_int_equal(snapshot->processes[row].cmdline, 0);
	assert_int_equal(snapshot->processes[row].start_time_ns, 0);
}

static void readings_stay_with_their_process(void **state)
{
	struct snapshot *snapshot = *state;
	struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];
	const struct column *column;
	uint64_t value = 0;
	uint32_t row;

	hand_task(snapshot, 1, 1, "a", "/");
	hand_task(snapshot, 2, 2, "b", "/");
	hand_task(snapshot, 3, 3, "c", "/");
	for (uint32_t process = 0; process < 3; process++) {
		assert_int_equal(snapshot_process_row(snapshot, process, &row), 0);
		assert_int_equal(sheet_set(sheet, row, "smaps Rss", CELL_NUMBER, process + 10), 0);
	}
	assert_int_equal(snapshot_keep(snapshot, (const uint8_t[]){ 0, 0, 1 }), 0);
	assert_int_equal(snapshot->processes[0].first_task, 0);
	assert_int_equal(sheet->row_count, 1);
	assert_int_equal(sheet->keys[0], 0);
	column = sheet_find(sheet, "smaps Rss");
	assert_int_equal(column_get(column, 0, &value), CELL_NUMBER);
	assert_int_equal(value, 12);
	assert_int_equal(snapshot_process_row(snapshot, 0, &row), 0);
	assert_int_equal(row, 0);
}

static void threads_fold_into_one_row_beside_the_first(void **state)
{
	struct snapshot *snapshot = *state;
	uint64_t value;

	for (int32_t tid = 10; tid < 14; tid++) {
		uint32_t row = hand_task(snapshot, 10, tid, "a", "/");

		assert_int_equal(snapshot_need_column(snapshot, METRIC_majflt), 0);
		assert_int_equal(snapshot_need_column(snapshot, METRIC_nice), 0);
		assert_int_equal(snapshot_need_column(snapshot, METRIC_thread_count), 0);
		snapshot_set(snapshot, METRIC_majflt, row, (uint64_t)tid);
		snapshot_set(snapshot, METRIC_nice, row, tid == 13);
		snapshot_set(snapshot, METRIC_thread_count, row, 1);
	}
	hand_task(snapshot, 20, 20, "b", "/");
	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_int_equal(snapshot_fold_threads(snapshot), 0);
	assert_true(snapshot_is_finished(snapshot));
	assert_int_equal(snapshot->task_count, 3);
	assert_int_equal(snapshot->tasks[0].tid, 0);
	assert_int_equal(get(snapshot, METRIC_majflt, 0), 11 + 12 + 13);
	assert_int_equal(get(snapshot, METRIC_thread_count, 0), 3);
	assert_false(snapshot_get(snapshot, METRIC_nice, 0, &value));
	assert_int_equal(snapshot->processes[0].first_task, 1);
	assert_int_equal(get(snapshot, METRIC_majflt, 1), 10);
	assert_false(snapshot_get(snapshot, METRIC_majflt, 2, &value));
}

static void the_first_reason_for_a_metric_is_kept(void **state)
{
	struct snapshot *snapshot = *state;
	char reason[] = "the cause";

	assert_null(snapshot->columns[METRIC_rchar].absent);
	snapshot_set_absent(snapshot, METRIC_rchar, reason);
	reason[0] = 'x';
	snapshot_set_absent(snapshot, METRIC_rchar, "a consequence");
	assert_string_equal(snapshot->columns[METRIC_rchar].absent, "the cause");
}

static void a_fact_is_a_text_or_a_number_or_absent(void **state)
{
	struct snapshot *snapshot = *state;

	assert_false(snapshot->facts[FACT_page_size].present);
	snapshot_set_fact_number(snapshot, FACT_page_size, 0);
	snapshot_set_fact_text(snapshot, FACT_arch, "");
	assert_true(snapshot->facts[FACT_page_size].present);
	assert_int_equal(snapshot->facts[FACT_page_size].number, 0);
	assert_string_equal(snapshot->facts[FACT_arch].text, "");
	for (int id = 0; id < FACT_COUNT; id++)
		assert_true(strlen(facts[id].name) > 0 && strlen(facts[id].name) < 64);
}

static void a_source_has_one_report_and_the_table_has_an_end(void **state)
{
	struct snapshot *snapshot = *state;
	char name[16];
	struct source_report *first = snapshot_source(snapshot, "task stat");

	assert_int_equal(first->state, SOURCE_OK);
	first->read = 5;
	assert_ptr_equal(snapshot_source(snapshot, "task stat"), first);
	assert_int_equal(snapshot->source_count, 1);
	for (int i = 1; i < SNAPSHOT_SOURCES; i++) {
		snprintf(name, sizeof(name), "source %d", i);
		assert_non_null(snapshot_source(snapshot, name));
	}
	assert_null(snapshot_source(snapshot, "one too many"));
	assert_int_equal(snapshot->source_count, SNAPSHOT_SOURCES);
	for (int state_id = 0; state_id < SOURCE_STATE_COUNT; state_id++)
		assert_true(strlen(source_state_name((enum source_state)state_id)) > 0);
}

static void a_process_has_one_row_of_readings(void **state)
{
	struct snapshot *snapshot = *state;
	struct sheet *sheet = &snapshot->sheets[SHEET_PROCESSES];
	uint32_t process, row;

	for (int32_t tgid = 1; tgid <= 40; tgid++)
		assert_int_equal(snapshot_process(snapshot, tgid, &process), 0);
	assert_int_equal(sheet_add_row(sheet, 7, &row), 0); /* by someone else */
	assert_int_equal(snapshot_process_row(snapshot, 30, &row), 0);
	assert_int_equal(row, 1);
	assert_int_equal(snapshot_process_row(snapshot, 7, &row), 0);
	assert_int_equal(row, 0);
	assert_int_equal(snapshot_process_row(snapshot, 30, &row), 0);
	assert_int_equal(row, 1);
	assert_int_equal(snapshot_process(snapshot, 41, &process), 0);
	assert_int_equal(snapshot_process_row(snapshot, process, &row), 0);
	assert_int_equal(row, 2);
	assert_int_equal(sheet->row_count, 3);
	assert_int_equal(sheet->keys[2], process);
}

static void a_note_is_in_the_only_row(void **state)
{
	struct snapshot *snapshot = *state;
	struct sheet *sheet = &snapshot->sheets[SHEET_HOST];

	assert_int_equal(snapshot_note_number(snapshot, SHEET_HOST, "one", 1), 0);
	assert_int_equal(snapshot_note_text(snapshot, SHEET_HOST, "two", "text"), 0);
	assert_int_equal(sheet->row_count, 1);
	assert_int_equal(sheet->keys[0], 0);
	assert_int_equal(sheet->columns.count, 2);
}

static void a_copy_has_the_tasks_and_is_a_snapshot_of_its_own(void **state)
{
	struct snapshot *snapshot = *state, *copy;
	struct task task = { .tid = 7 };
	uint64_t value;
	uint32_t row;

	assert_int_equal(snapshot_process(snapshot, 7, &task.process), 0);
	assert_int_equal(snapshot_intern(snapshot, "name", 4, &task.comm), 0);
	assert_int_equal(snapshot_add_task(snapshot, &task, &row), 0);
	assert_int_equal(snapshot_need_column(snapshot, METRIC_majflt), 0);
	snapshot_set(snapshot, METRIC_majflt, row, 5);
	assert_int_equal(snapshot_set_absent(snapshot, METRIC_minflt, "why"), 0);
	assert_int_equal(snapshot_set_fact_text(snapshot, FACT_boot_id, "boot"), 0);
	snapshot_source(snapshot, "stat")->reason = "denied";
	assert_int_equal(snapshot_finish(snapshot), 0);
	assert_int_equal(snapshot_copy_tasks(snapshot, &copy), 0);
	snapshot_set(snapshot, METRIC_majflt, row, 6);
	snapshot_free(snapshot);
	*state = NULL;

	assert_int_equal(copy->task_count, 1);
	assert_true(snapshot_is_finished(copy));
	assert_int_equal(snapshot_find_process(copy, 7), 0);
	assert_string_equal(snapshot_text(copy, copy->tasks[0].comm), "name");
	assert_true(snapshot_get(copy, METRIC_majflt, 0, &value));
	assert_int_equal(value, 5);
	assert_false(snapshot_get(copy, METRIC_minflt, 0, &value));
	assert_string_equal(copy->columns[METRIC_minflt].absent, "why");
	assert_string_equal(copy->facts[FACT_boot_id].text, "boot");
	assert_string_equal(copy->sources[0].name, "stat");
	assert_string_equal(copy->sources[0].reason, "denied");
	snapshot_free(copy);
}

#define WITH_SNAPSHOT(test) cmocka_unit_test_setup_teardown(test, make_snapshot, free_snapshot)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SNAPSHOT(a_cell_that_was_not_set_is_absent_not_zero),
		WITH_SNAPSHOT(a_process_has_one_row_however_often_it_is_met),
		WITH_SNAPSHOT(columns_grow_with_the_rows),
		WITH_SNAPSHOT(finishing_puts_rows_in_order_and_cells_go_along),
		WITH_SNAPSHOT(a_process_knows_its_leader_or_else_its_lowest_thread),
		WITH_SNAPSHOT(finishing_nothing_is_fine),
		WITH_SNAPSHOT(tasks_that_are_dropped_take_their_cells_and_empty_processes_along),
		cmocka_unit_test(without_memory_rows_are_not_said_to_be_moved),
		WITH_SNAPSHOT(a_row_after_a_dropped_one_starts_without_cells),
		WITH_SNAPSHOT(a_process_after_a_dropped_one_starts_empty),
		WITH_SNAPSHOT(readings_stay_with_their_process),
		WITH_SNAPSHOT(threads_fold_into_one_row_beside_the_first),
		WITH_SNAPSHOT(the_first_reason_for_a_metric_is_kept),
		WITH_SNAPSHOT(a_fact_is_a_text_or_a_number_or_absent),
		WITH_SNAPSHOT(a_source_has_one_report_and_the_table_has_an_end),
		WITH_SNAPSHOT(a_process_has_one_row_of_readings),
		WITH_SNAPSHOT(a_note_is_in_the_only_row),
		WITH_SNAPSHOT(a_copy_has_the_tasks_and_is_a_snapshot_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
