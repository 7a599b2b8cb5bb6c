/* SPDX-License-Identifier: MIT */
/* Takes fresh pages, gives them back, takes them again. */
#include <sys/mman.h>
#include <sys/resource.h>

#include "workload.h"

#define SIZE (64UL << 20)

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	struct rusage usage;
	char *memory =
		need(mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

	madvise(memory, SIZE, MADV_NOHUGEPAGE);
	while (now_ns() < end) {
		for (size_t i = 0; i < SIZE; i += 4096)
			memory[i] = 1;
		madvise(memory, SIZE, MADV_DONTNEED);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("minor_faults %ld\n", usage.ru_minflt);
	return 0;
}
