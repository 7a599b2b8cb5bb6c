/* Any file as a program: what it says about jemalloc and TLS stays within its own bounds. */
#include <stdlib.h>
#include <string.h>

#include "fuzz_file.h"
#include "host/elf_inspect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_findings findings;
	int fd = fuzz_file(data, size);

	if (fd < 0)
		return 0;
	if (elf_inspect(fd, &findings) == 0) {
		if (findings.build_id_size > ELF_BUILD_ID_SIZE ||
		    !memchr(findings.debuglink, '\0', sizeof(findings.debuglink)) ||
		    !memchr(findings.tsd_name, '\0', sizeof(findings.tsd_name)) ||
		    strchr(findings.debuglink, '/'))
			abort();
		if (findings.has_tsd && findings.tsd_value >= findings.tls.memsz)
			abort();
	}
	close(fd);
	return 0;
}
