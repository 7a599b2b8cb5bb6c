/* SPDX-License-Identifier: MIT */
/* Shapes that are known by what the kernel does for them. */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "shapes.h"

#define PAGE 4096
#define BLOCK (16 * PAGE)
#define FILE_SIZE (64 << 20)

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

static int open_filled(const char *path, int flags)
{
	static char block[1 << 20];
	int fd = need_fd(open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600));

	for (size_t done = 0; done < FILE_SIZE; done += sizeof(block))
		if (write(fd, block, sizeof(block)) < 0)
			exit(3);
	fsync(fd);
	close(fd);
	fd = need_fd(open(path, O_RDONLY | flags));
	unlink(path);
	return fd;
}

/* Reads past the page cache, one block at a time, by io_submit and io_getevents. */
void play_aio_reads(const struct scene *scene)
{
	aio_context_t context = 0;
	char *block = need(aligned_alloc(BLOCK, BLOCK));
	int fd = open_filled(scene->path ? scene->path : "aio_reads.out", O_DIRECT);

	if (syscall(SYS_io_setup, 1, &context) < 0)
		exit(3);
	for (uint64_t i = 0; now_ns() < scene->end_ns; i++) {
		struct iocb one = { .aio_lio_opcode = IOCB_CMD_PREAD,
				    .aio_fildes = (unsigned)fd,
				    .aio_buf = (uint64_t)(uintptr_t)block,
				    .aio_nbytes = BLOCK,
				    .aio_offset =
					    (int64_t)(i * 7919 % (FILE_SIZE / BLOCK) * BLOCK) };
		struct iocb *all[] = { &one };
		struct io_event done;

		if (syscall(SYS_io_submit, context, 1, all) != 1 ||
		    syscall(SYS_io_getevents, context, 1, 1, &done, NULL) != 1)
			exit(3);
	}
}

/* Touches the pages of a mapped file in a wide stride: what does not fit in memory is read again. */
void play_mapped_reads(const struct scene *scene)
{
	int fd = open_filled(scene->path ? scene->path : "mapped_reads.out", 0);
	const volatile char *file = need(mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, fd, 0));

	madvise((void *)(uintptr_t)file, FILE_SIZE, MADV_RANDOM);
	for (uint64_t i = 0; now_ns() < scene->end_ns; i++)
		(void)file[i * 7919 % (FILE_SIZE / PAGE) * PAGE];
}
