/* SPDX-License-Identifier: MIT */
#include "store/tscope/container.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#include "base/error.h"
#include "store/tscope/bytes.h"

/*
 * The first byte is not ASCII, and both kinds of line ends follow: a copy that
 * drops the eighth bit or translates line ends changes the magic.
 */
static const uint8_t magic[8] = { 0xd3, 'T', 'S', 'C', '\r', '\n', 0x1a, '\n' };

#define VERSION_AT 8
#define FLAGS_AT 12
#define PAYLOAD_SIZE_AT 16
#define PADDING_SIZE_AT 24

/* Each limit is a minimum for small files, so much for each byte, and a maximum. */
struct limit {
	uint64_t floor, each, ceiling;
};

static const struct limit byte_limit = { 8 << 20, 64, 1 << 30 };
static const struct limit cell_limit = { 1 << 20, 16, 1 << 29 };

static uint32_t get_u32(const void *bytes, size_t at)
{
	uint32_t value;

	memcpy(&value, (const char *)bytes + at, sizeof(value));
	return le32toh(value);
}

static uint64_t get_u64(const void *bytes, size_t at)
{
	uint64_t value;

	memcpy(&value, (const char *)bytes + at, sizeof(value));
	return le64toh(value);
}

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
	uint32_t version;

	if (status < 0)
		return status;
	if (available < HEADER_SIZE)
		return cut_short(name, file_size, error);
	version = get_u32(bytes, VERSION_AT);
	if (version > FORMAT_VERSION)
		return error_set(error, -ENOTSUP,
				 "%s was written by a newer taskscope (format %" PRIu32
				 "); this one reads up to %d",
				 name, version, FORMAT_VERSION);
	if (version == 0 || get_u32(bytes, FLAGS_AT) != 0)
		return error_set(error, -EBADMSG, "%s is damaged: its header is wrong", name);
	container.payload_size = get_u64(bytes, PAYLOAD_SIZE_AT);
	container.padding_size = get_u64(bytes, PADDING_SIZE_AT);
	status = check_sizes(&container, file_size, name, error);
	if (status < 0)
		return status;
	*ret = container;
	return 0;
}

int container_check(const void *bytes, size_t size)
{
	uint64_t stored = get_u64(bytes, size - CHECKSUM_SIZE);

	return XXH3_64bits(bytes, size - CHECKSUM_SIZE) == stored ? 0 : -EBADMSG;
}

static void put_header(uint8_t *header, uint64_t payload_size, uint64_t padding_size)
{
	uint32_t version = htole32(FORMAT_VERSION);
	uint64_t payload = htole64(payload_size);
	uint64_t padding = htole64(padding_size);

	memset(header, 0, HEADER_SIZE);
	memcpy(header, magic, sizeof(magic));
	memcpy(header + VERSION_AT, &version, sizeof(version));
	memcpy(header + PAYLOAD_SIZE_AT, &payload, sizeof(payload));
	memcpy(header + PADDING_SIZE_AT, &padding, sizeof(padding));
}

void container_seal(struct bytes *file, uint64_t padding_size)
{
	uint8_t *padding = bytes_reserve(file, padding_size + CHECKSUM_SIZE);
	uint64_t checksum;

	if (!padding)
		return;
	put_header(file->data, file->size - HEADER_SIZE, padding_size);
	memset(padding, 0, padding_size);
	file->size += padding_size;
	checksum = htole64(XXH3_64bits(file->data, file->size));
	bytes_put(file, &checksum, sizeof(checksum));
}

static uint64_t limit_for(const struct limit *limit, uint64_t file_size)
{
	if (file_size > (limit->ceiling - limit->floor) / limit->each)
		return limit->ceiling;
	return limit->floor + limit->each * file_size;
}

uint64_t container_byte_limit(uint64_t file_size)
{
	return limit_for(&byte_limit, file_size);
}

uint64_t container_cell_limit(uint64_t file_size)
{
	return limit_for(&cell_limit, file_size);
}

/* The smallest file that may hold `amount`. */
static uint64_t size_for(const struct limit *limit, uint64_t amount)
{
	if (amount <= limit->floor)
		return 0;
	return (amount - limit->floor + limit->each - 1) / limit->each;
}

int container_padding(uint64_t file_size, uint64_t decompressed, uint64_t cells, uint64_t *ret)
{
	uint64_t needed = size_for(&byte_limit, decompressed);

	if (decompressed > byte_limit.ceiling || cells > cell_limit.ceiling)
		return -EFBIG;
	if (needed < size_for(&cell_limit, cells))
		needed = size_for(&cell_limit, cells);
	if (needed < file_size)
		needed = file_size;
	if (needed > FILE_SIZE_LIMIT)
		return -EFBIG;
	*ret = needed - file_size;
	return 0;
}
