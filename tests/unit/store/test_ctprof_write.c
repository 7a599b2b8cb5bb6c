/* SPDX-License-Identifier: MIT */
/* Snapshots that become .ctprof.zst files: what is absent, and what comes back. */
#include <jansson.h>
#include <sys/stat.h>
#include <zstd.h>

#include "sample_snapshot.h"
#include "store/ctprof/ctprof.h"

static void *encode(const struct snapshot *snapshot, size_t *ret_size)
{
	struct error error = { 0 };
	void *bytes = NULL;

	assert_int_equal(ctprof_encode(snapshot, &bytes, ret_size, &error), 0);
	return bytes;
}

/* The file's JSON, unpacked and parsed by others than ourselves. */
static json_t *write_json(const struct snapshot *snapshot)
{
	size_t size, length, room = 64 << 20;
	void *bytes = encode(snapshot, &size);
	char *json = malloc(room);
	json_t *document;

	assert_non_null(json);
	length = ZSTD_decompress(json, room, bytes, size);
	assert_false(ZSTD_isError(length));
	document = json_loadb(json, length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
	assert_non_null(document);
	free(json);
	free(bytes);
	return document;
}

static struct snapshot *write_and_read(const struct snapshot *snapshot)
{
	struct snapshot *got = NULL;
	struct error error = { 0 };
	size_t size;
	void *bytes = encode(snapshot, &size);

	if (ctprof_decode("the file", bytes, size, &got, &error) < 0)
		fail_msg("%s", error.message);
	free(bytes);
	return got;
}

static json_t *first_thread(json_t *document)
{
	return json_array_get(json_object_get(document, "threads"), 0);
}

static struct snapshot *make_one(const char *comm)
{
	struct snapshot *snapshot;

	assert_int_equal(snapshot_new(&snapshot), 0);
	add_process(snapshot, 5, comm, "", "");
	add_task(snapshot, 5, 5, comm, "/a");
	assert_int_equal(snapshot_finish(snapshot), 0);
	return snapshot;
}

static void what_is_absent_becomes_the_default(void **state)
{
	struct snapshot *snapshot = make_one("x");
	json_t *document = write_json(snapshot), *thread = first_thread(document);
	const char *key;
	json_t *value;

	(void)state;
	assert_int_equal(json_object_size(thread), 98);
	assert_string_equal(json_string_value(json_object_get(thread, "policy")), "");
	assert_string_equal(json_string_value(json_object_get(thread, "state")), "~");
	assert_int_equal(json_array_size(json_object_get(thread, "cpu_affinity")), 0);
	assert_int_equal(json_object_size(json_object_get(thread, "smaps_rollup_kib")), 0);
	assert_int_equal((int)json_number_value(json_object_get(thread, "start_time_clock_ticks")),
			 5);
	json_object_foreach(thread, key, value)
	{
		assert_false(json_is_true(value));
		if (json_is_real(value) && strcmp(key, "tid") != 0 && strcmp(key, "tgid") != 0 &&
		    strcmp(key, "start_time_clock_ticks") != 0)
			assert_true(json_number_value(value) == 0);
	}
	assert_true(json_is_null(json_object_get(document, "sched_ext")));
	assert_true(json_is_null(json_object_get(document, "probe_summary")));
	assert_true(json_is_null(json_object_get(document, "taskstats_summary")));
	json_decref(document);
	snapshot_free(snapshot);
}

static bool flag(json_t *thread, const char *key)
{
	return json_is_true(json_object_get(thread, key));
}

static void flags_say_which_families_were_measured(void **state)
{
	struct snapshot *snapshot = make_one("x");
	json_t *document;

	(void)state;
	set(snapshot, METRIC_blkio_delay_count, 0, 0);
	set(snapshot, METRIC_allocated_bytes, 0, 0);
	document = write_json(snapshot);
	assert_true(flag(first_thread(document), "taskstats_measured"));
	assert_true(flag(first_thread(document), "delay_block_active"));
	assert_true(flag(first_thread(document), "jemalloc_measured"));
	assert_false(flag(first_thread(document), "cpu_delay_active"));
	assert_false(flag(first_thread(document), "xacct_active"));
	json_decref(document);
	snapshot_free(snapshot);
}

/* Every stored metric that the format has, none of them its default. */
static struct snapshot *make_measured(void)
{
	struct snapshot *snapshot = make_one("x");

	for (int id = 0; id < METRIC_STORED; id++)
		set(snapshot, id, 0,
		    metrics[id].unit == UNIT_NS ? (uint64_t)(id + 1) * 10000000 :
						  (uint64_t)(id + 1));
	set(snapshot, METRIC_thread_count, 0, 1);
	set(snapshot, METRIC_policy, 0, 2);
	set(snapshot, METRIC_state, 0, 'S');
	set(snapshot, METRIC_ext_enabled, 0, 1);
	set(snapshot, METRIC_nice, 0, (uint64_t)-20);
	set(snapshot, METRIC_cpu_affinity, 0, intern(snapshot, "1-4,70"));
	return snapshot;
}

static void every_metric_that_the_format_has_comes_back(void **state)
{
	struct snapshot *snapshot = make_measured(), *got = write_and_read(snapshot);
	size_t same = 0;

	(void)state;
	for (int id = 0; id < METRIC_STORED; id++) {
		uint64_t expected = 0, value;

		if (!snapshot_get(got, id, 0, &value)) {
			assert_true(got->columns[id].absent || metric_is_only_traced(id));
			continue;
		}
		assert_true(snapshot_get(snapshot, id, 0, &expected));
		if (id == METRIC_cpu_affinity)
			assert_same_text(snapshot, (uint32_t)expected, got, (uint32_t)value);
		else
			assert_int_equal(value, expected);
		same++;
	}
	assert_int_equal(same, 87); /* as many as the format has, thread_count among them */
	snapshot_free(snapshot);
	snapshot_free(got);
}

static void clock_ticks_are_whole(void **state)
{
	struct snapshot *snapshot = make_one("x"), *got;
	uint64_t value;

	(void)state;
	set(snapshot, METRIC_utime_ns, 0, 129999999);
	got = write_and_read(snapshot);
	assert_true(snapshot_get(got, METRIC_utime_ns, 0, &value));
	assert_int_equal(value, 120000000);
	snapshot_free(snapshot);
	snapshot_free(got);
}

static void names_come_back_whatever_characters_they_have(void **state)
{
	struct snapshot *snapshot = make_one("\x01\"\\\n\x7f\xc2\x85\xe2\x80\xae\xf0\x9f\x98\x80"),
			*got = write_and_read(snapshot);

	(void)state;
	assert_same_text(snapshot, snapshot->tasks[0].comm, got, got->tasks[0].comm);
	snapshot_free(snapshot);
	snapshot_free(got);
	snapshot = make_one("a\xff\xc0z");
	got = write_and_read(snapshot);
	assert_string_equal(snapshot_text(got, got->tasks[0].comm), "a\\xff\\xc0z");
	snapshot_free(snapshot);
	snapshot_free(got);
}

static void set_cgroup(struct snapshot *snapshot, uint32_t row, const char *name,
		       enum cell_state cell, uint64_t value)
{
	assert_int_equal(sheet_set(&snapshot->sheets[SHEET_CGROUPS], row, name, cell, value), 0);
}

static void only_cgroups_that_hold_a_task_are_written(void **state)
{
	struct snapshot *snapshot = make_one("x");
	struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];
	json_t *document, *cgroups;
	uint32_t row;

	(void)state;
	assert_int_equal(sheet_add_row(sheet, intern(snapshot, "/"), &row), 0);
	assert_int_equal(sheet_add_row(sheet, intern(snapshot, "/a"), &row), 0);
	set_cgroup(snapshot, 0, "memory.current", CELL_NUMBER, 1);
	set_cgroup(snapshot, 1, "memory.current", CELL_NUMBER, 2);
	document = write_json(snapshot);
	cgroups = json_object_get(document, "cgroup_stats");
	assert_int_equal(json_object_size(cgroups), 1);
	assert_non_null(json_object_get(cgroups, "/a"));
	json_decref(document);
	snapshot_free(snapshot);
}

