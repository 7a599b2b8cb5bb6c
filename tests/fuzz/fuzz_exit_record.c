/* SPDX-License-Identifier: MIT */
/*
 * The structure of taskstats in the record of a thread that ended.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/connector/exit_listener.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct exit_record record;
	void *bytes = malloc(size);

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	exit_record_decode(1, bytes, size, &record);
	if (memchr(record.comm, '\0', sizeof(record.comm)) == NULL)
		abort();
	free(bytes);
	return 0;
}
