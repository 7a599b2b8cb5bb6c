/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes files that hold one snapshot: .tscope (docs/file-format.md
 * describes the bytes) and .ctprof.zst (store/ctprof/ctprof.h).  A format is a
 * row of a table.
 *
 * The writer makes a temporary file and renames it into place, so the old file
 * stays intact whatever happens.  The reader trusts nothing: every byte is
 * covered by a checksum, and memory is bounded by the file's real size.
 *
 * Reading gives back what was written: rows in their order, values with their
 * presence, reasons, facts, sources and tally.  Only the numbers in the
 * dictionary differ, since a file holds just the texts that its rows use.
 */
#ifndef STORE_SNAPSHOT_FILE_H
#define STORE_SNAPSHOT_FILE_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct snapshot;
struct text;

/* Whether the format that the name asks for keeps the past of a run. */
bool snapshot_file_keeps_runs(const char *path);
/* Appends ".tscope or .ctprof.zst", the endings of all formats, or of those that keep runs. */
void snapshot_file_append_endings(struct text *out, bool of_runs);

/* Checks that the name says which kind of file is meant, or is "-": 0, or -EINVAL with a sentence. */
int snapshot_file_check_name(const char *path, struct error *error);

/*
 * Writes the kind of file that the name ends in, .tscope by default and to "-", standard output.  The
 * snapshot must be in the order that snapshot_finish() makes.  Returns 0, or a
 * negative errno with a sentence in `error`: the system's error, or -EFBIG when
 * the snapshot is too large for a file.
 */
int snapshot_file_write(const struct snapshot *snapshot, const char *path, struct error *error);

/*
 * Reads either kind of file, which it finds by the content.  Returns 0 and a
 * snapshot the caller frees, or a negative errno with a sentence in `error`:
 * the system's error, -EBADMSG for a file that is damaged or of another kind,
 * -ENOTSUP for one of a newer format, -EFBIG for one that claims more than its
 * size can hold.
 */
int snapshot_file_read(const char *path, struct snapshot **ret, struct error *error);

/* The same of bytes in memory; sentences begin with `name`. */
int snapshot_file_decode(const char *name, const void *bytes, size_t size, struct snapshot **ret,
			 struct error *error);

/* Whether the first bytes are those of a file that snapshot_file_read() reads. */
bool snapshot_file_is_likely(const void *bytes, size_t size);

/* A .tscope file as bytes in memory.  The caller frees *ret_bytes. */
int snapshot_encode(const struct snapshot *snapshot, void **ret_bytes, size_t *ret_size,
		    struct error *error);
/* The sentence begins with `name`. */
int snapshot_decode(const char *name, const void *bytes, size_t size, struct snapshot **ret,
		    struct error *error);

#endif
