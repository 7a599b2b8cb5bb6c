/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the reader share.
 *
 * Each part takes a parsed JSON value, and returns 0 or a negative errno:
 * -EBADMSG with a problem in words, -EFBIG for more than the file may cost,
 * -ENOMEM.
 */
#ifndef STORE_CTPROF_READ_H
#define STORE_CTPROF_READ_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "store/ctprof/ctprof_table.h"

struct ctprof_reader {
	struct snapshot *snapshot;
	uint64_t cell_limit;		    /* the most that the snapshot may cost */
	uint64_t text_bytes;		    /* of all distinct texts */
	size_t threads;			    /* read so far */
	const char *reasons[METRIC_STORED]; /* why a cell of the metric is missing */
	uint64_t read_failures;		    /* that the file reports */
	uint32_t dominant;		    /* text that names the file that failed most, or 0 */
	bool lacks_kernel_option;	    /* the file suspects this */
	struct text scratch;
	char problem[256];
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

/* Keeps the words, and returns -EBADMSG. */
int ctprof_bad(struct ctprof_reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* 0, or -EFBIG when the snapshot is too large for the size of its file. */
int ctprof_check_cost(const struct ctprof_reader *reader);

int ctprof_intern(struct ctprof_reader *reader, const char *text, uint32_t *ret);

/*
 * Gets a member of an object.  Where the key is missing or null, *ret_given is
 * false and the value untouched.  A wrong type or a value that does not fit is
 * a problem.
 */
int ctprof_get_u64(struct ctprof_reader *reader, const json_t *object, const char *key,
		   bool *ret_given, uint64_t *ret);
int ctprof_get_i32(struct ctprof_reader *reader, const json_t *object, const char *key,
		   bool *ret_given, int32_t *ret);
int ctprof_get_bool(struct ctprof_reader *reader, const json_t *object, const char *key,
		    bool *ret_given, bool *ret);
int ctprof_get_text(struct ctprof_reader *reader, const json_t *object, const char *key,
		    const char **ret); /* NULL where it is not given */
int ctprof_get_object(struct ctprof_reader *reader, const json_t *object, const char *key,
		      const json_t **ret); /* NULL where it is not given */

/* A field of a thread, in our unit. */
struct ctprof_value {
	bool given; /* the file has it */
	bool told;  /* and it differs from the format's default */
	uint64_t number;
};

/*
 * Get a policy's code from its name, a state from its letter, the number of a
 * text such as "0-3,8".
 */
int ctprof_get_policy(struct ctprof_reader *reader, const json_t *object, const char *key,
		      struct ctprof_value *ret);
int ctprof_get_state(struct ctprof_reader *reader, const json_t *object, const char *key,
		     struct ctprof_value *ret);
int ctprof_get_cpus(struct ctprof_reader *reader, const json_t *object, const char *key,
		    struct ctprof_value *ret);

/* A value that is not in an object; `key` is for the sentence. */
int ctprof_number(struct ctprof_reader *reader, const json_t *value, const char *key,
		  uint64_t *ret);
/* The value must be an object, or null: then *ret is NULL. */
int ctprof_need_object(struct ctprof_reader *reader, const json_t *value, const json_t **ret);

/* ctprof_read_thread.c */
int ctprof_read_thread(struct ctprof_reader *reader, const json_t *thread);
/* Call it after the last thread: sorts rows, and says why cells are missing. */
int ctprof_finish_threads(struct ctprof_reader *reader);

/* ctprof_read_sheets.c; the values may be null */
int ctprof_read_smaps(struct ctprof_reader *reader, int32_t tgid, const json_t *value);
int ctprof_read_cgroup(struct ctprof_reader *reader, const char *path, const json_t *value);
int ctprof_read_pressure(struct ctprof_reader *reader, const json_t *value);
/* Reads the members that the table has, into the only row of a sheet. */
int ctprof_read_object(struct ctprof_reader *reader, const json_t *value, enum sheet_id sheet,
		       enum ctprof_object id);
/* Reads members of any key, each a number, into the same row. */
int ctprof_read_numbers(struct ctprof_reader *reader, enum sheet_id sheet, const char *prefix,
			const json_t *object);

/* ctprof_read_capture.c; the values may be null */
int ctprof_read_captured(struct ctprof_reader *reader, const json_t *value);
int ctprof_read_host(struct ctprof_reader *reader, const json_t *value);
int ctprof_read_probe(struct ctprof_reader *reader, const json_t *value);
int ctprof_read_parse(struct ctprof_reader *reader, const json_t *value);
int ctprof_read_taskstats(struct ctprof_reader *reader, const json_t *value);
int ctprof_read_sched_ext(struct ctprof_reader *reader, const json_t *value);
/* Call it after ctprof_finish_threads(): adds what concerns the whole snapshot. */
int ctprof_finish_capture(struct ctprof_reader *reader);

#endif
