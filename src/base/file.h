/* SPDX-License-Identifier: MIT */
/*
 * Small files below a directory, read whole; and files that are replaced in one
 * step or not at all.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
 * A file that appears under its name only when it is complete: written beside
 * its destination, made durable, then renamed over it.  Until file_commit()
 * the old file is untouched; file_abandon() removes what was written.  A failed
 * file_commit() has replaced nothing.  A symbolic link stays, and the file that
 * it points to is replaced; one that points nowhere is refused.
 * Mode 0600: a snapshot tells about other people's processes.
 */
struct file_replacement {
	int fd;
	char path[PATH_MAX];
	char temporary[PATH_MAX + 32];
};

int file_replace(struct file_replacement *file, const char *path);
int file_write(struct file_replacement *file, const void *bytes, size_t length);
int file_commit(struct file_replacement *file);
void file_abandon(struct file_replacement *file); /* after file_commit(): does nothing */

#endif
