/* SPDX-License-Identifier: MIT */
/*
 * The .tscope file: one snapshot.  docs/file-format.md describes the bytes.  And
 * by the same functions the .ctprof.zst file (store/ctprof.h).
 *
 * Writing goes to a temporary file that is renamed into place, so the old file
 * stays intact whatever happens.  Reading trusts nothing: every byte is under a
 * checksum, and memory is bounded by the file's real size.
 *
 * What is written is what is read: rows in their order, values with their
 * presence, reasons, facts, sources and tally.  Only numbers in the dictionary
 * differ, since a file holds just the texts that its rows use.
 */
#ifndef STORE_SNAPSHOT_FILE_H
#define STORE_SNAPSHOT_FILE_H

#include <stddef.h>

struct error;
struct snapshot;

/* Whether the name says what kind of file is meant: 0, or -EINVAL with a sentence. */
int snapshot_file_check_name(const char *path, struct error *error);

/*
 * Writes the kind of file that the name ends in, .tscope where it says none.  The
 * snapshot is one that snapshot_finish() has put in order.  Returns 0, or a
 * negative errno with a sentence in `error`: what the system said, or -EFBIG when
 * the snapshot is too large for a file.
 */
int snapshot_file_write(const struct snapshot *snapshot, const char *path, struct error *error);

/*
 * Reads either kind of file, by what is in it.  Returns 0 and a snapshot the
 * caller frees, or a negative errno with a sentence in `error`: what the system
 * said, -EBADMSG for a file that is damaged or something else, -ENOTSUP for one of
 * a newer format, -EFBIG for one that claims more than its size can hold.
 */
int snapshot_file_read(const char *path, struct snapshot **ret, struct error *error);

/* The same on bytes in memory.  The caller frees *ret_bytes. */
int snapshot_encode(const struct snapshot *snapshot, void **ret_bytes, size_t *ret_size,
		    struct error *error);
int snapshot_decode(const void *bytes, size_t size, struct snapshot **ret, struct error *error);

/* As snapshot_decode(), for bytes that have a name to begin the sentence with. */
int snapshot_decode_named(const char *name, const void *bytes, size_t size, struct snapshot **ret,
			  struct error *error);

#endif
