/* SPDX-License-Identifier: MIT */
/*
 * Decodes a program's scopes from the bytes of its scope memory.  Only for scope_reader.c and its
 * parts.
 *
 * The bytes are not trusted, and may change between any two reads.  A number in them is used only
 * after it was checked against the size of the file, which is bounded.
 */
#ifndef COLLECT_SCOPE_DECODE_H
#define COLLECT_SCOPE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/collection/array.h"
#include "base/scope_layout.h"

struct error;
struct scopes;

/*
 * A larger file is refused, so that time and memory for reading are bounded whatever it contains.
 */
#define SCOPE_FILE_LIMIT ((uint64_t)64 << 20)

/*
 * Where bytes come from.  read() returns the number of bytes, less than `size` only at the end; or
 * a negative errno.
 */
struct scope_source {
	ssize_t (*read)(void *context, uint64_t offset, void *buffer, size_t size);
	void *context;
	uint64_t size;
};

/* A reading of the clocks: `ticks` of the clock that the header names. */
struct scope_moment {
	uint64_t ticks, ns;
	bool has_ticks; /* false: that clock cannot be read here */
};

/* What is kept between two copies.  All zeros is empty and valid. */
struct scope_workspace {
	ARRAY_OF(struct scope_label) labels; /* those that were read so far */
	ARRAY_OF(char) block;
	ARRAY_OF(struct scope_tally) tallies; /* statistics by label */
};

void scope_workspace_clear(struct scope_workspace *workspace);

/*
 * Reads the header and checks all places and sizes in it.  0; -EPROTO when it is not scope memory;
 * -ENOENT when it is not ready yet; -ENOTSUP for another version; failures come with a sentence.
 */
int scope_header_read(const struct scope_source *source, struct scope_header *ret,
		      struct error *error);

/*
 * Makes the copy, with a header that was just read.  The tids are those that the process itself
 * sees.
 */
int scope_source_decode(const struct scope_source *source, const struct scope_header *header,
			const struct scope_moment *moment, bool with_statistics,
			struct scope_workspace *workspace, struct scopes *ret);

/* How ticks become nanoseconds. */
struct scope_scale {
	uint64_t now_ticks, now_ns;
	double ns_per_tick; /* 0: not known, then every age is 0 */
};

struct scope_scale scope_scale_of(const struct scope_header *header,
				  const struct scope_moment *moment);
/* How long ago a stamp was; 0 for an impossible stamp. */
uint64_t scope_scale_age(const struct scope_scale *scale, uint64_t ticks);
uint64_t scope_scale_span(const struct scope_scale *scale, uint64_t ticks);

/* The statistics of one label (0: of all others), summed over all threads that were added. */
struct scope_tally {
	uint64_t count, total_ticks, self_ticks, longest_ticks, cpu_ns, cpu_samples;
	uint64_t buckets[SCOPE_BUCKETS];
};

/* Adds an array of statistics in the format of the memory.  0 or -ENOMEM. */
int scope_tallies_add(struct scope_workspace *workspace, const struct scope_header *header,
		      const char *statistics, uint32_t count);
/* Turns the tallies into the labels of a copy, those with the longest total time first. */
int scope_tallies_finish(struct scope_workspace *workspace, const struct scope_scale *scale,
			 struct scopes *ret);

/* Reads the labels that are new since the last copy, with a header that was just read.  0 or a negative errno. */
int scope_labels_read(const struct scope_source *source, const struct scope_header *header,
		      struct scope_workspace *workspace);
/* The text of a label's number; "" when there is none. */
const char *scope_label_text(const struct scope_workspace *workspace, uint32_t label);

#endif