static void unlimited_is_null_for_a_limit_and_the_largest_number_for_a_floor(void **state)
{
	struct snapshot *snapshot = make_one("x"), *got;
	const struct sheet *sheet;
	uint64_t value;
	uint32_t row;

	(void)state;
	assert_int_equal(
		sheet_add_row(&snapshot->sheets[SHEET_CGROUPS], intern(snapshot, "/a"), &row), 0);
	set_cgroup(snapshot, row, "memory.max", CELL_UNLIMITED, 0);
	set_cgroup(snapshot, row, "memory.low", CELL_UNLIMITED, 0);
	set_cgroup(snapshot, row, "pids.max", CELL_NUMBER, 0);
	got = write_and_read(snapshot);
	sheet = &got->sheets[SHEET_CGROUPS];
	assert_int_equal(column_get(sheet_find(sheet, "memory.max"), 0, &value), CELL_ABSENT);
	assert_int_equal(column_get(sheet_find(sheet, "memory.low"), 0, &value), CELL_UNLIMITED);
	assert_int_equal(column_get(sheet_find(sheet, "pids.max"), 0, &value), CELL_NUMBER);
	assert_int_equal(value, 0);
	snapshot_free(snapshot);
	snapshot_free(got);
}

static void failures_are_told_by_file(void **state)
{
	struct snapshot *snapshot = make_one("x");
	json_t *document, *summary, *files;

	(void)state;
	snapshot->tally.tids_walked = 9;
	snapshot_source(snapshot, "status")->failed = 2;
	snapshot_source(snapshot, "io")->failed = 2;
	snapshot_source(snapshot, "smaps")->failed = 1;
	snapshot_source(snapshot, "jemalloc")->failed = 50;
	document = write_json(snapshot);
	summary = json_object_get(document, "parse_summary");
	files = json_object_get(summary, "read_failures_by_file");
	assert_int_equal(json_object_size(files), 3);
	assert_true(json_number_value(json_object_get(files, "smaps_rollup")) == 1);
	assert_true(json_number_value(json_object_get(summary, "tids_walked")) == 9);
	assert_true(json_number_value(json_object_get(summary, "read_failures")) == 5);
	assert_string_equal(json_string_value(json_object_get(summary, "dominant_read_failure")),
			    "io");
	assert_false(flag(summary, "kernel_config_dominant"));
	json_decref(document);
	snapshot_free(snapshot);
}

