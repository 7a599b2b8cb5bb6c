/* SPDX-License-Identifier: MIT */
/*
 * Frames: the snapshots of a recording's ticks, each in one blob.
 *
 * A key frame is a whole .tscope file.  The frames after it hold the changes since the frame
 * before, compressed with that frame's changes at hand, so that what changes in every tick costs
 * little.  A key frame and those after it are a chain.
 *
 * The checksum of a frame starts from that of the payload before it, and a frame has the checksum
 * of the payload that it makes.  So a frame that is lost or damaged makes those after it unreadable
 * up to the next key frame, never wrong.
 */
#ifndef STORE_FRAME_H
#define STORE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/tscope/bytes.h"

struct error;
struct frame_writer;
struct frame_reader;
struct snapshot;

/* Returns NULL when there is no memory. */
struct frame_writer *frame_writer_new(void);
void frame_writer_free(struct frame_writer *writer); /* NULL is allowed */

/*
 * Replaces the content of *ret by the snapshot's frame.  It is a key frame when the chain has none
 * yet, when it got long, or when the frame would be no smaller.  0, or a negative errno with a
 * sentence; then the next one begins a chain.
 */
int frame_write(struct frame_writer *writer, const struct snapshot *snapshot, struct bytes *ret,
		bool *ret_is_key, struct error *error);

/* The next frame begins a chain: the last one was not kept. */
void frame_writer_restart(struct frame_writer *writer);

struct frame_reader *frame_reader_new(void);
void frame_reader_free(struct frame_reader *reader);

/*
 * Read the next frame of a chain; a key frame begins one.  `name` is the subject of the sentence
 * when it fails, and nothing can be read until the next key frame then.
 */
int frame_read_key(struct frame_reader *reader, const char *name, const void *bytes, size_t size,
		   struct error *error);
int frame_read_change(struct frame_reader *reader, const char *name, const void *bytes, size_t size,
		      struct error *error);

/* The snapshot of the frame that was read last.  The caller frees it. */
int frame_reader_snapshot(struct frame_reader *reader, const char *name, struct snapshot **ret,
			  struct error *error);

#endif
