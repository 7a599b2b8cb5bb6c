/* SPDX-License-Identifier: MIT */
/*
 * Gets the two sides of a comparison: from files, or from two captures of this
 * host with some time between them.
 *
 *	struct compare_input input = { 0 };
 *	compare_input_read(&input, words, &error);
 *	compare_input_clear(&input);
 */
#ifndef CLI_COMPARE_INPUT_H
#define CLI_COMPARE_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/collection/arena.h"
#include "base/collection/array.h"

struct capture_args;
struct error;
struct filter;
struct snapshot;

struct input_side {
	ARRAY_OF(const char *) names; /* none: captured just now */
	ARRAY_OF(struct snapshot *) snapshots;
};

/* Owns everything; all zeros is empty and valid. */
struct compare_input {
	struct arena arena;
	struct input_side before, after;
};

void compare_input_clear(struct compare_input *input);

/*
 * Reads the files of two words: each is a name, or several with commas between
 * them.  A name with a comma that exists as a file is that file.  So is a name
 * with "..": else it is an interval, split at the last ".." that has no "/"
 * beside it, and its end is in the folder of its beginning unless it has one.
 * The end of an interval of a recording may be just a time: r.db@10:00..10:05.  Returns 0, or
 * an error with a sentence; the words are checked before the first file is
 * opened.
 */
int compare_input_read(struct compare_input *input, char **words, struct error *error);

/*
 * Captures, waits, and captures again.  An interrupt ends the waiting, not the
 * comparison; a second one ends the program.  The progress is shown on standard
 * error if that is a terminal.  Processes of -p that ended meanwhile are left
 * out of the second capture.  Returns 0, or an error with a sentence.
 */
int compare_input_capture(struct compare_input *input, const struct capture_args *args,
			  uint64_t wait_ns, struct error *error);

/*
 * Reads one word, whose names are intervals, and makes the other side an interval
 * of this host: now, and after the time.  Errors as both of the above.
 */
int compare_input_read_and_capture(struct compare_input *input, const char *word,
				   const struct capture_args *args, uint64_t wait_ns,
				   struct error *error);

/*
 * Leaves only tasks that match.  Two moments of one boot are filtered as a pair, all else each by
 * itself.  Returns 0, or an error with a sentence.
 */
int compare_input_filter(struct compare_input *input, const struct filter *filter,
			 struct error *error);

/* Whether a name is taken for an interval: it has the form, and no file is called so. */
bool compare_input_is_interval(const char *name);

#endif
