/* SPDX-License-Identifier: MIT */
/*
 * What the writers of blocks share.  Each builds the body of its block in `body`.  A failure (there
 * is only one: memory ran out) is remembered in the file that is being made.
 *
 * Texts come before the blocks that refer to them.  So the writers of those run twice: first to
 * find out which texts are needed, then to write.
 */
#ifndef STORE_ENCODER_H
#define STORE_ENCODER_H

#include <stdint.h>

#include "base/array.h"
#include "store/compression.h"
#include "store/tscope/layout.h"

struct encoder {
	const struct snapshot *snapshot;
	struct compressor compressor; /* its file has room for the header, then the payload */
	struct bytes body;	      /* of the block that is being built */
	uint64_t *numbers;	      /* as many as the largest table has rows */
	uint32_t *string_id; /* number in the file by number in the dictionary, 0: not used */
	struct {
		ARRAY_OF(uint32_t) ids; /* of the dictionary, in the file's order */
	} used;
	bool is_finding_strings; /* nothing is written */
	uint64_t cells;		 /* what reading the file will cost besides its bytes */
};

/* Sends the body under a name, and empties it. */
void encoder_finish_block(struct encoder *encoder, const char *name, enum block_type type);

/* Adds the first `count` numbers to the body. */
void encoder_put_series(struct encoder *encoder, size_t count);

/*
 * The number in the file of a text; for a number without a text, that of the
 * empty one.
 */
uint64_t encoder_string(struct encoder *encoder, uint64_t id);

/* encode.c, in the order of the blocks */
void encode_facts(struct encoder *encoder);
void encode_strings(struct encoder *encoder);
void encode_rows(struct encoder *encoder);
void encode_fields(struct encoder *encoder);
void encode_columns(struct encoder *encoder);
void encode_reasons(struct encoder *encoder);
void encode_sources(struct encoder *encoder);
void encode_tally(struct encoder *encoder);

/* encode_sheet.c */
void encode_sheets(struct encoder *encoder);

#endif
