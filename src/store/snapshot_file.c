/* SPDX-License-Identifier: MIT */
#include "store/snapshot_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "store/ctprof/ctprof.h"
#include "store/tscope/container.h"

/*
 * The formats.  A file is written in the first one whose extension its name has, so longer
 * extensions come first.  It is read by the first one that its bytes look like.
 */
static const struct snapshot_format {
	const char *extension;
	bool (*is_likely)(const void *bytes, size_t size); /* by the first bytes */
	int (*encode)(const struct snapshot *snapshot, void **ret_bytes, size_t *ret_size,
		      struct error *error);
	int (*decode)(const char *name, const void *bytes, size_t size, struct snapshot **ret,
		      struct error *error);
	bool keeps_runs; /* with their past, so that run and attach write it */
} formats[] = {
	{ ".ctprof.zst", ctprof_is_likely, ctprof_encode, ctprof_decode, false },
	{ ".tscope", container_is_likely, snapshot_encode, snapshot_decode, true },
};

static const struct snapshot_format *find_by_name(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		size_t ending = strlen(formats[i].extension);

		if (length > ending && strcmp(path + length - ending, formats[i].extension) == 0 &&
		    path[length - ending - 1] != '/')
			return &formats[i];
	}
	return NULL;
}

static const struct snapshot_format *find_by_bytes(const void *bytes, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (formats[i].is_likely(bytes, size))
			return &formats[i];
	return NULL;
}

bool snapshot_file_is_likely(const void *bytes, size_t size)
{
	return find_by_bytes(bytes, size) != NULL;
}

bool snapshot_file_keeps_runs(const char *path)
{
	const struct snapshot_format *format = find_by_name(path);

	return format && format->keeps_runs;
}

void snapshot_file_append_endings(struct text *out, bool of_runs)
{
	size_t before = out->length;

	for (size_t i = ARRAY_SIZE(formats); i-- > 0;)
		if (formats[i].keeps_runs || !of_runs)
			text_format(out, "%s%s", out->length > before ? " or " : "",
				    formats[i].extension);
}

int snapshot_file_check_name(const char *path, struct error *error)
{
	CLEANUP(text_free) struct text endings = { 0 };

	if (find_by_name(path) || strcmp(path, "-") == 0)
		return 0;
	snapshot_file_append_endings(&endings, false);
	return error_set(error, -EINVAL, "'%s' must end in %s: the kind of file follows its name",
			 path, text_string(&endings));
}

static int cannot_write(const char *path, int status, struct error *error)
{
	return error_set(error, status, "cannot write %s: %s: %s", path, strerror(-status),
			 file_write_advice(status));
}

static int replace_file(const char *path, const void *bytes, size_t size)
{
	struct file_replacement file = { .fd = -1 };
	int status = file_replace(&file, path);

	if (status < 0)
		return status;
	status = file_write(&file, bytes, size);
	if (status == 0)
		status = file_commit(&file);
	file_abandon(&file);
	return status;
}

int snapshot_file_write(const struct snapshot *snapshot, const char *path, struct error *error)
{
	CLEANUP(free_pointer) void *bytes = NULL;
	const struct snapshot_format *format = find_by_name(path);
	struct error cause = { 0 };
	size_t size;
	int status = (format ? format->encode : snapshot_encode)(snapshot, &bytes, &size, &cause);

	if (status < 0)
		return error_set(error, status, "cannot write %s: %s", path, cause.message);
	status = replace_file(path, bytes, size);
	return status < 0 ? cannot_write(path, status, error) : 0;
}

int snapshot_file_decode(const char *name, const void *bytes, size_t size, struct snapshot **ret,
			 struct error *error)
{
	const struct snapshot_format *format = find_by_bytes(bytes, size);
	struct container container;

	return format ? format->decode(name, bytes, size, ret, error) :
			container_open(bytes, size, size, name, &container, error);
}

static int open_file(const char *path, int *ret_fd, size_t *ret_size, struct error *error)
{
	/* Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever. */
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0)
		return error_set(error, -errno, "cannot open '%s': %s", path, strerror(errno));
	if (S_ISDIR(stat.st_mode))
		return error_set(error, -EISDIR, "%s is a directory, not a snapshot", path);
	if (!S_ISREG(stat.st_mode))
		return error_set(error, -EINVAL, "%s is not an ordinary file", path);
	if ((uint64_t)stat.st_size > FILE_SIZE_LIMIT)
		return error_set(error, -EFBIG, "%s is larger than any snapshot", path);
	*ret_fd = TAKE_FD(fd);
	*ret_size = (size_t)stat.st_size;
	return 0;
}

/*
 * Reads the header first, so that a large file of another kind is not read in full.  What looks
 * like none of the formats is refused as a .tscope file that is damaged.
 */
static int read_file(int fd, const char *path, size_t size, uint8_t *bytes,
		     const struct snapshot_format **ret, struct error *error)
{
	size_t head = size < HEADER_SIZE ? size : HEADER_SIZE;
	ssize_t length = file_read_at(fd, 0, bytes, head);
	struct container container;

	if (length >= 0) {
		*ret = find_by_bytes(bytes, (size_t)length);
		if (!*ret)
			return container_open(bytes, (size_t)length, size, path, &container, error);
		length = file_read_at(fd, head, bytes + head, size - head);
	}
	if (length < 0)
		return error_set(error, (int)length, "cannot read %s: %s", path,
				 strerror((int)-length));
	if ((size_t)length < size - head)
		return error_set(error, -EBADMSG, "%s became shorter while it was read: try again",
				 path);
	return 0;
}

int snapshot_file_read(const char *path, struct snapshot **ret, struct error *error)
{
	CLEANUP(close_fd) int fd = -1;
	CLEANUP(free_pointer) uint8_t *bytes = NULL;
	const struct snapshot_format *format = NULL;
	size_t size = 0;
	int status = open_file(path, &fd, &size, error);

	if (status < 0)
		return status;
	bytes = malloc(size + 1);
	if (!bytes)
		return error_set(error, -ENOMEM, "cannot read %s: not enough memory", path);
	status = read_file(fd, path, size, bytes, &format, error);
	return status < 0 ? status : format->decode(path, bytes, size, ret, error);
}
