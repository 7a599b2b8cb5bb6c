/* SPDX-License-Identifier: MIT */
/* The kernel's description of its types. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "host/bpf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	void *bytes = malloc(size); /* aligned, as the file is, and not a byte longer */

	if (!bytes)
		return 0;
	memcpy(bytes, data, size);
	bpf_percpu_distance(bytes, size);
	free(bytes);
	return 0;
}
