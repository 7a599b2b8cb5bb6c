/* SPDX-License-Identifier: MIT */
/* Makes mappings and drops them at once. */
#include <sys/mman.h>

#include "workload.h"

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	unsigned long mappings = 0;

	while (now_ns() < end)
		for (int i = 0; i < 100; i++, mappings++) {
			char *memory = need(mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
						 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

			memory[0] = 1;
			munmap(memory, 1 << 16);
		}
	printf("mmap %lu\n", mappings);
	return 0;
}
