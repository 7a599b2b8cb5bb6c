/* SPDX-License-Identifier: MIT */
#include "fuzz_text.h"
#include "host/wait/call_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct call_text call = { .number = 77 };

	fuzz_require(call_text_parse(text, &call) || call.number == 77);
	free(text);
	return 0;
}
