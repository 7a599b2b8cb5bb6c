/*
 * Reads the JSON lines of a run back.  Whoever wrote the file may be a stranger, and it may be cut
 * off anywhere: a last line that is not complete is left out.  Without a summary the run is put
 * together from the lines that are there and has end RUN_UNFINISHED.  Lines of a kind, and keys, that are
 * not known are skipped.
 */
#ifndef STORE_RUN_FILE_H
#define STORE_RUN_FILE_H

struct error;
struct run;

/* "-" is standard input.  0 and a settled run that the caller frees, or a negative errno and a sentence. */
int run_file_read(const char *path, struct run **ret, struct error *error);

#endif
