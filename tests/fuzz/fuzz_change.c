/* SPDX-License-Identifier: MIT */
/*
 * Changes of a recording's frames.  The input is the size of a payload (4 bytes, little-endian), the
 * payload, and changes to it; neither is trusted.
 *
 * Whatever they make of the payload, the changes between both are found again, and make the same of
 * it byte by byte.
 */
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "fuzz_text.h"
#include "model/snapshot/snapshot.h"
#include "store/change/change.h"
#include "store/tscope/payload.h"

static const struct change_limits limits = { .bytes = 1 << 20, .cells = 1 << 18 };

static void try_snapshot(const struct bytes *payload)
{
	struct snapshot *snapshot = NULL;
	struct error error = { 0 };

	if (payload_decode("the tick", payload, 0, &snapshot, &error) < 0)
		fuzz_require(!snapshot && error.message[0]);
	snapshot_free(snapshot);
}

static void try_again(const struct bytes *base, const struct bytes *made)
{
	struct bytes changes = { 0 }, again = { 0 };
	int status = change_find(base, made, &changes);

	if (status == 0) {
		status = change_apply(base, changes.data, changes.size, &limits, &again);
		fuzz_require(status == 0 || status == -EFBIG);
	}
	if (status == 0)
		fuzz_require(again.size == made->size &&
			     (!made->size || memcmp(again.data, made->data, made->size) == 0));
	bytes_free(&changes);
	bytes_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes base = { 0 }, made = { 0 };
	uint32_t length;

	if (size < sizeof(length))
		return 0;
	memcpy(&length, data, sizeof(length));
	length = le32toh(length);
	data += sizeof(length);
	size -= sizeof(length);
	if (length > size)
		return 0;
	bytes_put(&base, data, length);
	if (change_apply(&base, data + length, size - length, &limits, &made) == 0) {
		fuzz_require(made.size <= limits.bytes);
		try_again(&base, &made);
		try_snapshot(&made);
	}
	bytes_free(&base);
	bytes_free(&made);
	return 0;
}
