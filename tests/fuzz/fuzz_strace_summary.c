/* SPDX-License-Identifier: MIT */
#include "fuzz_text.h"
#include "model/syscall/call_lines.h"
#include "trace/strace/strace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct call_lines lines = { 0 };
	ssize_t bad = strace_summary_parse(text, size, &lines);

	fuzz_require(bad >= 0 && (size_t)bad <= size);
	fuzz_require(lines.list.count <= size / 2);
	for (size_t i = 0; i < lines.list.count; i++)
		fuzz_require(memchr(lines.list.data[i].name, '\0', SYSCALL_NAME_SIZE));
	call_lines_clear(&lines);
	free(text);
	return 0;
}
