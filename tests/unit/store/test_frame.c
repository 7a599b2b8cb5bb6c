/* SPDX-License-Identifier: MIT */
/* Frames: whatever happens from one tick to the next, each snapshot is read as it was. */
#include "sample_snapshot.h"
#include "store/history/frame.h"

/* A little generator of its own, so that a failure can be seen again. */
static uint64_t seed;

static uint64_t any(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

static uint64_t any_number(void)
{
	return any(4) ? any(1000) : seed * 0x9e3779b97f4a7c15 >> any(64);
}

#define PROCESSES 40
#define THREADS 6

/* Processes and threads that live now, and the time that they began. */
struct world {
	uint64_t processes[PROCESSES], threads[PROCESSES][THREADS];
	uint64_t counters[PROCESSES][THREADS];
	uint64_t tick;
};

static void live(struct world *world)
{
	world->tick++;
	for (int i = 0; i < PROCESSES; i++) {
		if (any(12) == 0)
			world->processes[i] = any(3) ? world->tick : 0;
		for (int j = 0; j < THREADS; j++) {
			if (any(15) == 0 || world->threads[i][j] < world->processes[i])
				world->threads[i][j] = any(4) ? world->tick : 0;
			if (any(5) == 0)
				world->counters[i][j] += any_number();
		}
	}
}

static const enum metric_id thread_metrics[] = { METRIC_run_time_ns, METRIC_minflt, METRIC_nice,
						 METRIC_state, METRIC_cpu_affinity };
static const enum metric_id process_metrics[] = { METRIC_rss_bytes, METRIC_uid, METRIC_open_fds };

static uint32_t any_text(struct snapshot *snapshot)
{
	char text[32];

	snprintf(text, sizeof(text), "text %d", (int)any(any(2) ? 10 : 10000));
	return any(5) ? intern(snapshot, text) : 0;
}

static void set_some(struct snapshot *snapshot, const struct world *world)
{
	for (size_t i = 0; i < sizeof(thread_metrics) / sizeof(*thread_metrics); i++) {
		enum metric_id id = thread_metrics[i];

		for (uint32_t row = 0; row < snapshot->task_count && any(30); row++) {
			const struct task *task = &snapshot->tasks[row];
			uint64_t counter =
				world->counters[task->tid / 10 % PROCESSES][task->tid % 10];

			if (any(20))
				set(snapshot, id, row,
				    metrics[id].kind == KIND_CPUSET ?
					    intern(snapshot, any(9) ? "0-3" : "1") :
				    any(7) ? counter :
					     any_number());
		}
	}
	for (size_t i = 0; i < sizeof(process_metrics) / sizeof(*process_metrics); i++)
		for (uint32_t row = 0; row < snapshot->process_count && any(30); row++)
			if (any(10))
				set(snapshot, process_metrics[i], row,
				    any(3) ? 4096 : any_number());
}

static void add_some_sheets(struct snapshot *snapshot)
{
	static const char *const paths[] = { "/", "/a", "/b", "/a/c", "/system.slice", "/x" };
	struct sheet *cgroups = &snapshot->sheets[SHEET_CGROUPS];
	struct sheet *processes = &snapshot->sheets[SHEET_PROCESSES];
	char name[32];
	uint32_t row;

	for (size_t i = 0; i < 6; i++) {
		size_t path = any(10) ? i : any(6);

		if (any(8) == 0)
			continue;
		assert_int_equal(sheet_add_row(cgroups, intern(snapshot, paths[path]), &row), 0);
		for (int column = 0; column < 20; column++) {
			snprintf(name, sizeof(name), "memory.stat key%d", column);
			if (any(25))
				set_reading(cgroups, row, name,
					    any(20) ? CELL_NUMBER : CELL_UNLIMITED,
					    any_number() % 50);
		}
		set_reading(cgroups, row, "cpuset.cpus", CELL_TEXT, any_text(snapshot));
	}
	for (uint32_t process = 0; process < snapshot->process_count; process++) {
		if (any(3))
			continue;
		assert_int_equal(sheet_add_row(processes, process, &row), 0);
		set_reading(processes, row, "smaps Rss", CELL_NUMBER, any(3) * 4096);
	}
	for (int i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "vmstat key%d", any(40) ? i : 100 + i);
		assert_int_equal(
			snapshot_note_number(snapshot, SHEET_HOST, name, any(3) ? 7 : any_number()),
			0);
	}
	if (any(4))
		assert_int_equal(sheet_set_absent(cgroups, "memory.peak",
						  any(2) ? "no such file" : "no permission"),
				 0);
	if (any(4))
		assert_int_equal(sheet_set_origin(cgroups, "memory.stat key1", "v1 memory"), 0);
	assert_int_equal(snapshot_finish_sheets(snapshot), 0);
}

