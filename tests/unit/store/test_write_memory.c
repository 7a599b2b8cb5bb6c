/* SPDX-License-Identifier: MIT */
/*
 * Writers, and frames, when memory runs out, at every allocation: once, and from there on.  Either
 * there is an error and nothing else, or what was made is whole.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scarce_memory.h"

#include "base/error.h"
#include "made_ticks.h"
#include "model/snapshot/snapshot.h"
#include "sample_snapshot.h"
#include "store/ctprof/ctprof.h"
#include "store/history/frame.h"
#include "store/snapshot_file.h"

#define TICKS 3

static const struct made_host host = { .processes = 5,
				       .threads = 2,
				       .begin_unix_ns = UINT64_C(1700000040) * SECOND_NS,
				       .interval_ns = SECOND_NS };
static struct snapshot *snapshots[TICKS];

typedef void attempt(const struct snapshot *snapshot);
typedef int encode(const struct snapshot *snapshot, void **ret, size_t *ret_size,
		   struct error *error);

/* What the encoder under test makes of a snapshot with enough memory. */
static void *whole;
static size_t whole_size;
static encode *encoder;

static void encode_once(const struct snapshot *snapshot)
{
	struct error error = { 0 };
	void *bytes = NULL;
	size_t size = 0;
	int status = encoder(snapshot, &bytes, &size, &error);

	allow_all();
	if (status == 0) {
		assert_int_equal(size, whole_size);
		assert_memory_equal(bytes, whole, size);
	} else {
		assert_int_equal(status, -ENOMEM);
		assert_null(bytes);
		assert_true(error.message[0]);
	}
	free(bytes);
}

/* All ticks into frames; a frame that could not be made is made again. */
static void write_frames(struct bytes frames[TICKS], bool is_key[TICKS])
{
	struct frame_writer *writer = frame_writer_new();
	struct error error = { 0 };

	if (!writer) {
		allow_all();
		writer = frame_writer_new();
	}
	for (size_t i = 0; i < TICKS; i++) {
		int status = frame_write(writer, snapshots[i], &frames[i], &is_key[i], &error);

		if (status == 0)
			continue;
		allow_all();
		assert_int_equal(status, -ENOMEM);
		assert_int_equal(frame_write(writer, snapshots[i], &frames[i], &is_key[i], &error),
				 0);
		assert_true(is_key[i]);
	}
	frame_writer_free(writer);
}

static void assert_frames(const struct bytes frames[TICKS], const bool is_key[TICKS])
{
	struct frame_reader *reader = frame_reader_new();

	for (size_t i = 0; i < TICKS; i++) {
		struct snapshot *got = NULL;
		struct error error = { 0 };
		int status = (is_key[i] ? frame_read_key : frame_read_change)(
			reader, "tick", frames[i].data, frames[i].size, &error);

		if (status == 0)
			status = frame_reader_snapshot(reader, "tick", &got, &error);
		assert_string_equal(error.message, "");
		assert_int_equal(status, 0);
		assert_same_snapshot(snapshots[i], got);
		snapshot_free(got);
	}
	frame_reader_free(reader);
}

static void write_once(const struct snapshot *snapshot)
{
	struct bytes frames[TICKS] = { 0 };
	bool is_key[TICKS];

	(void)snapshot;
	write_frames(frames, is_key);
	allow_all();
	assert_frames(frames, is_key);
	for (size_t i = 0; i < TICKS; i++)
		bytes_free(&frames[i]);
}

/* Nothing can be read after a frame that failed, up to the next key frame. */
static void read_frames(const struct bytes frames[TICKS])
{
	struct frame_reader *reader = frame_reader_new();
	int status = reader ? 0 : -ENOMEM;

	for (size_t i = 0; i < TICKS && status == 0; i++) {
		struct snapshot *got = NULL;
		struct error error = { 0 };

		status = (i == 0 ? frame_read_key : frame_read_change)(
			reader, "tick", frames[i].data, frames[i].size, &error);
		if (status == 0)
			status = frame_reader_snapshot(reader, "tick", &got, &error);
		assert_int_equal(status == 0, got != NULL);
		assert_int_equal(status != 0, error.message[0] != '\0');
		if (got)
			assert_same_snapshot(snapshots[i], got);
		snapshot_free(got);
	}
	allow_all();
	assert_true(status == 0 || status == -ENOMEM);
	frame_reader_free(reader);
}

static struct bytes kept[TICKS];

static void read_once(const struct snapshot *snapshot)
{
	(void)snapshot;
	read_frames(kept);
}

static void try_all(attempt *once, const struct snapshot *snapshot)
{
	unsigned long count;

	memory.asked = 0;
	once(snapshot);
	count = memory.asked;
	assert_true(count > 5);
	for (unsigned long refused = 1; refused <= count; refused += 1 + refused / 100)
		for (int for_good = 0; for_good < 2; for_good++) {
			memory.asked = 0;
			memory.refused = refused;
			memory.for_good = for_good;
			once(snapshot);
		}
}

static void try_encoder(encode *wanted, const struct snapshot *snapshot)
{
	struct error error = { 0 };

	encoder = wanted;
	assert_int_equal(encoder(snapshot, &whole, &whole_size, &error), 0);
	try_all(encode_once, snapshot);
	free(whole);
}

static struct snapshot *read_file(const char *name)
{
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("TASKSCOPE_TEST_DATA"), name);
	assert_int_equal(snapshot_file_read(path, &snapshot, &error), 0);
	return snapshot;
}

static void files_are_made_whole_or_not_at_all(void **state)
{
	static const char *const names[] = { "files/format-1.tscope",
					     "files/format-1-readings.tscope",
					     "files/format-1-scopes.tscope",
					     "ctprof/full.ctprof.zst" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct snapshot *snapshot = read_file(names[i]);

		try_encoder(snapshot_encode, snapshot);
		try_encoder(ctprof_encode, snapshot);
		snapshot_free(snapshot);
	}
}

static void frames_are_written_whole_or_again(void **state)
{
	(void)state;
	try_all(write_once, NULL);
}

static void frames_are_read_whole_or_not_at_all(void **state)
{
	bool is_key[TICKS];

	(void)state;
	write_frames(kept, is_key);
	assert_true(is_key[0] && !is_key[1] && !is_key[2]);
	try_all(read_once, NULL);
	for (size_t i = 0; i < TICKS; i++)
		bytes_free(&kept[i]);
}

static int make_ticks(void **state)
{
	(void)state;
	for (size_t i = 0; i < TICKS; i++)
		snapshots[i] = made_snapshot(&host, i);
	return 0;
}

static int free_ticks(void **state)
{
	(void)state;
	for (size_t i = 0; i < TICKS; i++)
		snapshot_free(snapshots[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_made_whole_or_not_at_all),
		cmocka_unit_test(frames_are_written_whole_or_again),
		cmocka_unit_test(frames_are_read_whole_or_not_at_all),
	};

	return cmocka_run_group_tests_name("write_memory", tests, make_ticks, free_ticks);
}
