/* SPDX-License-Identifier: MIT */
/*
 * Reads any file that taskscope wrote, and finds its kind by its content:
 * .tscope of a capture or of a run, the JSON lines of a run, .ctprof.zst, an instant of a recording.
 * Every verb that takes a file reads it here.  "-" is standard input, for all but a recording.
 */
#ifndef STORE_RECORDING_H
#define STORE_RECORDING_H

#include <stdbool.h>

struct error;
struct run;
struct snapshot;

/*
 * Gives a snapshot the caller frees: of a capture, or of a run
 * (snapshot_is_run()).  Of a recording it is the latest tick, or that of FILE@TIME
 * (history/instant.h).  0, or a negative errno with a sentence.
 */
int recording_read(const char *path, struct snapshot **ret, struct error *error);

/* Whether it is the store of a recording (history/history.h). */
bool recording_is_history(const char *path);

/*
 * Gives a complete run, which the caller frees.
 * 0, or a negative errno with a sentence; -EINVAL for a file that holds a
 * capture.
 */
int recording_read_run(const char *path, struct run **ret, struct error *error);

#endif
