/* SPDX-License-Identifier: MIT */
/*
 * Small files below a directory, read whole; and files that are replaced in one
 * step or not at all.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/place.h"

struct text;

/*
 * Opens what is really below directory fd `dir`: a link that leads out of it is
 * refused with -EXDEV, since a recorded tree may come from anyone.  O_CLOEXEC is
 * added; O_NONBLOCK keeps a pipe that nobody writes to from waiting for ever.
 * Returns an fd or a negative errno.
 */
int file_open_below(int dir, const char *path, int flags);

/*
 * Reads a file below directory fd `dir` into a buffer and ends it with a NUL.
 * Returns its length, a negative errno, or -EFBIG when it does not fit in
 * `capacity` minus one.
 */
ssize_t file_read(int dir, const char *path, char *buffer, size_t capacity);

/* The same into a growing buffer, up to `limit` bytes (then -EFBIG).  Replaces what was there. */
int file_read_text(int dir, const char *path, size_t limit, struct text *ret);

/* From an offset on, as many bytes as there are up to `size`.  Their number or a negative errno. */
ssize_t file_read_at(int fd, uint64_t offset, void *buffer, size_t size);

/*
 * A file that appears under its name only when it is complete: written without a
 * name where the file system can do that, made durable, then linked to its place
 * (see base/place.h).  Until file_commit() the old file is untouched;
 * file_abandon() removes what was written, and so does the end of the process.  A
 * failed file_commit() has replaced nothing.
 *
 * Replacing a file takes a second name for the time of two system calls; a file
 * system without O_TMPFILE needs one from start to end.  While there is such a
 * name, all signals of the calling thread that can be blocked are.
 *
 * A symbolic link stays, and the file that it points to is replaced; one that
 * points nowhere is refused.
 * Mode 0600: a snapshot tells about other people's processes.
 */
struct file_replacement {
	int fd;
	struct place place;
	char temporary[32]; /* name of ours in that place, or "" */
	bool has_blocked;
	sigset_t signals; /* blocked before */
};

int file_replace(struct file_replacement *file, const char *path);
int file_write(struct file_replacement *file, const void *bytes, size_t length);
int file_commit(struct file_replacement *file);
void file_abandon(struct file_replacement *file); /* after file_commit(): does nothing */

/*
 * Opens a file to write line by line, emptied or made with mode 0600; or the pipe,
 * terminal or device that is there, without waiting for a reader.  Where others can
 * put files, one that is there is removed and made anew: it may be a hard link to a
 * file of ours.  An fd or a negative errno.
 */
int file_open_output(const char *path);

/* What a person can do about a negative errno of these: the last part of a sentence. */
const char *file_write_advice(int status);

#endif