static void add_some_circumstances(struct snapshot *snapshot, const struct world *world)
{
	static const char *const sources[] = { "task stat", "task io", "smaps" };

	snapshot_set_fact_text(snapshot, FACT_boot_id, "one boot");
	snapshot_set_fact_number(snapshot, FACT_monotonic_ns, world->tick * 1000000007);
	if (any(3))
		snapshot_set_fact_text(snapshot, FACT_loadavg,
				       any(2) ? "0.1 0.2 0.3" : "0.2 0.2 0.3");
	if (any(10))
		snapshot_set_fact_number(snapshot, FACT_available_memory_bytes, any_number());
	if (any(3))
		snapshot_set_absent(snapshot, METRIC_wchar, any(2) ? "no permission" : "");
	for (int i = 0; i < 3; i++) {
		struct source_report *source =
			any(9) ? snapshot_source(snapshot, sources[i]) : NULL;

		if (!source)
			continue;
		source->state = any(4) ? SOURCE_OK : SOURCE_PARTIAL;
		source->reason = source->state == SOURCE_OK ? NULL : "permission denied";
		source->read = any_number();
		source->failed = any(2);
	}
	snapshot->tally.tids_walked = any_number();
	snapshot->tally.vanished = any(2);
}

static struct snapshot *see(const struct world *world)
{
	struct snapshot *snapshot;

	assert_int_equal(snapshot_new(&snapshot), 0);
	for (int i = 0; i < PROCESSES; i++) {
		int32_t tgid = i * 10 + 10 * PROCESSES;
		uint32_t process, row;

		if (!world->processes[i])
			continue;
		assert_int_equal(snapshot_process(snapshot, tgid, &process), 0);
		snapshot->processes[process] =
			(struct process){ .tgid = tgid,
					  .start_time_ns = world->processes[i],
					  .pcomm = any_text(snapshot),
					  .parent = (int32_t)any(5) };
		for (int j = 0; j < THREADS; j++) {
			struct task task = { .tid = tgid + j,
					     .process = process,
					     .start_time_ns = world->threads[i][j],
					     .comm = any_text(snapshot),
					     .cgroup = intern(snapshot, "/a") };

			if (world->threads[i][j])
				assert_int_equal(snapshot_add_task(snapshot, &task, &row), 0);
		}
	}
	assert_int_equal(snapshot_finish(snapshot), 0);
	set_some(snapshot, world);
	add_some_sheets(snapshot);
	add_some_circumstances(snapshot, world);
	return snapshot;
}

static void read_frame(struct frame_reader *reader, const struct bytes *frame, bool is_key)
{
	struct error error = { 0 };
	int status = (is_key ? frame_read_key : frame_read_change)(reader, "tick", frame->data,
								   frame->size, &error);

	assert_string_equal(error.message, "");
	assert_int_equal(status, 0);
}

static size_t follow(uint64_t number, int ticks)
{
	struct frame_writer *writer = frame_writer_new();
	struct frame_reader *reader = frame_reader_new();
	struct world world = { 0 };
	struct bytes frame = { 0 };
	struct error error = { 0 };
	size_t keys = 0;

	seed = number * 7919 + 1;
	for (int tick = 0; tick < ticks; tick++) {
		struct snapshot *snapshot, *got = NULL;
		bool is_key;

		live(&world);
		snapshot = see(&world);
		assert_int_equal(frame_write(writer, snapshot, &frame, &is_key, &error), 0);
		keys += is_key;
		read_frame(reader, &frame, is_key);
		assert_int_equal(frame_reader_snapshot(reader, "tick", &got, &error), 0);
		assert_same_snapshot(snapshot, got);
		snapshot_free(snapshot);
		snapshot_free(got);
		if (any(50) == 0)
			frame_writer_restart(writer);
	}
	bytes_free(&frame);
	frame_writer_free(writer);
	frame_reader_free(reader);
	return keys;
}

static void any_sequence_of_snapshots_is_read_again(void **state)
{
	size_t keys = 0;

	(void)state;
	for (uint64_t number = 1; number <= 40; number++)
		keys += follow(number, 60);
	assert_true(keys < 40 * 20);
}

static void nothing_that_changes_costs_next_to_nothing(void **state)
{
	struct frame_writer *writer = frame_writer_new();
	struct snapshot *snapshot = make_snapshot();
	struct bytes frame = { 0 };
	struct error error = { 0 };
	bool is_key;

	(void)state;
	assert_int_equal(frame_write(writer, snapshot, &frame, &is_key, &error), 0);
	assert_true(is_key);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(frame_write(writer, snapshot, &frame, &is_key, &error), 0);
		assert_false(is_key);
	}
	assert_true(frame.size < 48);
	bytes_free(&frame);
	frame_writer_free(writer);
	snapshot_free(snapshot);
}

static void a_chain_ends_after_some_ticks(void **state)
{
	struct frame_writer *writer = frame_writer_new();
	struct snapshot *snapshot = make_snapshot();
	struct bytes frame = { 0 };
	struct error error = { 0 };
	int keys = 0;

	(void)state;
	for (int i = 0; i < 400; i++) {
		bool is_key;

		assert_int_equal(frame_write(writer, snapshot, &frame, &is_key, &error), 0);
		keys += is_key;
	}
	assert_in_range(keys, 2, 10);
	bytes_free(&frame);
	frame_writer_free(writer);
	snapshot_free(snapshot);
}

