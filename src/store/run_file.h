/* SPDX-License-Identifier: MIT */
/*
 * Reads the JSON lines of a run back.  Whoever wrote the file may be a stranger, and it may be cut
 * off anywhere: a last line that is not complete is left out.  Without a summary the run is put
 * together from the lines that are there and has end RUN_UNFINISHED.  Lines of a kind, and keys,
 * that are not known are skipped.  Of several runs in one file the last one counts.
 */
#ifndef STORE_RUN_FILE_H
#define STORE_RUN_FILE_H

#include <stdio.h>

struct error;
struct run;

/*
 * "-" is standard input.  0 and a settled run that the caller frees, or a negative errno and a
 * sentence.
 */
int run_file_read(const char *path, struct run **ret, struct error *error);

/* The same of a stream that stays open; `name` is for the sentence. */
int run_file_read_stream(FILE *in, const char *name, struct run **ret, struct error *error);

#endif
