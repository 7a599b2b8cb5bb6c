/* SPDX-License-Identifier: MIT */
/*
 * What the writers of blocks share.
 *
 * Each block is built in one buffer that is reused, then goes through the compressor, or to the
 * payload.  A failure (there is only one: memory ran out) is remembered.
 *
 * Texts come before the blocks that refer to them.  So the writers of those run twice: first to
 * find out which texts are needed, then to write.
 */
#ifndef STORE_ENCODER_H
#define STORE_ENCODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/compression.h"
#include "store/tscope/layout.h"

struct dictionary;

struct encoder {
	const struct snapshot *snapshot;
	struct compressor compressor; /* its file has room for the header, then the payload */
	struct bytes *payload;	      /* takes the place of the compressor when it is not NULL */
	struct bytes body;	      /* of the block that is being built */
	uint64_t *numbers;	      /* as many as the largest table has rows */
	struct dictionary *texts;     /* of the file */
	uint32_t *string_id; /* number there by number in the snapshot's dictionary, 0: not used */
	bool is_finding_strings; /* nothing is written */
	uint64_t cells;		 /* what reading the file will cost besides its bytes */
};

/* Sends the body under a name, and empties it. */
void encoder_finish_block(struct encoder *encoder, const char *name, enum block_type type);

/* Adds the first `count` numbers to the body. */
void encoder_put_series(struct encoder *encoder, size_t count);

/* The number in the file of a text; for a number without a text, that of the empty one. */
uint64_t encoder_string(struct encoder *encoder, uint64_t id);

/* Collects the values that are there, one after the other, and returns how many. */
size_t encoder_gather(struct encoder *encoder, const struct column *column, size_t rows);

#endif
