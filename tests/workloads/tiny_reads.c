/* SPDX-License-Identifier: MIT */
/* Reads a file byte by byte. */
#include <fcntl.h>

#include "workload.h"

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	int fd = need_fd(open("/proc/self/exe", O_RDONLY));
	unsigned long reads = 0;
	char byte;

	while (now_ns() < end)
		for (int i = 0; i < 1000; i++, reads++)
			if (read(fd, &byte, 1) != 1)
				lseek(fd, 0, SEEK_SET);
	printf("read %lu\n", reads);
	return 0;
}
