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

#include <stdint.h>

#include "base/collection/arena.h"
#include "base/collection/array.h"

struct capture_args;
struct error;
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
 * them.  A name with a comma that exists as a file is that file.  Returns 0, or
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

#endif
