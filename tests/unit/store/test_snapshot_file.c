/* SPDX-License-Identifier: MIT */
/* The .tscope file: what is written is read again, and failures are told in a sentence. */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "sample_snapshot.h"

static void everything_written_is_read_again(void **state)
{
	struct snapshot *written = make_snapshot();
	struct snapshot *got = NULL;
	struct error error = { 0 };
	void *bytes;
	size_t size;

	(void)state;
	assert_int_equal(snapshot_encode(written, &bytes, &size, &error), 0);
	assert_int_equal(snapshot_decode("the snapshot", bytes, size, &got, &error), 0);
	assert_same_snapshot(written, got);
	snapshot_free(written);
	snapshot_free(got);
	free(bytes);
}

static void scopes_are_read_again(void **state)
{
	struct snapshot *written = make_snapshot();
	struct snapshot *got = NULL;
	struct error error = { 0 };
	void *bytes;
	size_t size;

	(void)state;
	add_scopes(written);
	assert_int_equal(snapshot_encode(written, &bytes, &size, &error), 0);
	assert_int_equal(snapshot_decode("the snapshot", bytes, size, &got, &error), 0);
	assert_same_snapshot(written, got);
	assert_string_equal(snapshot_text(got, got->tasks[1].scope), "load matrix");
	assert_int_equal(got->tasks[0].scope, 0);
	snapshot_free(written);
	snapshot_free(got);
	free(bytes);
}

static void a_snapshot_without_rows_is_read_again(void **state)
{
	struct snapshot *written, *got = NULL;
	struct error error = { 0 };
	void *bytes;
	size_t size;

	(void)state;
	assert_int_equal(snapshot_new(&written), 0);
	assert_int_equal(snapshot_finish(written), 0);
	assert_int_equal(snapshot_encode(written, &bytes, &size, &error), 0);
	assert_int_equal(snapshot_decode("the snapshot", bytes, size, &got, &error), 0);
	assert_same_snapshot(written, got);
	snapshot_free(written);
	snapshot_free(got);
	free(bytes);
}

static void the_same_snapshot_gives_the_same_bytes(void **state)
{
	size_t first_size, second_size;
	uint8_t *first = make_file(&first_size);
	uint8_t *second = make_file(&second_size);

	(void)state;
	assert_int_equal(first_size, second_size);
	assert_memory_equal(first, second, first_size);
	free(first);
	free(second);
}

static void a_text_that_no_row_uses_is_not_in_the_file(void **state)
{
	size_t size;
	uint8_t *bytes = make_file(&size);
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	uint32_t id;

	(void)state;
	assert_int_equal(snapshot_decode("the snapshot", bytes, size, &snapshot, &error), 0);
	for (id = 0; *snapshot_text(snapshot, id) || id == 0; id++)
		assert_string_not_equal(snapshot_text(snapshot, id), "a text that no row uses");
	assert_true(id > 10);
	snapshot_free(snapshot);
	free(bytes);
}

static void rows_that_are_not_in_order_are_not_written(void **state)
{
	struct snapshot *snapshot = make_snapshot();
	struct error error = { 0 };
	void *bytes = NULL;
	size_t size;

	(void)state;
	snapshot->tasks[3].tid = 19;
	assert_int_equal(snapshot_encode(snapshot, &bytes, &size, &error), -EINVAL);
	assert_null(bytes);
	snapshot_free(snapshot);
	snapshot = make_snapshot();
	snapshot->processes[0].tgid = snapshot->processes[1].tgid;
	snapshot->facts[FACT_recording].present = false;
	assert_int_equal(snapshot_encode(snapshot, &bytes, &size, &error), -EINVAL);
	assert_null(bytes);
	/* In a run a number may come again, later. */
	snapshot->facts[FACT_recording].present = true;
	snapshot->processes[0].start_time_ns = snapshot->processes[1].start_time_ns + 1;
	assert_int_equal(snapshot_encode(snapshot, &bytes, &size, &error), -EINVAL);
	snapshot->processes[0].start_time_ns = snapshot->processes[1].start_time_ns;
	assert_int_equal(snapshot_encode(snapshot, &bytes, &size, &error), 0);
	free(bytes);
	snapshot_free(snapshot);
}

