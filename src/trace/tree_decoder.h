/* SPDX-License-Identifier: MIT */
/*
 * Turns the records of the BPF programs (bpf/tree.h) into events of a tree.
 *
 * Bytes are checked before they are believed: sizes against the kind of record, counts against
 * the size.
 */
#ifndef TRACE_TREE_DECODER_H
#define TRACE_TREE_DECODER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/tree.h"
#include "model/tree_event.h"

/* Large: has room for what a record points to.  The first members are set by its owner. */
struct tree_decoder {
	uint64_t page_bytes;
	int64_t boottime_offset_ns; /* from the kernel's to our time namespace's */
	struct tree_syscall calls[TREE_CALLS_MAX];
	struct tree_waker wakers[TREE_WAKERS_MAX];
};

/*
 * The size of the record that begins there; 0 when there is not all of it yet, -EBADMSG when
 * it is none.
 */
ssize_t tree_record_size(const void *bytes, size_t length);

/*
 * Hands over the events of one record of `length` bytes.  Returns 0, -EBADMSG, or what the sink
 * returned.  Tasks outside of our PID namespace, which have no number, give no events.
 */
int tree_decoder_send(struct tree_decoder *decoder, const void *bytes, size_t length,
		      tree_event_sink *sink, void *context);

#endif
