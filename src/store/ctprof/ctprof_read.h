/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the reader share.
 *
 * Each part takes a parsed JSON value.  The first failure is remembered, and
 * ends the reading: -EBADMSG with a problem in words, -EFBIG for more than the
 * file may cost, -ENOMEM.
 */
#ifndef STORE_CTPROF_READ_H
#define STORE_CTPROF_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "store/ctprof/ctprof_stream.h"
#include "store/ctprof/ctprof_table.h"

struct ctprof_reader {
	struct ctprof_failure failure;
	struct snapshot *snapshot;
	uint64_t cell_limit;		    /* the most that the snapshot may cost */
	uint64_t text_bytes;		    /* of all distinct texts */
	size_t threads;			    /* read so far */
	const char *reasons[METRIC_STORED]; /* why a cell of the metric is missing */
	uint64_t read_failures;		    /* that the file reports */
	uint32_t dominant;		    /* text that names the file that failed most, or 0 */
	bool lacks_kernel_option;	    /* the file suspects this */
	struct text scratch;
};

/* Why a value is absent, in words. */
#define CTPROF_ZERO "0 in a ctprof file, which writes 0 for what it could not measure"
#define CTPROF_EMPTY "empty in a ctprof file: not measured"
#define CTPROF_UNLIMITED "not told apart in a ctprof file: unlimited or not measured"
#define CTPROF_DEFAULT "the default in a ctprof file, which writes it also when it was not measured"
#define CTPROF_UNMEASURED "not measured, as the ctprof file says"
#define CTPROF_MISSING "not in this ctprof file"
#define CTPROF_FOREIGN "a ctprof file has no place for it"
#define CTPROF_NO_EXTREMES                                                                         \
	"0 in a ctprof file although there were events: its kernel keeps no extremes"

/* Whether all went well up to now. */
static inline bool ctprof_is_good(const struct ctprof_reader *reader)
{
	return reader->failure.status == 0;
}

/* Takes what a function of the model returned: false when it failed, or something before it. */
bool ctprof_check(struct ctprof_reader *reader, int status);

/* Fails when the snapshot is too large for the size of its file. */
void ctprof_check_cost(struct ctprof_reader *reader);

bool ctprof_intern(struct ctprof_reader *reader, const char *text, uint32_t *ret);

/*
 * Get a member of an object.  Where the key is missing or null they return
 * false or NULL, and leave the value untouched.  So they do after a failure: a
 * wrong type or a value that does not fit.
 */
bool ctprof_get_u64(struct ctprof_reader *reader, const json_t *object, const char *key,
		    uint64_t *ret);
bool ctprof_get_i32(struct ctprof_reader *reader, const json_t *object, const char *key,
		    int32_t *ret);
bool ctprof_get_bool(struct ctprof_reader *reader, const json_t *object, const char *key,
		     bool *ret);
const char *ctprof_get_text(struct ctprof_reader *reader, const json_t *object, const char *key);
const json_t *ctprof_get_object(struct ctprof_reader *reader, const json_t *object,
				const char *key);

/* Values that are not in an object; `key` is for the sentence. */
bool ctprof_number(struct ctprof_reader *reader, const json_t *value, const char *key,
		   uint64_t *ret);
const json_t *ctprof_need_object(struct ctprof_reader *reader, const json_t *value);

/* A field of a thread, in our unit. */
struct ctprof_value {
	bool given;   /* the file has it */
	bool differs; /* and it differs from the format's default */
	uint64_t number;
};

/* Gets a field that is a metric, by its form. */
void ctprof_get_metric(struct ctprof_reader *reader, const struct ctprof_field *field,
		       const json_t *json, struct ctprof_value *ret);

/* ctprof_read_thread.c */
void ctprof_read_thread(struct ctprof_reader *reader, const json_t *thread);
/* Call it after the last thread: sorts rows, and says why cells are missing. */
void ctprof_finish_threads(struct ctprof_reader *reader);

/* ctprof_read_sheets.c; the values may be null */
void ctprof_read_smaps(struct ctprof_reader *reader, int32_t tgid, const json_t *value);
void ctprof_read_cgroup(struct ctprof_reader *reader, const char *path, const json_t *value);
void ctprof_read_pressure(struct ctprof_reader *reader, const json_t *value);
/* Reads the members that the table has, into the only row of the object's sheet. */
void ctprof_read_object(struct ctprof_reader *reader, const json_t *value, enum ctprof_object id);
/* Reads how often reading each file failed. */
void ctprof_read_failures(struct ctprof_reader *reader, const json_t *object);

/* ctprof_read_capture.c; the values may be null */
void ctprof_read_captured(struct ctprof_reader *reader, const json_t *value);
void ctprof_read_host(struct ctprof_reader *reader, const json_t *value);
void ctprof_read_parse(struct ctprof_reader *reader, const json_t *value);
/* Call it after ctprof_finish_threads(): adds what concerns the whole snapshot. */
void ctprof_finish_capture(struct ctprof_reader *reader);

#endif