static void a_snapshot_too_regular_for_its_size_is_padded_and_read(void **state)
{
	struct snapshot *written, *got = NULL;
	struct error error = { 0 };
	uint64_t padding = 0;
	uint8_t *bytes;
	size_t size;

	(void)state;
	assert_int_equal(snapshot_new(&written), 0);
	add_process(written, 1, "same", "", "");
	for (int32_t tid = 1; tid <= 40000; tid++)
		add_task(written, 1, tid, "same", "/");
	for (uint32_t row = 0; row < 40000; row++)
		written->tasks[row].start_time_ns = 0;
	for (int id = METRIC_nr_wakeups; id < METRIC_nr_wakeups + 40; id++)
		for (uint32_t row = 0; row < snapshot_rows(written, (enum metric_id)id); row++)
			set(written, (enum metric_id)id, row, 0);
	assert_int_equal(snapshot_finish(written), 0);
	assert_int_equal(snapshot_encode(written, (void **)&bytes, &size, &error), 0);
	memcpy(&padding, bytes + 24, 4);
	assert_true(padding > 10000);
	assert_int_equal(snapshot_decode("the snapshot", bytes, size, &got, &error), 0);
	assert_same_snapshot(written, got);
	snapshot_free(got);
	bytes[size - 9] ^= 1; /* in the padding */
	assert_int_equal(snapshot_decode("the snapshot", bytes, size, &got, &error), -EBADMSG);
	snapshot_free(written);
	free(bytes);
}

struct place {
	char directory[64];
	char path[96];
};

static int make_place(void **state)
{
	struct place *place = calloc(1, sizeof(*place));

	snprintf(place->directory, sizeof(place->directory), "/tmp/test_snapshot_file.XXXXXX");
	if (!mkdtemp(place->directory))
		return -1;
	snprintf(place->path, sizeof(place->path), "%s/x.tscope", place->directory);
	*state = place;
	return 0;
}

static int remove_place(void **state)
{
	struct place *place = *state;
	int status;

	chmod(place->directory, 0700);
	unlink(place->path);
	status = rmdir(place->directory); /* fails when something was left in it */
	free(place);
	return status;
}

static void a_file_that_was_written_can_be_read(void **state)
{
	struct place *place = *state;
	struct snapshot *written = make_snapshot();
	struct snapshot *got = NULL;
	struct error error = { 0 };
	struct stat stat_buffer;

	assert_int_equal(snapshot_file_write(written, place->path, &error), 0);
	assert_int_equal(snapshot_file_write(written, place->path, &error), 0);
	assert_int_equal(stat(place->path, &stat_buffer), 0);
	assert_int_equal(stat_buffer.st_mode & 0777, 0600);
	assert_int_equal(snapshot_file_read(place->path, &got, &error), 0);
	assert_same_snapshot(written, got);
	snapshot_free(written);
	snapshot_free(got);
}

/* The file stays as it is when facts and tallies are added, so these are told one by one. */
static void assert_circumstances_of_format_1(const struct snapshot *snapshot)
{
	assert_string_equal(snapshot->facts[FACT_boot_id].text, "boot_id");
	assert_string_equal(snapshot->facts[FACT_arch].text, "");
	assert_true(snapshot->facts[FACT_page_size].number == UINT64_MAX >> 4);
	assert_false(snapshot->facts[FACT_filter].present);
	assert_string_equal(snapshot->columns[METRIC_rchar].absent, "no permission: run as root");
	assert_string_equal(snapshot->columns[METRIC_majflt].absent, "");
	assert_null(snapshot->columns[METRIC_minflt].absent);
	assert_int_equal(snapshot->source_count, 2);
	assert_string_equal(snapshot->sources[0].name, "task stat");
	assert_null(snapshot->sources[0].reason);
	assert_int_equal(snapshot->sources[1].state, SOURCE_PARTIAL);
	assert_true(snapshot->sources[1].failed == UINT64_MAX);
	assert_int_equal(snapshot->tally.tids_walked, 9);
	assert_int_equal(snapshot->tally.gap_filled, 4);
}

