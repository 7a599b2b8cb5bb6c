/* SPDX-License-Identifier: MIT */
/*
 * Two ways in: the input as a file, which nearly always ends at the checksum;
 * and the input as a payload that is compressed and sealed as the writer would,
 * which gets to every block.
 *
 * What can be read can be written and is then the same: a second reading of it
 * gives the same bytes again.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/error.h"
#include "model/snapshot/snapshot.h"
#include "store/tscope/bytes.h"
#include "store/tscope/container.h"
#include "store/snapshot_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Frees the snapshot and gives the bytes of its file. */
static void *write_again(struct snapshot *snapshot, size_t *ret_size)
{
	struct error error = { 0 };
	void *bytes = NULL;

	if (snapshot_encode(snapshot, &bytes, ret_size, &error) < 0)
		abort();
	snapshot_free(snapshot);
	return bytes;
}

static void try_file(const void *bytes, size_t size)
{
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };
	void *first, *second;
	size_t first_size, second_size;

	if (snapshot_decode("the snapshot", bytes, size, &snapshot, &error) < 0) {
		if (snapshot || !error.message[0])
			abort();
		return;
	}
	first = write_again(snapshot, &first_size);
	snapshot = NULL;
	if (snapshot_decode("the snapshot", first, first_size, &snapshot, &error) < 0)
		abort();
	second = write_again(snapshot, &second_size);
	if (first_size != second_size || memcmp(first, second, first_size) != 0)
		abort();
	free(first);
	free(second);
}

static void try_payload(const void *payload, size_t size)
{
	size_t bound = ZSTD_compressBound(size);
	struct bytes file = { 0 };

	if (!bytes_reserve(&file, HEADER_SIZE + bound))
		return;
	file.size = HEADER_SIZE + ZSTD_compress(file.data + HEADER_SIZE, bound, payload, size, 1);
	container_seal(&file, 0);
	if (!file.failed)
		try_file(file.data, file.size);
	bytes_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_file(data, size);
	try_payload(data, size);
	return 0;
}
