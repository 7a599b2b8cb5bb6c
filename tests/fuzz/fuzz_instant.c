/* SPDX-License-Identifier: MIT */
/* Instants after the name of a recording: a time that can be told, or a sentence. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "fuzz_text.h"
#include "store/history/history.h"
#include "store/history/instant.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct history_span extent = { UINT64_C(1714557600000000000),
					     UINT64_C(1714640400000000000) };
	char *text = fuzz_text(data, size);
	struct error error = { 0 };
	uint64_t instant = 0;

	if (instant_parse(text, &extent, &instant, &error) < 0)
		fuzz_require(error.message[0] && !instant);
	else
		fuzz_require(instant <= INT64_MAX);
	free(text);
	return 0;
}