static void a_file_of_format_1_can_be_read(void **state)
{
	struct snapshot *expected = make_snapshot();
	struct snapshot *got = NULL;
	struct error error = { 0 };
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/files/format-1.tscope", getenv("TASKSCOPE_TEST_DATA"));
	snapshot_file_read(path, &got, &error);
	assert_string_equal(error.message, "");
	assert_same_rows(expected, got);
	for (int id = 0; id < METRIC_STORED; id++)
		assert_same_cells(expected, got, (enum metric_id)id);
	assert_circumstances_of_format_1(got);
	snapshot_free(expected);
	snapshot_free(got);
}

static void a_file_of_format_1_with_readings_can_be_read(void **state)
{
	struct snapshot *expected = make_snapshot();
	struct snapshot *got = NULL;
	struct error error = { 0 };
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/files/format-1-readings.tscope",
		 getenv("TASKSCOPE_TEST_DATA"));
	snapshot_file_read(path, &got, &error);
	assert_string_equal(error.message, "");
	assert_same_rows(expected, got);
	assert_same_sheets(expected, got);
	snapshot_free(expected);
	snapshot_free(got);
}

static void a_file_of_format_1_with_scopes_can_be_read(void **state)
{
	struct snapshot *expected = make_snapshot();
	struct snapshot *got = NULL;
	struct error error = { 0 };
	char path[4096];

	(void)state;
	add_scopes(expected);
	snprintf(path, sizeof(path), "%s/files/format-1-scopes.tscope",
		 getenv("TASKSCOPE_TEST_DATA"));
	snapshot_file_read(path, &got, &error);
	assert_string_equal(error.message, "");
	assert_same_rows(expected, got);
	for (int id = 0; id < METRIC_STORED; id++)
		assert_same_cells(expected, got, (enum metric_id)id);
	snapshot_free(expected);
	snapshot_free(got);
}

/* Written before there were scopes: no thread is in one, and no age is known. */
static void a_file_without_scopes_has_none(void **state)
{
	struct snapshot *got = NULL;
	struct error error = { 0 };
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/files/format-1.tscope", getenv("TASKSCOPE_TEST_DATA"));
	assert_int_equal(snapshot_file_read(path, &got, &error), 0);
	for (size_t row = 0; row < got->task_count; row++)
		assert_int_equal(got->tasks[row].scope, 0);
	assert_int_equal(snapshot_measured(got, METRIC_scope_age_ns), 0);
	snapshot_free(got);
}

/* Reads what must be refused; the sentence has to name the file and say why. */
static void refuse_file(const char *path, int code, const char *why)
{
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };

	assert_int_equal(snapshot_file_read(path, &snapshot, &error), code);
	assert_null(snapshot);
	assert_non_null(strstr(error.message, path));
	assert_non_null(strstr(error.message, why));
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void a_file_that_cannot_be_read_is_named_with_the_cause(void **state)
{
	struct place *place = *state;
	size_t size;
	uint8_t *bytes = make_file(&size);

	refuse_file(place->path, -ENOENT, "cannot open");
	refuse_file(place->directory, -EISDIR, "is a directory");
	write_file(place->path, "", 0);
	refuse_file(place->path, -EBADMSG, "is empty");
	write_file(place->path, "SQLite format 3 and much more text", 34);
	refuse_file(place->path, -EBADMSG, "is not a snapshot");
	write_file(place->path, bytes, size - 1);
	refuse_file(place->path, -EBADMSG, "is cut short");
	bytes[size / 2] ^= 1;
	write_file(place->path, bytes, size);
	refuse_file(place->path, -EBADMSG, "checksum");
	bytes[8] = 9;
	write_file(place->path, bytes, size);
	refuse_file(place->path, -ENOTSUP, "newer taskscope (format 9)");
	assert_int_equal(truncate(place->path, (off_t)1 << 40), 0);
	refuse_file(place->path, -EFBIG, "larger than any");
	unlink(place->path);
	assert_int_equal(mkfifo(place->path, 0600), 0);
	refuse_file(place->path, -EINVAL, "not an ordinary file");
	free(bytes);
}