/* So regular that it compresses to far less than a file of its size may hold. */
static void a_regular_snapshot_is_padded_and_read(void **state)
{
	static const uint8_t skippable[] = { 0x50, 0x2a, 0x4d, 0x18 };
	struct snapshot *snapshot, *got = NULL;
	struct error error = { 0 };
	char cgroup[8000] = "/";
	size_t size, frame;
	char *bytes;

	(void)state;
	memset(cgroup + 1, 'x', sizeof(cgroup) - 2);
	assert_int_equal(snapshot_new(&snapshot), 0);
	add_process(snapshot, 1, "same", "", "");
	for (int32_t tid = 1; tid <= 2500; tid++)
		add_task(snapshot, 1, tid, "same", cgroup);
	for (uint32_t row = 0; row < 2500; row++)
		snapshot->tasks[row].start_time_ns = 0;
	assert_int_equal(snapshot_finish(snapshot), 0);
	bytes = encode(snapshot, &size);
	frame = ZSTD_findFrameCompressedSize(bytes, size);
	assert_false(ZSTD_isError(frame));
	assert_true(frame + 8 < size);
	assert_memory_equal(bytes + frame, skippable, sizeof(skippable));
	assert_int_equal(ctprof_decode("the file", bytes, frame, &got, &error), -EFBIG);
	assert_int_equal(ctprof_decode("the file", bytes, size, &got, &error), 0);
	assert_int_equal(got->task_count, 2500);
	snapshot_free(snapshot);
	snapshot_free(got);
	free(bytes);
}

