/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "fuzz_text.h"
#include "host/proc/kernel_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct kernel_symbols symbols = { 0 };
	struct error error = { 0 };

	fuzz_require(kernel_symbols_parse(&symbols, text, size) <= size);
	if (kernel_symbols_finish(&symbols, &error) == 0) {
		for (size_t i = 0; i < symbols.list.count; i++) {
			uint64_t address = symbols.list.data[i].address;
			const char *name = kernel_symbols_find(&symbols, address);

			fuzz_require(name && name[0] && !strchr(name, ';'));
			fuzz_require(i == 0 || symbols.list.data[i - 1].address <= address);
		}
		kernel_symbols_find(&symbols, UINT64_MAX);
	} else {
		fuzz_require(error.message[0]);
	}
	kernel_symbols_clear(&symbols);
	free(text);
	return 0;
}
