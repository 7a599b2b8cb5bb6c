/* SPDX-License-Identifier: MIT */
/*
 * Names and cgroup paths come from strangers.  Whatever they are, a pattern is
 * at most three times as long, and the pattern of a name's pattern is itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/group/name_pattern.h"
#include "base/cleanup.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *name, unsigned rules, int is_stable)
{
	CLEANUP(text_free) struct text once = { 0 };
	CLEANUP(text_free) struct text twice = { 0 };

	name_pattern(name, rules, &once);
	name_pattern(text_string(&once), rules, &twice);
	if (once.length > 3 * strlen(name))
		abort();
	if (is_stable && strcmp(text_string(&once), text_string(&twice)) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_pointer) char *name = malloc(size + 1);

	if (!name)
		return 0;
	memcpy(name, data, size);
	name[size] = '\0';
	check(name, 0, 1);
	/* An instance that has several words may have one when its words are placeholders. */
	check(name, NAME_IS_PATH, 0);
	return 0;
}
