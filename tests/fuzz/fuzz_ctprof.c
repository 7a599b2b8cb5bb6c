/* SPDX-License-Identifier: MIT */
/*
 * The input, compressed, as a ctprof file.  What can be read can be written; reading
 * that again and writing it once more gives the same bytes, since nothing that a
 * file of the format can carry gets lost.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "store/ctprof/ctprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Frees the snapshot and gives the bytes of its file. */
static void *write_again(struct snapshot *snapshot, size_t *ret_size)
{
	struct error error = { 0 };
	void *bytes = NULL;

	if (ctprof_encode(snapshot, &bytes, ret_size, &error) < 0)
		abort();
	snapshot_free(snapshot);
	return bytes;
}

static int read_json(const uint8_t *json, size_t size, struct snapshot **ret, struct error *error)
{
	size_t bound = ZSTD_compressBound(size);
	void *bytes = malloc(bound);
	int status;

	if (!bytes)
		abort();
	status = ctprof_decode("the input", bytes, ZSTD_compress(bytes, bound, json, size, 1), ret,
			       error);
	free(bytes);
	return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	void *first, *second;
	size_t first_size, second_size;

	if (read_json(data, size, &snapshot, &error) < 0) {
		if (snapshot || !error.message[0])
			abort();
		return 0;
	}
	first = write_again(snapshot, &first_size);
	snapshot = NULL;
	if (ctprof_decode("what was written", first, first_size, &snapshot, &error) < 0)
		abort();
	second = write_again(snapshot, &second_size);
	if (first_size != second_size || memcmp(first, second, first_size) != 0)
		abort();
	free(first);
	free(second);
	return 0;
}
