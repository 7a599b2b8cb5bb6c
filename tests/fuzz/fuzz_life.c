/* SPDX-License-Identifier: MIT */
/*
 * Records of the programs that follow lives, one after the other: each is taken, refused, or ends
 * the input, and whatever the order, every event has a name that ends.
 */
#include "fuzz_text.h"
#include "trace/life/life_decoder.h"
#include "trace/life/life_source.h"

static int take(void *context, const struct life_event *event)
{
	(void)context;
	fuzz_require(event->kind < LIFE_KIND_COUNT);
	fuzz_require(memchr(event->comm, '\0', sizeof(event->comm)) != NULL);
	fuzz_require(event->task.pid > 0);
	if (event->cmd)
		fuzz_require(strlen(event->cmd) <= TREE_ARGUMENTS_MAX);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct lifecycle lifecycle;
	const struct life_decoder decoder = { .page_bytes = 4096, .tick_ns = 10000000 };
	char *bytes = fuzz_text(data, size);
	size_t used = 0;

	lifecycle.sink = take;
	while (used < size) {
		ssize_t length = life_record_size(bytes + used, size - used);
		struct life_report report;

		if (length <= 0)
			break;
		fuzz_require(life_decode(&decoder, bytes + used, (size_t)length, &report) == 0);
		fuzz_require(life_report_send(&lifecycle, &report) == 0);
		used += ((size_t)length + 7) & ~(size_t)7; /* as the ring aligns them */
	}
	life_table_clear(&lifecycle.table);
	lifecycle = (struct lifecycle){ 0 };
	free(bytes);
	return 0;
}
