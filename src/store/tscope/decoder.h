/* SPDX-License-Identifier: MIT */
/*
 * What the readers of blocks share.
 *
 * Each takes the body of one block.  The first failure is remembered, and ends
 * the reading.  The caller treats a body that went bad or was not used up as
 * damaged, so they need not check.
 */
#ifndef STORE_DECODER_H
#define STORE_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader;
struct snapshot;

struct decoder {
	struct snapshot *snapshot;
	int status;	     /* 0, -EBADMSG, -EFBIG or -ENOMEM */
	const char *problem; /* why -EBADMSG, for the sentence */
	uint64_t cells_left;
	uint32_t seen_blocks; /* a bit for each row of blocks */
	uint32_t seen_scopes; /* a bit for each scope whose rows were read */
	uint32_t seen_fields; /* a bit for each row of fields */
	uint32_t seen_sheets; /* a bit for each sheet */
};

/* Remember the first failure; return whether there was none. */
bool decoder_check(struct decoder *decoder, int status);
bool decoder_damaged(struct decoder *decoder, const char *problem);

/* Marks what is read now; false when it is there twice. */
bool decoder_mark(struct decoder *decoder, uint32_t *seen, size_t index);

/* Spends part of what the file may cost; false when nothing is left, or after a failure. */
bool decoder_spend(struct decoder *decoder, uint64_t count, uint64_t each);

/* decode_rows.c: what the snapshot is made of */
void decode_strings(struct decoder *decoder, const char *name, struct reader *body);
void decode_rows(struct decoder *decoder, const char *name, struct reader *body);
void decode_field(struct decoder *decoder, const char *name, struct reader *body);
void decode_column(struct decoder *decoder, const char *name, struct reader *body);

/* decode_capture.c: how and where it was taken */
void decode_facts(struct decoder *decoder, const char *name, struct reader *body);
void decode_tally(struct decoder *decoder, const char *name, struct reader *body);
void decode_reasons(struct decoder *decoder, const char *name, struct reader *body);
void decode_sources(struct decoder *decoder, const char *name, struct reader *body);

/* decode_sheet.c: readings */
void decode_sheet(struct decoder *decoder, const char *name, struct reader *body);

#endif
