/* SPDX-License-Identifier: MIT */
/*
 * Turns the records of the BPF programs (bpf/tree/tree.h) into events of a tree.
 *
 * Bytes are checked before they are used: sizes against the kind of record, counts against the
 * size.
 */
#ifndef TRACE_TREE_DECODER_H
#define TRACE_TREE_DECODER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/tree/tree.h"
#include "model/tree/tree_event.h"

/*
 * Large: it has room for the calls and wakers of a record.  The owner sets all but the last member.
 */
struct tree_decoder {
	uint64_t page_bytes;
	int64_t boottime_offset_ns; /* from the kernel's to that of our time namespace */
	int32_t own_pid; /* who watches: a wait that its signal ends says nothing about the tree */
	struct tree_syscall calls[TREE_CALLS_MAX];
};

/*
 * The size of the record that begins at `bytes`; 0 when it is not complete yet, -EBADMSG when it
 * is not a record.
 */
ssize_t tree_record_size(const void *bytes, size_t length);

/* The task that a record is about. */
struct task_key tree_decoder_key(const struct tree_decoder *decoder,
				 const struct tree_record_head *head);

/*
 * Sends the events of one record of `length` bytes to the sink.  Returns 0, -EBADMSG, or what the
 * sink returned.  Tasks outside our PID namespace have no number and give no events.
 */
int tree_decoder_send(struct tree_decoder *decoder, const void *bytes, size_t length,
		      tree_event_sink *sink, void *context);

#endif
