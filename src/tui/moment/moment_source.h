/* SPDX-License-Identifier: MIT */
/*
 * Where moments come from: this host, a recording, or a file.
 */
#ifndef TUI_MOMENT_SOURCE_H
#define TUI_MOMENT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct history;
struct moment;
struct moment_source;
struct sampling;
struct snapshot;

enum move_kind {
	MOVE_ON,   /* to the next moment; of a live source, now */
	MOVE_BACK, /* to the one before */
	MOVE_BY,   /* by `ns` on, or back if it is negative */
	MOVE_TO,   /* to the newest at or before `unix_ns` */
	MOVE_FIRST,
	MOVE_LAST,
	MOVE_TO_NEXT_ANOMALY, /* to the first moment at or after an anomaly opened, after this one */
	MOVE_TO_LAST_ANOMALY, /* the same before this one */
};

struct move {
	enum move_kind kind;
	int64_t ns;
	uint64_t unix_ns;
};

struct moment_source_kind {
	bool is_live;
	bool can_move; /* there are other moments than the next */
	int (*take)(struct moment_source *source, const struct move *move, struct moment *ret,
		    struct error *error);
	void (*close)(struct moment_source *source);
};

struct moment_source {
	const struct moment_source_kind *kind;
};

/*
 * Replaces the moment by another.  0; -ENODATA, with a sentence, when there is no such moment, as
 * after the end of a recording: then the moment stays.  Or another negative errno with a sentence.
 */
int moment_source_take(struct moment_source *source, const struct move *move, struct moment *moment,
		       struct error *error);
void moment_source_close(struct moment_source *source); /* NULL is allowed */
void moment_source_close_pointer(struct moment_source **source);

/*
 * Each returns 0 and a source to close, or a negative errno with a sentence.
 *
 * Live: the sampling is the caller's, and must live as long.  `store` is the path of the recording
 * that a recorder of this host writes, for its anomalies and events; NULL or a path where none is:
 * there are none.
 */
int live_source_open(struct sampling *sampling, const char *store, struct moment_source **ret,
		     struct error *error);
/*
 * Of a recording, which the source closes in either case.  It has the moments of the last `age_ns` (0:
 * all); the first one that is taken, however one moves, is the first of these, or the newest at or before
 * `at_unix_ns` unless that is 0; UINT64_MAX is the newest.
 */
int store_source_open(struct history *history, uint64_t age_ns, uint64_t at_unix_ns,
		      struct moment_source **ret, struct error *error);
/* One snapshot, which the source frees in either case. */
int file_source_open(struct snapshot *snapshot, struct moment_source **ret, struct error *error);

#endif