/* Whether the bytes are refused in a sentence, or else the very snapshot that was written. */
static bool is_refused(const void *bytes, size_t size, const void *whole, size_t whole_size)
{
	struct snapshot *got = NULL;
	struct error error = { 0 };
	size_t again_size;
	void *again;

	if (ctprof_decode("the file", bytes, size, &got, &error) < 0) {
		assert_null(got);
		assert_true(error.message[0]);
		return true;
	}
	again = encode(got, &again_size);
	assert_int_equal(again_size, whole_size);
	assert_memory_equal(again, whole, whole_size);
	free(again);
	snapshot_free(got);
	return false;
}

/* The checksum is of the content: zstd has bits that mean nothing, and some content two encodings. */
static void a_flipped_bit_is_refused(void **state)
{
	struct snapshot *snapshot = make_one("x");
	/* What is read of the file and written is the file: what is read of another can be held against it. */
	struct snapshot *read = write_and_read(snapshot);
	size_t size, harmless = 0;
	uint8_t *whole = encode(read, &size), *bytes = malloc(size + 1);

	(void)state;
	memcpy(bytes, whole, size);
	for (size_t bit = 0; bit < size * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		harmless += !is_refused(bytes, size, whole, size);
		bytes[bit / 8] = whole[bit / 8];
	}
	assert_in_range(harmless, 0, size * 8 / 100);
	for (int trailing = 0; trailing < 256; trailing++) {
		bytes[size] = (uint8_t)trailing;
		assert_true(is_refused(bytes, size + 1, whole, size));
	}
	for (size_t cut = 1; cut < size; cut++)
		assert_true(is_refused(bytes, size - cut, whole, size));
	snapshot_free(read);
	snapshot_free(snapshot);
	free(whole);
	free(bytes);
}

static void the_kind_of_a_file_follows_its_name_and_reading_its_content(void **state)
{
	struct snapshot *snapshot = make_one("x"), *got = NULL;
	char path[] = "/tmp/taskscope-XXXXXX.ctprof.zst",
	     renamed[] = "/tmp/taskscope-XXXXXX.tscope";
	struct error error = { 0 };
	int fd = mkstemps(path, 11);
	struct stat file;

	(void)state;
	close(fd);
	close(mkstemps(renamed, 7));
	assert_int_equal(snapshot_file_check_name(path, &error), 0);
	assert_int_equal(snapshot_file_write(snapshot, path, &error), 0);
	assert_int_equal(stat(path, &file), 0);
	assert_int_equal(file.st_mode & 0777, 0600);
	assert_int_equal(rename(path, renamed), 0);
	assert_int_equal(snapshot_file_read(renamed, &got, &error), 0);
	assert_string_equal(got->facts[FACT_task_source].text, "ctprof");
	unlink(renamed);
	snapshot_free(got);
	snapshot_free(snapshot);
}

static void a_name_without_a_known_ending_is_refused(void **state)
{
	static const char *const names[] = { "x",	"x.zst",	 "x.ctprof",
					     ".tscope", "a/.ctprof.zst", "x.tscope.gz" };
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		error = (struct error){ 0 };
		assert_int_equal(snapshot_file_check_name(names[i], &error), -EINVAL);
		assert_non_null(strstr(error.message, ".tscope"));
		assert_non_null(strstr(error.message, ".ctprof.zst"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_absent_becomes_the_default),
		cmocka_unit_test(flags_say_which_families_were_measured),
		cmocka_unit_test(every_metric_that_the_format_has_comes_back),
		cmocka_unit_test(clock_ticks_are_whole),
		cmocka_unit_test(names_come_back_whatever_characters_they_have),
		cmocka_unit_test(only_cgroups_that_hold_a_task_are_written),
		cmocka_unit_test(unlimited_is_null_for_a_limit_and_the_largest_number_for_a_floor),
		cmocka_unit_test(failures_are_told_by_file),
		cmocka_unit_test(a_regular_snapshot_is_padded_and_read),
		cmocka_unit_test(a_flipped_bit_is_refused),
		cmocka_unit_test(the_kind_of_a_file_follows_its_name_and_reading_its_content),
		cmocka_unit_test(a_name_without_a_known_ending_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
