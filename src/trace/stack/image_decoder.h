/* SPDX-License-Identifier: MIT */
/* Reads the records in which perf events tell what processes map, fork and execute. */
#ifndef TRACE_IMAGE_DECODER_H
#define TRACE_IMAGE_DECODER_H

#include <stddef.h>
#include <stdint.h>

#include "trace/tracer_stack.h"

/*
 * Decodes one record of `length` bytes, of an event with the sample type PERF_SAMPLE_TIME.  Returns 1
 * and an event, whose path points into the record; 0 for a record that tells nothing of interest;
 * -EBADMSG.  Adds the records that the kernel says it lost to *lost.
 */
int image_record_decode(const void *bytes, size_t length, struct tracer_image_event *ret,
			uint64_t *lost);

#endif
