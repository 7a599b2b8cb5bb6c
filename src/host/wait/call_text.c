/* SPDX-License-Identifier: MIT */
#include "host/wait/call_text.h"

#include <stdlib.h>

#include "base/text.h"

bool call_text_parse(const char *text, struct call_text *ret)
{
	struct call_text parsed = { 0 };
	const char *cursor = text;
	uint64_t number;

	if (!scan_u64(&cursor, &number) || number > UINT32_MAX)
		return false;
	parsed.number = (uint32_t)number;
	for (int i = 0; i < CALL_ARGUMENTS && *cursor == ' '; i++) {
		char *end;

		parsed.arguments[i] = strtoull(cursor + 1, &end, 16);
		cursor = end;
	}
	*ret = parsed;
	return true;
}
