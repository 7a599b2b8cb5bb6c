/* SPDX-License-Identifier: MIT */
/*
 * Reads small files below a directory as a whole, and replaces files in one step or not at all.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/output/place.h"

struct text;

/*
 * openat2() with a RESOLVE_ rule; adds O_CLOEXEC to the flags.  The kernel gives up on a path that
 * leads up, as links in sys do, whenever a file is renamed or a mount is made anywhere meanwhile:
 * then this tries again, but not for ever.  Returns an fd or a negative errno.
 */
int file_open_resolved(int dir, const char *path, int flags, uint64_t resolve);

/*
 * Opens a file that is really below directory fd `dir`.  A link that leads out of it is refused
 * with -EXDEV, since a recorded tree may come from anyone.  Adds O_CLOEXEC to the flags.  Callers
 * that give O_NONBLOCK do not wait for ever at a pipe that nobody writes to.  Returns an fd or a
 * negative errno.
 */
int file_open_below(int dir, const char *path, int flags);

/*
 * Reads a file below directory fd `dir` into a buffer and ends it with a NUL.
 * Returns its length, a negative errno, or -EFBIG when it does not fit in
 * `capacity` minus one.
 */
ssize_t file_read(int dir, const char *path, char *buffer, size_t capacity);

/* The same into a growing buffer, up to `limit` bytes (then -EFBIG).  Replaces its old content. */
int file_read_text(int dir, const char *path, size_t limit, struct text *ret);

/* Reads up to `size` bytes from an offset on.  Returns how many there were, or a negative errno. */
ssize_t file_read_at(int fd, uint64_t offset, void *buffer, size_t size);

/*
 * A file that appears under its name only when it is complete.  It is written without a name where
 * the file system can do that, made durable, then linked to its place (see base/output/place.h).  Until
 * file_commit() the old file is untouched.  file_abandon() removes what was written; so does the
 * end of the process.  A failed file_commit() has replaced nothing.
 *
 * Replacing an existing file needs a temporary name for the time of two system calls; a file
 * system without O_TMPFILE needs one from start to end.  As long as the temporary name exists, the
 * calling thread blocks all signals that can be blocked.
 *
 * If the name is a symbolic link, the link stays and the file that it points to is replaced; a
 * link that points nowhere is refused.  The mode is 0600: a snapshot describes other people's
 * processes.
 */
struct file_replacement {
	int fd;
	struct place place;
	char temporary[32]; /* the temporary name in that place, or "" */
	bool has_blocked;
	sigset_t signals; /* blocked before */
};

int file_replace(struct file_replacement *file, const char *path);

/*
 * Whether a path means standard output: "-", or with an ending that says what is to be written there,
 * as in "-.folded".  file_replace() then writes there; nothing is replaced.
 */
bool file_is_standard_output(const char *path);
int file_write(struct file_replacement *file, const void *bytes, size_t length);
int file_commit(struct file_replacement *file);
void file_abandon(struct file_replacement *file); /* after file_commit(): does nothing */

/*
 * Opens a file to write line by line.  The file is emptied, or made with mode 0600.  A pipe,
 * terminal or device is opened without waiting for a reader.  In a directory where others can put
 * files, an existing file is removed and made anew: it may be a hard link to another file of ours.
 * Returns an fd or a negative errno.
 */
int file_open_output(const char *path);

/* Makes the directories that a path leads through, for the caller alone.  0 or a negative errno. */
int file_make_folders(const char *path);

/* What a person can do about a negative errno of these functions: the last part of a sentence. */
const char *file_write_advice(int status);

#endif
