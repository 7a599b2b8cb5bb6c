/* SPDX-License-Identifier: MIT */
/* Reads a file past the page cache: second argument the file, which is made and removed. */
#include <fcntl.h>

#include "workload.h"

#define BLOCK (64 << 10)
#define BLOCKS 256

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	const char *path = count > 2 ? arguments[2] : "disk_reads.out";
	char *block = need(aligned_alloc(4096, BLOCK));
	unsigned long reads = 0;
	int fd = need_fd(open(path, O_RDWR | O_CREAT | O_TRUNC, 0600));

	memset(block, 1, BLOCK);
	for (int i = 0; i < BLOCKS; i++)
		if (write(fd, block, BLOCK) != BLOCK)
			return 3;
	fsync(fd);
	close(fd);
	fd = need_fd(open(path, O_RDONLY | O_DIRECT));
	unlink(path);
	for (; now_ns() < end; reads++)
		if (pread(fd, block, BLOCK, (off_t)(reads * 37 % BLOCKS) * BLOCK) != BLOCK)
			return 3;
	printf("pread64 %lu\n", reads);
	return 0;
}
