/* SPDX-License-Identifier: MIT */
/*
 * The envelope of a .tscope file: what comes before and after the compressed
 * payload, and how much a file of a given size may decompress to.
 *
 *	magic, version, flags, payload length, padding length
 *	payload		one zstd frame
 *	padding		zeros
 *	checksum	of every byte before it
 */
#ifndef STORE_CONTAINER_H
#define STORE_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct error;
struct size_limit;

#define FORMAT_VERSION 1
#define HEADER_SIZE 32
#define CHECKSUM_SIZE 8
#define WINDOW_LOG_LIMIT 23 /* of the zstd frame: what the reader keeps to decompress */

struct container {
	uint64_t payload_size;
	uint64_t padding_size;
};

/* Whether a file that begins so is a .tscope file, even a damaged one; four bytes are enough. */
bool container_is_likely(const void *bytes, size_t size);

/*
 * Reads the header of a file of `file_size` bytes, of which `available` are in
 * memory.  Returns 0, or a negative errno with a sentence that begins with
 * `name`.
 */
int container_open(const void *bytes, size_t available, uint64_t file_size, const char *name,
		   struct container *ret, struct error *error);

/* Whether the checksum at the end of the file matches the bytes before it: 0 or -EBADMSG. */
int container_check(const void *bytes, size_t size);

/*
 * Turns HEADER_SIZE bytes of room and the payload after them into a whole
 * file.  A `file` that has failed stays failed.
 */
void container_seal(struct bytes *file, uint64_t padding_size);

/*
 * Reading costs memory in two ways: decompressed bytes, and cells (a number in
 * a row; see layout.h for what else counts as cells).  Both are limited by the
 * size of the file.  The writer adds padding where a snapshot is so regular
 * that its file would be too small.
 */
extern const struct size_limit container_bytes, container_cells;

/*
 * The padding that makes a file of `file_size` bytes large enough.  Returns 0,
 * or -EFBIG when no size is enough.
 */
int container_padding(uint64_t file_size, uint64_t decompressed, uint64_t cells, uint64_t *ret);

/* A larger file is neither written nor read. */
#define FILE_SIZE_LIMIT ((uint64_t)1 << 30)

#endif
