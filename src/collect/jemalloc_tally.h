/* SPDX-License-Identifier: MIT */
/*
 * How reading heap counters went: one outcome for each process, the tags of
 * those that failed, and what is said about all of them at the end.
 */
#ifndef COLLECT_JEMALLOC_TALLY_H
#define COLLECT_JEMALLOC_TALLY_H

#include <stdbool.h>
#include <stdint.h>

struct snapshot;
struct text;

enum jemalloc_tag {
#define JEMALLOC_TAG(id, ...) JEMALLOC_##id,
#include "collect/jemalloc_tags.def"
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
	uint64_t walked;   /* processes looked at */
	uint64_t detected; /* of them: with jemalloc */
	uint64_t read;	   /* of them: with counters */
	uint64_t failed;   /* with an actionable tag */
	uint64_t refused;  /* of the failed: for want of rights */
	uint64_t tags[JEMALLOC_TAG_COUNT];
	uint64_t threads_read, threads_missed; /* of the processes that were read */
	uint64_t stopped_ns;		       /* that threads of targets were kept from running */
	bool has_capability; /* CAP_SYS_PTRACE is ours: what is denied is not for want of it */
	int cache_error;     /* negative errno when nothing can be kept for the next capture */
};

/* The tag for a failure with an errno behind it: where it is ours alone, no file is to blame. */
enum jemalloc_tag jemalloc_tag_for(enum jemalloc_tag tag, int error);

/* Counts the outcome of a process; `error` is the negative errno behind a tag, or 0. */
void jemalloc_tally_count(struct jemalloc_tally *tally, enum jemalloc_tag tag, int error);

/* The actionable tag that came most often, by name where several did; JEMALLOC_READ for none. */
enum jemalloc_tag jemalloc_dominant(const struct jemalloc_tally *tally);

/*
 * Whether at least half of what is hidden or failed is so for want of rights: processes
 * that may not even be looked at are no failures, but more rights would show them.
 */
bool jemalloc_is_about_privilege(const struct jemalloc_tally *tally);

/* Why cells are missing, in words; nothing when every process with jemalloc was read. */
void jemalloc_tally_reason(const struct jemalloc_tally *tally, struct text *out);

/* Puts the tally into the snapshot's capture sheet.  0 or a negative errno. */
int jemalloc_tally_note(const struct jemalloc_tally *tally, struct snapshot *snapshot);

#endif
