/* SPDX-License-Identifier: MIT */
/*
 * Reads a BPF ring buffer.  Unlike libbpf's reader it maps the ring once, not twice in a row, and
 * copies the one record in a round that goes on at the front: the kernel counts every mapped page of a
 * ring as memory of the reader, whether it is ever read or not.
 */
#ifndef HOST_BPF_RING_H
#define HOST_BPF_RING_H

#include <stddef.h>

struct bpf_ring;

/* Takes a record; a negative errno ends the reading, after this record. */
typedef int bpf_ring_sink(void *context, void *record, size_t size);

/* 0 or a negative errno.  The map is the caller's and must stay open. */
int bpf_ring_open(int map, bpf_ring_sink *sink, void *context, struct bpf_ring **ret);
/* The same of a file that is laid out like the map of a ring of so many bytes. */
int bpf_ring_map(int file, size_t ring_bytes, bpf_ring_sink *sink, void *context,
		 struct bpf_ring **ret);
void bpf_ring_close(struct bpf_ring *ring); /* NULL is allowed */

/* Takes all that is there.  0, or what the sink returned. */
int bpf_ring_drain(struct bpf_ring *ring);

#endif
