/* SPDX-License-Identifier: MIT */
/*
 * Reads the JSON lines of a run back into a run.  The file is untrusted and may
 * be cut off anywhere: an incomplete last line is left out.  Without a summary
 * the run is put together from the lines that are there and has end
 * RUN_UNFINISHED.  Unknown kinds of lines and unknown keys are skipped.  If a
 * file has several runs, the last one counts.
 */
#ifndef STORE_RUN_FILE_H
#define STORE_RUN_FILE_H

#include <stdio.h>

struct error;
struct run;

/*
 * Returns 0 and a complete run that the caller frees, or a negative errno and a
 * sentence.
 */
int run_file_read(const char *path, struct run **ret, struct error *error);

/* The same for a stream, which stays open; `name` is for the sentence. */
int run_file_read_stream(FILE *in, const char *name, struct run **ret, struct error *error);

#endif
