/* SPDX-License-Identifier: MIT */
/* Writes a little and syncs, again and again, into the file of the second argument. */
#include <fcntl.h>

#include "workload.h"

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	const char *path = count > 2 ? arguments[2] : "fsync_writer.out";
	int fd = need_fd(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));
	char block[4096] = { 1 };
	unsigned long syncs = 0;

	for (; now_ns() < end; syncs++) {
		if (pwrite(fd, block, sizeof(block), (off_t)(syncs % 256) * 4096) < 0)
			return 3;
		fsync(fd);
	}
	unlink(path);
	printf("fsync %lu\n", syncs);
	return 0;
}
