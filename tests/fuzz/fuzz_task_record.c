/* SPDX-License-Identifier: MIT */
/*
 * Records of the task iterator, parsed and decoded as they come from the kernel, one after the
 * other.  The first byte says how many words an affinity mask has.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpulist.h"
#include "collect/proc/affinity.h"
#include "collect/task/task_decoder.h"
#include "collect/task/task_record.h"
#include "model/snapshot/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode_all(struct task_decoder *decoder, const char *bytes, size_t length, size_t words)
{
	struct task_record record;
	int used;

	while ((used = task_record_parse(bytes, length, words, &record)) > 0) {
		if (task_decoder_add(decoder, &record, 0) < 0)
			break;
		bytes += used;
		length -= (size_t)used;
	}
	task_decoder_finish(decoder);
	(void)snapshot_finish(decoder->snapshot);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t online_words[] = { 0xff00ff, 1 };
	const struct cpuset online = { online_words, 2 };
	struct task_decoder decoder = {
		.scale = { .tick_ns = 10000000, .page_bytes = 4096 },
		.boottime_ns = 1000000000000,
	};
	char *records; /* aligned, as the kernel's are */
	size_t words;

	if (size < 2 || snapshot_new(&decoder.snapshot) < 0)
		return 0;
	words = 1 + data[0] % 4;
	records = malloc(size - 1);
	if (records)
		memcpy(records, data + 1, size - 1);
	decoder.affinity = affinity_lists_new(decoder.snapshot, &online, words);
	if (records && decoder.affinity)
		decode_all(&decoder, records, size - 1, words);
	affinity_lists_free(decoder.affinity);
	snapshot_free(decoder.snapshot);
	free(records);
	return 0;
}
