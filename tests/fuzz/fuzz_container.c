/* SPDX-License-Identifier: MIT */
/*
 * Paths come from strangers.  Whatever they are, a container has a runtime and an
 * id or neither, and one inside of all that wins.
 */
#include "analyze/group/container.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "fuzz_text.h"

#define ID "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void check_whole(const struct container *container)
{
	fuzz_require((container->runtime != NULL) == (container->id[0] != '\0'));
	fuzz_require(memchr(container->id, '\0', sizeof(container->id)) != NULL);
	fuzz_require(memchr(container->pod, '\0', sizeof(container->pod)) != NULL);
	fuzz_require(memchr(container->unit, '\0', sizeof(container->unit)) != NULL);
	fuzz_require(strchr(container->unit, '/') == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_pointer) char *path = fuzz_text(data, size);
	CLEANUP(text_free) struct text inner = { 0 };
	struct container container;

	container_find(path, &container);
	check_whole(&container);
	container_append_name(path, &inner);
	text_clear(&inner);
	text_append_string(&inner, path);
	text_append_string(&inner, "/docker/" ID);
	container_find(text_string(&inner), &container);
	fuzz_require(container.runtime != NULL);
	fuzz_require(strcmp(container.id, ID) == 0);
	fuzz_require(container.unit[0] == '\0');
	return 0;
}
