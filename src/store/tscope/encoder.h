/* SPDX-License-Identifier: MIT */
/*
 * What the writers of blocks share.  Each builds the body of a block in `body`
 * and sends it with encoder_finish_block().
 */
#ifndef STORE_ENCODER_H
#define STORE_ENCODER_H

#include <stdint.h>
#include <zstd.h>

#include "base/array.h"
#include "store/tscope/bytes.h"
#include "store/tscope/layout.h"

struct encoder {
	const struct snapshot *snapshot;
	ZSTD_CCtx *compressor;
	struct bytes file;   /* room for the header, then the compressed payload */
	struct bytes body;   /* of the block that is being built */
	uint64_t *numbers;   /* as many as the largest table has rows */
	uint32_t *string_id; /* number in the file by number in the dictionary, 0: not used */
	struct {
		ARRAY_OF(uint32_t) ids; /* of the dictionary, in the file's order */
	} used;
	uint64_t decompressed, cells; /* what reading the file will cost */
};

/* Sends the body under a name, and empties it.  0 or -ENOMEM. */
int encoder_finish_block(struct encoder *encoder, const char *name, enum block_type type);

/* Marks a text as needed in the file.  0 or -ENOMEM. */
int encoder_use_string(struct encoder *encoder, uint64_t id);

/*
 * The number in the file of a text that was marked; for a number without a
 * text, that of the empty one.
 */
uint64_t encoder_string(const struct encoder *encoder, uint64_t id);

/* encode_sheet.c */
int encode_sheets(struct encoder *encoder);
int encode_use_sheet_strings(struct encoder *encoder);

#endif
