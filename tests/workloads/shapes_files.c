/* SPDX-License-Identifier: MIT */
/* Shapes that read a file which is not in memory, each by other calls. */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "shapes.h"

#define PAGE 4096
#define BLOCK (16 * PAGE)
#define FILE_SIZE (64 << 20)

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

static uint64_t block_offset(uint64_t number)
{
	return number * 7919 % (FILE_SIZE / BLOCK) * BLOCK;
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
				    .aio_offset = (int64_t)block_offset(i) };
		struct iocb *all[] = { &one };
		struct io_event done;

		if (syscall(SYS_io_submit, context, 1, all) != 1 ||
		    syscall(SYS_io_getevents, context, 1, 1, &done, NULL) != 1)
			exit(3);
	}
}

/* The same by io_uring_enter, through a ring of one entry. */
struct ring {
	int fd;
	struct io_uring_params params;
	char *submissions, *completions;
	struct io_uring_sqe *entries;
};

static void *map_ring(const struct ring *ring, size_t size, off_t part)
{
	return need(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, part));
}

static void open_ring(struct ring *ring)
{
	ring->fd = need_fd((int)syscall(SYS_io_uring_setup, 1, &ring->params));
	ring->submissions =
		map_ring(ring, ring->params.sq_off.array + sizeof(unsigned), IORING_OFF_SQ_RING);
	ring->completions = map_ring(ring,
				     ring->params.cq_off.cqes +
					     ring->params.cq_entries * sizeof(struct io_uring_cqe),
				     IORING_OFF_CQ_RING);
	ring->entries = map_ring(ring, sizeof(*ring->entries), IORING_OFF_SQES);
}

static void advance(char *ring, unsigned offset)
{
	__atomic_fetch_add((unsigned *)(void *)(ring + offset), 1, __ATOMIC_RELEASE);
}

static const struct io_uring_cqe *completed(const struct ring *ring, uint64_t number)
{
	const void *all = ring->completions + ring->params.cq_off.cqes;

	return (const struct io_uring_cqe *)all + number % ring->params.cq_entries;
}

void play_ring_reads(const struct scene *scene)
{
	struct ring ring = { 0 };
	char *block = need(aligned_alloc(BLOCK, BLOCK));
	int fd = open_filled(scene->path ? scene->path : "ring_reads.out", O_DIRECT);

	open_ring(&ring);
	for (uint64_t i = 0; now_ns() < scene->end_ns; i++) {
		*ring.entries = (struct io_uring_sqe){ .opcode = IORING_OP_READ,
						       .fd = fd,
						       .addr = (uint64_t)(uintptr_t)block,
						       .len = BLOCK,
						       .off = block_offset(i) };
		advance(ring.submissions, ring.params.sq_off.tail);
		if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) !=
			    1 ||
		    completed(&ring, i)->res != BLOCK)
			exit(3);
		advance(ring.completions, ring.params.cq_off.head);
	}
}

/* One thread that reads past the page cache for 7 ms of every 10, and computes for the rest. */
void play_reads_and_sums(const struct scene *scene)
{
	char *block = need(aligned_alloc(BLOCK, BLOCK));
	int fd = open_filled(scene->path ? scene->path : "reads_and_sums.out", O_DIRECT);

	for (uint64_t i = 0; now_ns() < scene->end_ns;) {
		for (uint64_t end = now_ns() + 7000000; now_ns() < end; i++)
			if (pread(fd, block, BLOCK, (off_t)block_offset(i)) != BLOCK)
				exit(3);
		spin_until(now_ns() + 3000000);
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
