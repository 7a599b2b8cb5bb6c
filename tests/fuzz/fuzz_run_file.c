/* SPDX-License-Identifier: MIT */
/*
 * JSON lines of a run, whoever wrote them: read, judged, shown, exported; and what is written of them is
 * read again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/verdict/diagnosis.h"
#include "base/error.h"
#include "fuzz_export.h"
#include "model/tree/run.h"
#include "render/run/verdict_json.h"
#include "store/run/run_json.h"
#include "render/run/run_text.h"
#include "store/run/run_file.h"

static struct run *read_bytes(const void *bytes, size_t size)
{
	struct error error = { 0 };
	struct run *run = NULL;
	FILE *in = size ? fmemopen((void *)bytes, size, "r") : NULL;

	if (in && run_file_read_stream(in, "it", &run, &error) < 0)
		run = NULL;
	if (in)
		fclose(in);
	return run;
}

static void write_run(const struct run *run, FILE *out, bool text)
{
	struct run_text_options options = { .width = 80, .rows = 5, .is_verbose = true };
	struct diagnosis diagnosis = { 0 };

	diagnose(run, &diagnosis);
	if (text)
		run_text_report(out, run, &diagnosis, &options);
	else
		run_json_summary(out, run, diagnosis_json, &diagnosis, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run *run = read_bytes(data, size);
	struct run *again;
	char *bytes = NULL;
	size_t length = 0;
	FILE *out;

	if (!run)
		return 0;
	out = fopen("/dev/null", "w");
	if (out) {
		write_run(run, out, true);
		fuzz_export(run, out);
		fclose(out);
	}
	out = open_memstream(&bytes, &length);
	if (out) {
		write_run(run, out, false);
		fclose(out);
		again = read_bytes(bytes, length);
		if (!again)
			abort();
		run_free(again);
	}
	free(bytes);
	run_free(run);
	return 0;
}
