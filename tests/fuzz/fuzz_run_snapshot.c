/* SPDX-License-Identifier: MIT */
/*
 * A run in a .tscope file, whoever wrote it: the input is a file, or a payload that is compressed
 * and sealed as the writer would.  What can be read is judged, shown, exported and written again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "analyze/verdict/diagnosis.h"
#include "base/error.h"
#include "fuzz_export.h"
#include "model/run/run_snapshot.h"
#include "model/snapshot/snapshot.h"
#include "model/tree/run.h"
#include "render/run/verdict_json.h"
#include "store/run/run_json.h"
#include "render/run/run_text.h"
#include "store/tscope/bytes.h"
#include "store/tscope/container.h"
#include "store/snapshot_file.h"

static void show(const struct run *run)
{
	struct run_text_options options = { .width = 80, .rows = 5, .is_verbose = true };
	struct diagnosis diagnosis = { 0 };
	FILE *out = fopen("/dev/null", "w");

	if (!out)
		return;
	diagnose(run, &diagnosis);
	run_text_report(out, run, &diagnosis, &options);
	run_json_summary(out, run, diagnosis_json, &diagnosis, false);
	fuzz_export(run, out);
	fclose(out);
}

static void write_again(const struct run *run)
{
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	void *bytes = NULL;
	size_t size;

	if (run_to_snapshot(run, &snapshot) < 0 ||
	    snapshot_encode(snapshot, &bytes, &size, &error) < 0)
		abort();
	free(bytes);
	snapshot_free(snapshot);
}

static void try_file(const void *bytes, size_t size)
{
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	struct run *run = NULL;

	if (snapshot_decode("the snapshot", bytes, size, &snapshot, &error) < 0)
		return;
	if (snapshot_is_run(snapshot)) {
		if (run_from_snapshot(snapshot, &run) < 0)
			abort();
		show(run);
		write_again(run);
		run_free(run);
	}
	snapshot_free(snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t bound = ZSTD_compressBound(size);
	struct bytes file = { 0 };

	try_file(data, size);
	if (!bytes_reserve(&file, HEADER_SIZE + bound))
		return 0;
	file.size = HEADER_SIZE + ZSTD_compress(file.data + HEADER_SIZE, bound, data, size, 1);
	container_seal(&file, 0);
	if (!file.failed)
		try_file(file.data, file.size);
	bytes_free(&file);
	return 0;
}
