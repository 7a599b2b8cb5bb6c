/* SPDX-License-Identifier: MIT */
/*
 * Reads any file that taskscope wrote, and finds its kind by its content:
 * .tscope of a capture or of a run, the JSON lines of a run, .ctprof.zst.
 * Every verb that takes a file reads it here.
 */
#ifndef STORE_RECORDING_H
#define STORE_RECORDING_H

struct error;
struct run;
struct snapshot;

/*
 * Gives a snapshot the caller frees: of a capture, or of a run
 * (snapshot_is_run()).  0, or a negative errno with a sentence.
 */
int recording_read(const char *path, struct snapshot **ret, struct error *error);

/*
 * Gives a complete run, which the caller frees; "-" is standard input, for JSON lines.
 * 0, or a negative errno with a sentence; -EINVAL for a file that holds a
 * capture.
 */
int recording_read_run(const char *path, struct run **ret, struct error *error);

#endif
