/* SPDX-License-Identifier: MIT */
/*
 * Turns the records of the BPF programs (bpf/life.h) into reports.  Pure.  Bytes are checked
 * before they are used.
 */
#ifndef TRACE_LIFE_DECODER_H
#define TRACE_LIFE_DECODER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/life.h"
#include "trace/life/life_report.h"

struct life_decoder {
	uint64_t page_bytes;
	uint64_t tick_ns;	    /* start times are whole ticks */
	int64_t boottime_offset_ns; /* from the kernel's to that of our time namespace */
};

/*
 * The size of the record that begins at `bytes`; 0 when it is not complete yet, -EBADMSG when it
 * is not a record.
 */
ssize_t life_record_size(const void *bytes, size_t length);

/*
 * Decodes one record of `length` bytes; `ret` points into it.  0, or -EBADMSG.  A process outside
 * our PID namespace has the number 0.
 */
int life_decode(const struct life_decoder *decoder, const void *bytes, size_t length,
		struct life_report *ret);

/* The kind of event that a type of record stands for, or -1. */
int life_record_kind(uint32_t type);

#endif
