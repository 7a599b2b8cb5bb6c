/* SPDX-License-Identifier: MIT */
#include "fuzz_text.h"
#include "host/gpu/drm_fdinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct drm_client client;

	if (drm_fdinfo_parse(text, &client)) {
		fuzz_require(client.driver[0] && client.device[0]);
		fuzz_require(strlen(client.driver) < DRM_NAME_SIZE &&
			     strlen(client.device) < DRM_NAME_SIZE);
		fuzz_require(client.has_time || !client.time_ns);
		fuzz_require(client.has_memory || !client.memory_bytes);
	}
	free(text);
	return 0;
}
