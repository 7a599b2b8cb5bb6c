/* SPDX-License-Identifier: MIT */
#include "store/tscope/container.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"
#include "store/compression.h"

/*
 * The first byte is not ASCII, and both kinds of line ends follow: a copy that
 * drops the eighth bit or translates line ends changes the magic.
 */
static const uint8_t magic[8] = { 0xd3, 'T', 'S', 'C', '\r', '\n', 0x1a, '\n' };

/* The first bytes of a file; numbers are little-endian. */
struct header {
	uint8_t magic[8];
	uint32_t version;
	uint32_t flags;
	uint64_t payload_size;
	uint64_t padding_size;
};

_Static_assert(sizeof(struct header) == HEADER_SIZE, "the header has no gaps");

const struct size_limit container_bytes = { 8 << 20, 64, 1 << 30 };
const struct size_limit container_cells = { 1 << 20, 16, 1 << 29 };

bool container_is_likely(const void *bytes, size_t size)
{
	return size >= 4 && memcmp(bytes, magic, 4) == 0;
}

static int check_magic(const void *bytes, size_t available, const char *name, struct error *error)
{
	size_t length = available < sizeof(magic) ? available : sizeof(magic);

	if (available == 0)
		return error_set(error, -EBADMSG, "%s is empty: capture again", name);
	if (memcmp(bytes, magic, length) == 0)
		return 0;
	if (length == sizeof(magic) && memcmp((const char *)bytes + 1, magic + 1, 3) == 0)
		return error_set(error, -EBADMSG,
				 "%s was damaged, as copying in text mode does: copy it again in "
				 "binary mode",
				 name);
	return error_set(error, -EBADMSG,
			 "%s is not a snapshot: `taskscope capture -o NAME.tscope` writes one",
			 name);
}

static int cut_short(const char *name, uint64_t size, struct error *error)
{
	return error_set(error, -EBADMSG,
			 "%s is cut short after %" PRIu64 " bytes: copy it again or capture again",
			 name, size);
}

static int check_sizes(const struct container *container, uint64_t file_size, const char *name,
		       struct error *error)
{
	uint64_t size = HEADER_SIZE + CHECKSUM_SIZE;

	if (__builtin_add_overflow(size, container->payload_size, &size) ||
	    __builtin_add_overflow(size, container->padding_size, &size) || size > file_size)
		return cut_short(name, file_size, error);
	if (size < file_size)
		return error_set(error, -EBADMSG,
				 "%s is damaged: %" PRIu64 " bytes follow after its end", name,
				 file_size - size);
	return 0;
}

int container_open(const void *bytes, size_t available, uint64_t file_size, const char *name,
		   struct container *ret, struct error *error)
{
	int status = check_magic(bytes, available, name, error);
	struct container container;
	struct header header;
	uint32_t version;

	if (status < 0)
		return status;
	if (available < HEADER_SIZE)
		return cut_short(name, file_size, error);
	memcpy(&header, bytes, sizeof(header));
	version = le32toh(header.version);
	if (version > FORMAT_VERSION)
		return error_set(error, -ENOTSUP,
				 "%s was written by a newer taskscope (format %" PRIu32
				 "); this one reads up to %d",
				 name, version, FORMAT_VERSION);
	if (version == 0 || header.flags != 0)
		return error_set(error, -EBADMSG, "%s is damaged: its header is wrong", name);
	container.payload_size = le64toh(header.payload_size);
	container.padding_size = le64toh(header.padding_size);
	status = check_sizes(&container, file_size, name, error);
	if (status < 0)
		return status;
	*ret = container;
	return 0;
}

int container_check(const void *bytes, size_t size)
{
	uint64_t stored;

	memcpy(&stored, (const char *)bytes + size - CHECKSUM_SIZE, sizeof(stored));
	return XXH3_64bits(bytes, size - CHECKSUM_SIZE) == le64toh(stored) ? 0 : -EBADMSG;
}

void container_seal(struct bytes *file, uint64_t padding_size)
{
	uint8_t *padding = bytes_reserve(file, padding_size + CHECKSUM_SIZE);
	struct header header = { .version = htole32(FORMAT_VERSION),
				 .payload_size = htole64(file->size - HEADER_SIZE),
				 .padding_size = htole64(padding_size) };
	uint64_t checksum;

	if (!padding)
		return;
	memcpy(header.magic, magic, sizeof(magic));
	memcpy(file->data, &header, sizeof(header));
	memset(padding, 0, padding_size);
	file->size += padding_size;
	checksum = htole64(XXH3_64bits(file->data, file->size));
	bytes_put(file, &checksum, sizeof(checksum));
}

int container_padding(uint64_t file_size, uint64_t decompressed, uint64_t cells, uint64_t *ret)
{
	uint64_t needed = size_limit_file(&container_bytes, decompressed);

	if (decompressed > container_bytes.ceiling || cells > container_cells.ceiling)
		return -EFBIG;
	if (needed < size_limit_file(&container_cells, cells))
		needed = size_limit_file(&container_cells, cells);
	if (needed < file_size)
		needed = file_size;
	if (needed > FILE_SIZE_LIMIT)
		return -EFBIG;
	*ret = needed - file_size;
	return 0;
}
