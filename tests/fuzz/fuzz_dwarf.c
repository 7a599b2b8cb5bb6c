/* SPDX-License-Identifier: MIT */
/* Any file as debug information: offsets that come out are those of whole counters. */
#include <stdlib.h>

#include "fuzz_file.h"
#include "host/oracle/dwarf_layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tsd_layout layout;
	int fd = fuzz_file(data, size);

	if (fd < 0)
		return 0;
	if (dwarf_tsd_layout(fd, &layout) == 0 && (layout.allocated % 8 || layout.deallocated % 8 ||
						   layout.allocated == layout.deallocated))
		abort();
	close(fd);
	return 0;
}
