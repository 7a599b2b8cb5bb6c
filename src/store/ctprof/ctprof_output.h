/* SPDX-License-Identifier: MIT */
/*
 * Writes compact JSON and compresses it at once.
 *
 * Each function adds one member, or one element where `key` is NULL, and the
 * comma before it.  A failure is remembered, and ctprof_output_finish() returns
 * it.
 *
 * Strings are untrusted bytes.  A byte that is not UTF-8 becomes the four
 * characters \xNN, so that the document is always valid.
 */
#ifndef STORE_CTPROF_OUTPUT_H
#define STORE_CTPROF_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <zstd.h>

#include "base/text.h"
#include "store/tscope/bytes.h"

struct ctprof_output {
	ZSTD_CCtx *compressor;
	struct text json;  /* not yet compressed */
	char last;	   /* the byte before that */
	uint64_t written;  /* bytes of JSON so far */
	struct bytes file; /* compressed */
	int status;
};

/* 0 or -ENOMEM.  Call ctprof_output_close() in either case. */
int ctprof_output_open(struct ctprof_output *output);
void ctprof_output_close(struct ctprof_output *output);

void ctprof_output_begin(struct ctprof_output *output, const char *key, char bracket);
void ctprof_output_end(struct ctprof_output *output, char bracket);
void ctprof_output_u64(struct ctprof_output *output, const char *key, uint64_t value);
void ctprof_output_i64(struct ctprof_output *output, const char *key, int64_t value);
void ctprof_output_bool(struct ctprof_output *output, const char *key, bool value);
void ctprof_output_null(struct ctprof_output *output, const char *key);
void ctprof_output_text(struct ctprof_output *output, const char *key, const char *text);

/* Compresses the rest, which completes `file`.  0 or -ENOMEM. */
int ctprof_output_finish(struct ctprof_output *output);

#endif
