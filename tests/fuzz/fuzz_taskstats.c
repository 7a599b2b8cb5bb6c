/* SPDX-License-Identifier: MIT */
/*
 * Answers of the kernel's taskstats interface: the message, and the structure in it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/taskstats/taskstats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct taskstats_values values;
	struct taskstats_reply reply;
	void *message = malloc(size); /* aligned, as a receive buffer is, and not a byte longer */

	if (!message)
		return 0;
	memcpy(message, data, size);
	if (taskstats_parse(message, size, &reply) == 0 && reply.status == 0) {
		const char *bytes = reply.bytes;

		if (bytes < (char *)message || bytes + reply.length > (char *)message + size)
			abort();
		taskstats_decode(bytes, reply.length, &values);
	}
	taskstats_decode(message, size, &values);
	free(message);
	return 0;
}