static long peak_kib(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

static void a_large_file_of_another_kind_is_not_read_to_its_end(void **state)
{
	struct place *place = *state;
	long before = peak_kib();

	mallopt(M_PERTURB, 0); /* tests may run with memory that is filled when it is had */
	write_file(place->path, "SQLite format 3 and much more text", 34);
	assert_int_equal(truncate(place->path, 256 << 20), 0);
	refuse_file(place->path, -EBADMSG, "is not a snapshot");
	assert_true(peak_kib() - before < 64 << 10);
}

static void assert_not_written(const char *path, int code, const char *advice)
{
	struct snapshot *snapshot = make_snapshot();
	struct error error = { 0 };

	assert_int_equal(snapshot_file_write(snapshot, path, &error), code);
	assert_non_null(strstr(error.message, path));
	assert_non_null(strstr(error.message, advice));
	snapshot_free(snapshot);
}

static void a_path_that_cannot_be_written_is_named_with_advice(void **state)
{
	struct place *place = *state;
	char path[200];

	snprintf(path, sizeof(path), "%s/none/x.tscope", place->directory);
	assert_not_written(path, -ENOENT, "make its directory first");
	assert_not_written(place->directory, -EISDIR, "give the name of a file in it");
	write_file(place->path, "x", 1);
	snprintf(path, sizeof(path), "%s/x.tscope", place->path);
	assert_not_written(path, -ENOTDIR, "part of the path is a file");
}

static int write_without_permission(const void *path)
{
	struct snapshot *snapshot = make_snapshot();
	struct error error = { 0 };

	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return 1;
	if (snapshot_file_write(snapshot, path, &error) != -EACCES)
		return 2;
	return strstr(error.message, "write to a directory that is yours") ? 0 : 3;
}

/* The limit stands in for a full disk: some bytes can be written, then no more. */
static int write_to_full_disk(const void *path)
{
	struct rlimit limit = { 100, 100 };
	struct snapshot *snapshot = make_snapshot();
	struct error error = { 0 };

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		return 1;
	if (snapshot_file_write(snapshot, path, &error) != -EFBIG)
		return 2;
	return strstr(error.message, path) ? 0 : 3;
}

static void assert_old_file_intact(const struct place *place)
{
	char bytes[16] = { 0 };
	FILE *file = fopen(place->path, "rb");

	assert_non_null(file);
	assert_int_equal(fread(bytes, 1, sizeof(bytes), file), 3);
	assert_string_equal(bytes, "old");
	fclose(file);
}

static void the_old_file_stays_when_the_new_one_cannot_be_written(void **state)
{
	struct place *place = *state;

	write_file(place->path, "old", 3);
	assert_int_equal(in_child(write_to_full_disk, place->path), 0);
	assert_old_file_intact(place);
	assert_int_equal(chmod(place->directory, 0555), 0);
	assert_int_equal(in_child(write_without_permission, place->path), 0);
	assert_old_file_intact(place);
}

#define WITH_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_written_is_read_again),
		cmocka_unit_test(scopes_are_read_again),
		cmocka_unit_test(a_snapshot_without_rows_is_read_again),
		cmocka_unit_test(the_same_snapshot_gives_the_same_bytes),
		cmocka_unit_test(a_text_that_no_row_uses_is_not_in_the_file),
		cmocka_unit_test(rows_that_are_not_in_order_are_not_written),
		cmocka_unit_test(a_snapshot_too_regular_for_its_size_is_padded_and_read),
		WITH_PLACE(a_file_that_was_written_can_be_read),
		cmocka_unit_test(a_file_of_format_1_can_be_read),
		cmocka_unit_test(a_file_of_format_1_with_readings_can_be_read),
		cmocka_unit_test(a_file_of_format_1_with_scopes_can_be_read),
		cmocka_unit_test(a_file_without_scopes_has_none),
		WITH_PLACE(a_file_that_cannot_be_read_is_named_with_the_cause),
		WITH_PLACE(a_large_file_of_another_kind_is_not_read_to_its_end),
		WITH_PLACE(a_path_that_cannot_be_written_is_named_with_advice),
		WITH_PLACE(the_old_file_stays_when_the_new_one_cannot_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
