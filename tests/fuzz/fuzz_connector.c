/* SPDX-License-Identifier: MIT */
/*
 * Messages of the kernel's process connector.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/connector/connector_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct connector_event event;
	void *message = malloc(size); /* aligned, as a receive buffer is, and not a byte longer */

	if (!message)
		return 0;
	memcpy(message, data, size);
	if (connector_parse(message, size, &event) == 0 && event.kernel.what == PROC_EVENT_COMM &&
	    !memchr(event.kernel.event_data.comm.comm, '\0',
		    sizeof(event.kernel.event_data.comm.comm)))
		abort();
	free(message);
	return 0;
}
