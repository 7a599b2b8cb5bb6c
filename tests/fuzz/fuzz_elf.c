/* SPDX-License-Identifier: MIT */
/*
 * Any file as a program: what it says about jemalloc and TLS stays within its own bounds.  The
 * same bytes as memory of a process: however they lead on, a look at them ends.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz_file.h"
#include "fuzz_target.h"
#include "host/elf/elf_inspect.h"
#include "host/elf/loaded_elf.h"

#define READS_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at_memory(const uint8_t *data, size_t size)
{
	struct fuzz_target target = { .data = data, .size = size, .limit = READS_MAX };
	struct target_memory memory = fuzz_target_memory(&target);
	struct loaded_elf elf;

	if (size == 0 || loaded_elf_read(&memory, 0, &elf) < 0)
		return;
	fuzz_require(elf.end > elf.start);
	loaded_elf_read_id(&memory, &elf);
	fuzz_require(elf.findings.build_id_size <= ELF_BUILD_ID_SIZE);
	loaded_elf_read_symbols(&memory, &elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_findings findings;
	int fd = fuzz_file(data, size);

	look_at_memory(data, size);
	if (fd < 0)
		return 0;
	if (elf_inspect(fd, &findings) == 0) {
		if (findings.build_id_size > ELF_BUILD_ID_SIZE ||
		    !memchr(findings.debuglink, '\0', sizeof(findings.debuglink)) ||
		    strchr(findings.debuglink, '/'))
			abort();
		if (findings.has_tsd && findings.tsd_value >= findings.tls.memsz)
			abort();
	}
	close(fd);
	return 0;
}
