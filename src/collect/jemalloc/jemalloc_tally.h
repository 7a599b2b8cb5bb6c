/* SPDX-License-Identifier: MIT */
/*
 * Counts how reading heap counters went: the outcome of each process, the tags of those that
 * failed, and the text that sums it up.
 */
#ifndef COLLECT_JEMALLOC_TALLY_H
#define COLLECT_JEMALLOC_TALLY_H

#include <stdbool.h>
#include <stdint.h>

struct capture;
struct snapshot;
struct text;

enum jemalloc_tag {
#define JEMALLOC_TAG(id, ...) JEMALLOC_##id,
#include "collect/jemalloc/jemalloc_tags.def"
	JEMALLOC_TAG_COUNT,
	JEMALLOC_READ = JEMALLOC_TAG_COUNT, /* no failure */
};

struct jemalloc_tag_info {
	const char *name;
	bool is_actionable, needs_privilege;
	const char *sentence;
};

extern const struct jemalloc_tag_info jemalloc_tags[JEMALLOC_TAG_COUNT];

/* All zeros is empty and valid. */
struct jemalloc_tally {
	uint64_t walked;   /* processes examined */
	uint64_t detected; /* of these: have jemalloc */
	uint64_t read;	   /* of these: their counters were read */
	uint64_t failed;   /* with an actionable tag */
	uint64_t refused;  /* of the failed: because we lack rights */
	uint64_t tags[JEMALLOC_TAG_COUNT];
	uint64_t threads_read, threads_missed; /* of the processes that were read */
	uint64_t stopped_ns;		       /* for which threads of targets were stopped */
	bool has_capability; /* we have CAP_SYS_PTRACE: denials have another cause */
	int cache_error;     /* negative errno when the cache on disk cannot be used, or 0 */
};

/*
 * The tag for a failure with this errno.  When we ran out of descriptors ourselves, that is
 * another tag than `tag`, so that no file is blamed.
 */
enum jemalloc_tag jemalloc_tag_for(enum jemalloc_tag tag, int error);

/* Counts the outcome of a process; `error` is the negative errno that caused the tag, or 0. */
void jemalloc_tally_count(struct jemalloc_tally *tally, enum jemalloc_tag tag, int error);

/*
 * The most frequent actionable tag; the first by name if several are equally frequent;
 * JEMALLOC_READ if there is none.
 */
enum jemalloc_tag jemalloc_dominant(const struct jemalloc_tally *tally);

/*
 * Whether at least half of the processes that are hidden or failed are so because we lack rights.
 * Hidden processes do not count as failures, but more rights would show them.
 */
bool jemalloc_is_about_privilege(const struct jemalloc_tally *tally);

/* Writes why cells are missing; writes nothing when every process with jemalloc was read. */
void jemalloc_tally_reason(const struct jemalloc_tally *tally, struct text *out);

/* Puts the tally into the snapshot's capture sheet.  0 or a negative errno. */
int jemalloc_tally_note(const struct jemalloc_tally *tally, struct snapshot *snapshot);

/*
 * After all processes were read: fills the source's report, the reason of missing cells and the
 * tally of the snapshot.  0 or -ENOMEM.
 */
int jemalloc_report(struct capture *capture, const struct jemalloc_tally *tally);

#endif
