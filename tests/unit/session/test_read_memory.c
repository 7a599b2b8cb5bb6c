/* SPDX-License-Identifier: MIT */
/*
 * Readers of files when memory runs out, at every allocation: once, and from there on.  Either there
 * is a sentence and nothing else, or what was read is whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "scarce_memory.h"

#include "analyze/verdict/diagnosis.h"
#include "base/error.h"
#include "model/tree/run.h"
#include "model/snapshot/snapshot.h"
#include "render/run/verdict_json.h"
#include "store/run/run_json.h"
#include "store/ctprof/ctprof.h"
#include "store/run/run_file.h"
#include "store/snapshot_file.h"

/* Reads a file; gives what was read as bytes, or NULL and a sentence. */
typedef char *reader(const char *path, size_t *ret_size, struct error *error);

static char *read_snapshot(const char *path, size_t *ret_size, struct error *error)
{
	struct snapshot *snapshot = NULL;
	void *bytes = NULL;
	int status = snapshot_file_read(path, &snapshot, error);

	allow_all();
	assert_int_equal(status == 0, snapshot != NULL);
	if (status == 0)
		assert_int_equal(snapshot_encode(snapshot, &bytes, ret_size, error), 0);
	snapshot_free(snapshot);
	return bytes;
}

static char *read_run(const char *path, size_t *ret_size, struct error *error)
{
	struct diagnosis diagnosis = { 0 };
	struct run *run = NULL;
	char *bytes = NULL;
	int status = run_file_read(path, &run, error);
	FILE *out;

	allow_all();
	assert_int_equal(status == 0, run != NULL);
	if (status < 0)
		return NULL;
	out = open_memstream(&bytes, ret_size);
	assert_non_null(out);
	diagnose(run, &diagnosis);
	run_json_summary(out, run, diagnosis_json, &diagnosis, false);
	assert_int_equal(fclose(out), 0);
	run_free(run);
	return bytes;
}

/* How many allocations a reading takes. */
static unsigned long try(reader *read, const char *path, unsigned long refused, bool for_good,
			 const char *whole, size_t whole_size)
{
	struct error error = { 0 };
	size_t size = 0;
	char *bytes;

	memory.asked = 0;
	memory.refused = refused;
	memory.for_good = for_good;
	bytes = read(path, &size, &error);
	if (bytes) {
		assert_int_equal(size, whole_size);
		assert_memory_equal(bytes, whole, size);
	} else {
		assert_true(error.message[0]);
	}
	free(bytes);
	return memory.asked;
}

/* The first hundred allocations each; later ones are more of the same and are tried now and then. */
static void try_all(reader *read, const char *name)
{
	char path[4096];
	struct error error = { 0 };
	size_t size = 0;
	unsigned long count;
	char *whole;

	snprintf(path, sizeof(path), "%s/%s", getenv("TASKSCOPE_TEST_DATA"), name);
	whole = read(path, &size, &error);
	if (!whole)
		fail_msg("%s", error.message);
	count = try(read, path, 0, false, whole, size);
	assert_true(count > 20);
	for (unsigned long refused = 1; refused <= count; refused += 1 + refused / 100) {
		try(read, path, refused, false, whole, size);
		try(read, path, refused, true, whole, size);
	}
	free(whole);
}

static void a_snapshot_is_read_whole_or_not_at_all(void **state)
{
	(void)state;
	try_all(read_snapshot, "files/format-1.tscope");
	try_all(read_snapshot, "files/format-1-readings.tscope");
	try_all(read_snapshot, "files/format-1-scopes.tscope");
}

static void a_foreign_snapshot_is_read_whole_or_not_at_all(void **state)
{
	(void)state;
	try_all(read_snapshot, "ctprof/full.ctprof.zst");
	try_all(read_snapshot, "ctprof/defaults.ctprof.zst");
}

static void a_run_is_read_whole_or_not_at_all(void **state)
{
	(void)state;
	try_all(read_run, "runs/build.jsonl");
	try_all(read_run, "runs/cut_off.jsonl");
	try_all(read_run, "runs/stacks.jsonl");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_snapshot_is_read_whole_or_not_at_all),
		cmocka_unit_test(a_foreign_snapshot_is_read_whole_or_not_at_all),
		cmocka_unit_test(a_run_is_read_whole_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