/* Three frames of a world that changes. */
struct chain {
	struct bytes frames[3];
};

static struct chain make_chain(void)
{
	struct frame_writer *writer = frame_writer_new();
	struct world world = { 0 };
	struct chain chain = { 0 };
	struct error error = { 0 };
	bool is_key;

	seed = 12345;
	for (int i = 0; i < 30; i++)
		live(&world);
	for (int i = 0; i < 3; i++) {
		struct snapshot *snapshot = see(&world);

		assert_int_equal(frame_write(writer, snapshot, &chain.frames[i], &is_key, &error),
				 0);
		assert_int_equal(is_key, i == 0);
		snapshot_free(snapshot);
		live(&world);
	}
	frame_writer_free(writer);
	return chain;
}

static void chain_free(struct chain *chain)
{
	for (int i = 0; i < 3; i++)
		bytes_free(&chain->frames[i]);
}

static void a_lost_frame_makes_those_after_it_unreadable(void **state)
{
	struct frame_reader *reader = frame_reader_new();
	struct chain chain = make_chain();
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };

	(void)state;
	read_frame(reader, &chain.frames[0], true);
	assert_int_equal(frame_read_change(reader, "the tick", chain.frames[2].data,
					   chain.frames[2].size, &error),
			 -EBADMSG);
	assert_string_equal(error.message,
			    "the tick is damaged: its checksum differs, or the frame "
			    "before it is not the one it had");
	error = (struct error){ 0 };
	assert_int_equal(frame_read_change(reader, "the tick", chain.frames[1].data,
					   chain.frames[1].size, &error),
			 -EBADMSG);
	assert_int_equal(frame_reader_snapshot(reader, "the tick", &snapshot, &error), -EBADMSG);
	read_frame(reader, &chain.frames[0], true);
	read_frame(reader, &chain.frames[1], false);
	read_frame(reader, &chain.frames[2], false);
	frame_reader_free(reader);
	chain_free(&chain);
}

static void every_changed_byte_is_noticed(void **state)
{
	struct frame_reader *reader = frame_reader_new();
	struct chain chain = make_chain();
	struct bytes *frame = &chain.frames[1];

	(void)state;
	for (size_t i = 0; i < frame->size; i++) {
		struct error error = { 0 };

		read_frame(reader, &chain.frames[0], true);
		frame->data[i] ^= 1 << i % 8;
		assert_int_equal(
			frame_read_change(reader, "tick", frame->data, frame->size, &error),
			-EBADMSG);
		frame->data[i] ^= 1 << i % 8;
	}
	for (size_t size = 0; size < frame->size; size++) {
		struct error error = { 0 };

		read_frame(reader, &chain.frames[0], true);
		assert_int_equal(frame_read_change(reader, "tick", frame->data, size, &error),
				 -EBADMSG);
	}
	frame_reader_free(reader);
	chain_free(&chain);
}

/* A snapshot of many threads that are all alike: its cells are far more than its bytes. */
static void a_crowd_that_appears_at_once_begins_a_chain(void **state)
{
	struct frame_writer *writer = frame_writer_new();
	struct frame_reader *reader = frame_reader_new();
	struct error error = { 0 };
	struct bytes frame = { 0 };
	bool is_key;

	(void)state;
	for (int32_t tasks = 1; tasks <= 100001; tasks += 100000) {
		struct snapshot *snapshot, *got;
		uint32_t process, row;

		assert_int_equal(snapshot_new(&snapshot), 0);
		assert_int_equal(snapshot_process(snapshot, 1, &process), 0);
		for (int32_t tid = 1; tid <= tasks; tid++)
			assert_int_equal(
				snapshot_add_task(snapshot, &(struct task){ .tid = tid }, &row), 0);
		for (int id = 0; id < METRIC_STORED; id++)
			for (row = 0;
			     metrics[id].scope == METRIC_OF_THREAD && row < (uint32_t)tasks; row++)
				set(snapshot, (enum metric_id)id, row, 0);
		assert_int_equal(snapshot_finish(snapshot), 0);
		assert_int_equal(frame_write(writer, snapshot, &frame, &is_key, &error), 0);
		assert_true(is_key);
		read_frame(reader, &frame, true);
		assert_int_equal(frame_reader_snapshot(reader, "tick", &got, &error), 0);
		assert_int_equal(got->task_count, tasks);
		snapshot_free(snapshot);
		snapshot_free(got);
	}
	bytes_free(&frame);
	frame_writer_free(writer);
	frame_reader_free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_sequence_of_snapshots_is_read_again),
		cmocka_unit_test(nothing_that_changes_costs_next_to_nothing),
		cmocka_unit_test(a_chain_ends_after_some_ticks),
		cmocka_unit_test(a_lost_frame_makes_those_after_it_unreadable),
		cmocka_unit_test(every_changed_byte_is_noticed),
		cmocka_unit_test(a_crowd_that_appears_at_once_begins_a_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
