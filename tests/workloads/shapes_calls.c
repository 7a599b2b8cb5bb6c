/* SPDX-License-Identifier: MIT */
/* Shapes that are known by what the kernel does for them. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "shapes.h"

#define PAGE 4096

/* Opens and closes a file all the time: nearly all its CPU time is the kernel's. */
void play_opens(const struct scene *scene)
{
	struct stat status;

	while (now_ns() < scene->end_ns)
		for (int i = 0; i < 100; i++) {
			int fd = need_fd(open("/etc/passwd", O_RDONLY));

			fstat(fd, &status);
			close(fd);
		}
}

/* Meets the limit of open files once, and computes for the rest of the time. */
void play_one_refusal(const struct scene *scene)
{
	struct rlimit limit = { 3, 3 };

	setrlimit(RLIMIT_NOFILE, &limit);
	if (open("/dev/null", O_RDONLY) >= 0)
		exit(3);
	spin_until(scene->end_ns);
}

/* Computes 1 ms, then syncs a file in memory, which takes next to no time. */
void play_memory_fsync(const struct scene *scene)
{
	int fd = need_fd(memfd_create("ledger", 0));
	char block[PAGE] = { 1 };

	while (now_ns() < scene->end_ns) {
		spin_until(now_ns() + 1000000);
		if (pwrite(fd, block, sizeof(block), 0) < 0 || fsync(fd) < 0)
			exit(3);
	}
}
