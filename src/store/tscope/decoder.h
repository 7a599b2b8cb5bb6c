/* SPDX-License-Identifier: MIT */
/*
 * What the readers of blocks share.
 *
 * Each takes the body of one block and returns 0 or a negative errno.  The
 * caller treats a body that went bad or was not used up as damaged, so they
 * need not check.
 */
#ifndef STORE_DECODER_H
#define STORE_DECODER_H

#include <errno.h>
#include <stdint.h>

struct reader;
struct snapshot;

struct decoder {
	struct snapshot *snapshot;
	uint64_t cells_left;
	uint32_t seen_blocks; /* a bit for each kind, decode.c has the list */
	uint32_t seen_scopes; /* a bit for each scope whose rows were read */
	uint32_t seen_fields; /* a bit for each row of fields */
	uint32_t seen_sheets; /* a bit for each sheet */
	const char *problem;  /* why -EBADMSG, for the sentence */
};

static inline int damaged(struct decoder *decoder, const char *problem)
{
	decoder->problem = problem;
	return -EBADMSG;
}

/* decode_rows.c: what the snapshot is made of */
int decode_strings(struct decoder *decoder, const char *name, struct reader *body);
int decode_processes(struct decoder *decoder, const char *name, struct reader *body);
int decode_tasks(struct decoder *decoder, const char *name, struct reader *body);
int decode_field(struct decoder *decoder, const char *name, struct reader *body);
int decode_column(struct decoder *decoder, const char *name, struct reader *body);

/* decode_capture.c: how and where it was taken */
int decode_facts(struct decoder *decoder, const char *name, struct reader *body);
int decode_tally(struct decoder *decoder, const char *name, struct reader *body);
int decode_reasons(struct decoder *decoder, const char *name, struct reader *body);
int decode_sources(struct decoder *decoder, const char *name, struct reader *body);

/* decode_sheet.c: readings */
int decode_sheet(struct decoder *decoder, const char *name, struct reader *body);

/* Spends part of what the file may cost: 0 or -EFBIG. */
int spend_cells(struct decoder *decoder, uint64_t count, uint64_t each);

#endif
