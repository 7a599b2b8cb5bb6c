/* SPDX-License-Identifier: MIT */
#include "host/bpf_ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

/*
 * The map has the reader's position in its first page, the writer's in the second, and the records
 * behind them.  Positions only grow.  A record is at a multiple of 8 and has its size and two flags in
 * front of it.
 */
struct bpf_ring {
	size_t page_bytes, ring_bytes;
	unsigned long *read_position;
	const unsigned long *written_position;
	const char *records;
	bpf_ring_sink *sink;
	void *context;
	char *joined; /* a record that was in two parts */
	size_t joined_bytes;
};

static void *map_pages(int map, size_t bytes, int protection, size_t offset)
{
	void *pages = mmap(NULL, bytes, protection, MAP_SHARED, map, (off_t)offset);

	return pages == MAP_FAILED ? NULL : pages;
}

CLEANUP_POINTER(bpf_ring_close, struct bpf_ring)

int bpf_ring_map(int file, size_t ring_bytes, bpf_ring_sink *sink, void *context,
		 struct bpf_ring **ret)
{
	CLEANUP(bpf_ring_close_pointer) struct bpf_ring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return -ENOMEM;
	ring->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	ring->ring_bytes = ring_bytes;
	ring->sink = sink;
	ring->context = context;
	ring->read_position = map_pages(file, ring->page_bytes, PROT_READ | PROT_WRITE, 0);
	if (!ring->read_position)
		return -errno;
	ring->written_position =
		map_pages(file, ring->page_bytes + ring_bytes, PROT_READ, ring->page_bytes);
	if (!ring->written_position)
		return -errno;
	ring->records = (const char *)ring->written_position + ring->page_bytes;
	*ret = TAKE_PTR(ring);
	return 0;
}

int bpf_ring_open(int map, bpf_ring_sink *sink, void *context, struct bpf_ring **ret)
{
	struct bpf_map_info info = { 0 };
	__u32 length = sizeof(info);

	if (bpf_obj_get_info_by_fd(map, &info, &length) < 0)
		return -errno;
	return bpf_ring_map(map, info.max_entries, sink, context, ret);
}

void bpf_ring_close(struct bpf_ring *ring)
{
	if (!ring)
		return;
	if (ring->read_position)
		munmap(ring->read_position, ring->page_bytes);
	if (ring->written_position)
		munmap((void *)ring->written_position, ring->page_bytes + ring->ring_bytes);
	free(ring->joined);
	free(ring);
}

/* The record at that place in one piece; NULL when there is no memory. */
static void *whole_record(struct bpf_ring *ring, size_t place, size_t size)
{
	size_t first = ring->ring_bytes - place;
	char *joined;

	if (size <= first)
		return (void *)(ring->records + place);
	if (size > ring->joined_bytes) {
		joined = realloc(ring->joined, size);
		if (!joined)
			return NULL;
		ring->joined = joined;
		ring->joined_bytes = size;
	}
	memcpy(ring->joined, ring->records + place, first);
	memcpy(ring->joined + first, ring->records, size - first);
	return ring->joined;
}

/* Takes the record at the reader's position; false when it is not finished yet. */
static bool take_record(struct bpf_ring *ring, int *ret_status)
{
	unsigned long position = *ring->read_position;
	size_t mask = ring->ring_bytes - 1, place = position & mask;
	uint32_t head =
		__atomic_load_n((const uint32_t *)(ring->records + place), __ATOMIC_ACQUIRE);
	size_t size = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
	void *record;

	if (head & BPF_RINGBUF_BUSY_BIT)
		return false;
	if (!(head & BPF_RINGBUF_DISCARD_BIT)) {
		record = whole_record(ring, (place + BPF_RINGBUF_HDR_SZ) & mask, size);
		*ret_status = record ? ring->sink(ring->context, record, size) : -ENOMEM;
	}
	position += (size + BPF_RINGBUF_HDR_SZ + 7) / 8 * 8;
	__atomic_store_n(ring->read_position, position, __ATOMIC_RELEASE);
	return true;
}

/*
 * The writer tells us of a record only if we had read all before it: so its position is read again
 * after ours was written.
 */
int bpf_ring_drain(struct bpf_ring *ring)
{
	int status = 0;

	while (status >= 0 &&
	       *ring->read_position < __atomic_load_n(ring->written_position, __ATOMIC_SEQ_CST) &&
	       take_record(ring, &status))
		continue;
	return status < 0 ? status : 0;
}
