/* SPDX-License-Identifier: MIT */
#include "fuzz_text.h"
#include "host/host.h"

static void find_path(const char *text, unsigned version, const char *controller)
{
	struct cgroup_hierarchy hierarchy = { .version = version, .fd = -1 };
	size_t length = 0;
	const char *path;

	memcpy(hierarchy.controller, controller, strlen(controller) + 1);
	path = cgroup_path(text, &hierarchy, &length);
	if (path)
		fuzz_require(path > text && path + length <= text + strlen(text) &&
			     !memchr(path, '\n', length));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	find_path(text, 2, "");
	find_path(text, 1, "memory");
	find_path(text, 1, "name=systemd");
	free(text);
	return 0;
}
