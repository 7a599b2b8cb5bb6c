/* SPDX-License-Identifier: MIT */
#include "host/elf/process_maps.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "host/plain_file.h"

#define TEXT_MAX                                                                                   \
	((size_t)32 << 20) /* bytes of maps; by default a process has 65530 mappings at most */
#define AUXV_ENTRIES 128
#define RANGE_PATH_SIZE 64

static const char deleted_mark[] = " (deleted)";

struct cursor {
	const char *at, *end;
};

static bool take_byte(struct cursor *cursor, char byte)
{
	if (cursor->at == cursor->end || *cursor->at != byte)
		return false;
	cursor->at++;
	return true;
}

static unsigned digit_value(char byte)
{
	if (byte >= '0' && byte <= '9')
		return (unsigned)(byte - '0');
	if (byte >= 'a' && byte <= 'f')
		return (unsigned)(byte - 'a') + 10;
	return 16;
}

static bool take_number(struct cursor *cursor, unsigned base, uint64_t *ret)
{
	const char *start = cursor->at;
	uint64_t value = 0;

	for (; cursor->at < cursor->end && digit_value(*cursor->at) < base; cursor->at++)
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit_value(*cursor->at), &value))
			return false;
	*ret = value;
	return cursor->at > start;
}

/* "rwxp " */
static bool take_permissions(struct cursor *cursor, struct process_mapping *ret)
{
	if (cursor->end - cursor->at < 5 || cursor->at[4] != ' ')
		return false;
	ret->executable = cursor->at[2] == 'x';
	ret->shared = cursor->at[3] == 's';
	cursor->at += 5;
	return true;
}

/* "START-END PERMISSIONS OFFSET MAJOR:MINOR INODE": everything before the name. */
static bool take_range(struct cursor *cursor, struct process_mapping *ret)
{
	uint64_t major = 0, minor = 0;

	if (!take_number(cursor, 16, &ret->start) || !take_byte(cursor, '-') ||
	    !take_number(cursor, 16, &ret->end) || !take_byte(cursor, ' ') ||
	    !take_permissions(cursor, ret) || !take_number(cursor, 16, &ret->offset) ||
	    !take_byte(cursor, ' ') || !take_number(cursor, 16, &major) ||
	    !take_byte(cursor, ':') || !take_number(cursor, 16, &minor) ||
	    !take_byte(cursor, ' ') || !take_number(cursor, 10, &ret->inode))
		return false;
	ret->device = makedev((unsigned)major, (unsigned)minor);
	return ret->start < ret->end && major <= UINT32_MAX && minor <= UINT32_MAX;
}

int process_maps_add(struct process_maps *maps, const struct process_mapping *mapping,
		     const char *name, size_t length)
{
	size_t mark = sizeof(deleted_mark) - 1;
	struct process_mapping added = *mapping;

	if (maps->mappings.count == PROCESS_MAPPINGS_MAX)
		return -E2BIG;
	added.deleted = length > mark && memcmp(name + length - mark, deleted_mark, mark) == 0;
	if (added.deleted)
		length -= mark;
	added.name = arena_copy(&maps->names, name, length);
	return added.name ? array_append(&maps->mappings, added) : -ENOMEM;
}

/* The kernel escapes newlines and nothing else. */
static void undo_escapes(char *name)
{
	char *out = name;

	for (; *name; name++) {
		if (strncmp(name, "\\012", 4) == 0) {
			*out++ = '\n';
			name += 3;
		} else {
			*out++ = *name;
		}
	}
	*out = '\0';
}

static int parse_line(const char *line, size_t length, struct process_maps *maps)
{
	struct cursor cursor = { line, line + length };
	struct process_mapping mapping = { 0 };
	size_t count = maps->mappings.count;
	int status;

	if (!take_range(&cursor, &mapping) || memchr(line, '\0', length))
		return -EBADMSG;
	if (maps->is_of_code ? !mapping.executable : mapping.inode == 0)
		return 0;
	if (count && maps->mappings.data[count - 1].end > mapping.start)
		return -EBADMSG;
	while (take_byte(&cursor, ' '))
		;
	status = process_maps_add(maps, &mapping, cursor.at, (size_t)(cursor.end - cursor.at));
	if (status == 0)
		undo_escapes((char *)maps->mappings.data[count].name);
	return status;
}

static int compare_files(const void *left, const void *right)
{
	const struct process_mapping *a = *(struct process_mapping *const *)left;
	const struct process_mapping *b = *(struct process_mapping *const *)right;

	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	return a->start < b->start ? -1 : 1;
}

/* Marks the lowest executable mapping of each file. */
static int mark_files(struct process_maps *maps)
{
	CLEANUP(free_pointer) struct process_mapping **order = NULL;
	size_t count = 0;

	order = malloc((maps->mappings.count + 1) * sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < maps->mappings.count; i++)
		if (maps->mappings.data[i].executable)
			order[count++] = &maps->mappings.data[i];
	qsort(order, count, sizeof(*order), compare_files);
	for (size_t i = 0; i < count; i++)
		order[i]->first_of_file = i == 0 || order[i - 1]->inode != order[i]->inode ||
					  order[i - 1]->device != order[i]->device;
	return 0;
}

static int finish(struct process_maps *maps, int status, struct process_maps *ret)
{
	if (status == 0)
		status = mark_files(maps);
	if (status < 0)
		process_maps_clear(maps);
	else
		*ret = *maps;
	return status;
}

static int parse(const char *text, size_t length, bool is_of_code, struct process_maps *ret)
{
	struct process_maps maps = { .is_of_code = is_of_code };
	const char *end = text + length;
	int status = 0;

	while (status == 0 && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;

		status = parse_line(text, (size_t)(line_end - text), &maps);
		text = line_end + 1;
	}
	return finish(&maps, status, ret);
}

int process_maps_parse(const char *text, size_t length, struct process_maps *ret)
{
	return parse(text, length, false, ret);
}

/* The error of opening a file; if the process has ended, its directory has no entries: -ESRCH. */
static int open_error(void)
{
	return errno == ENOENT ? -ESRCH : -errno;
}

static int read_maps(int process, bool is_of_code, struct process_maps *ret)
{
	CLEANUP(close_fd) int fd = openat(process, "maps", O_RDONLY | O_CLOEXEC);
	CLEANUP(text_free) struct text text = { 0 };
	struct process_maps maps = { .is_of_code = is_of_code };
	int status;

	if (fd < 0)
		return open_error();
	status = procmap_query_files(fd, &maps);
	if (status == 0 && maps.mappings.count)
		return finish(&maps, status, ret);
	process_maps_clear(&maps);
	status = file_read_text(process, "maps", TEXT_MAX, &text);
	if (status < 0)
		return status == -EFBIG ? -E2BIG : status == -ENOENT ? -ESRCH : status;
	return parse(text_string(&text), text.length, is_of_code, ret);
}

int process_maps_read(int process, struct process_maps *ret)
{
	return read_maps(process, false, ret);
}

int process_maps_read_code(int process, struct process_maps *ret)
{
	return read_maps(process, true, ret);
}

void process_maps_clear(struct process_maps *maps)
{
	array_free(&maps->mappings);
	arena_clear(&maps->names);
}

const struct process_mapping *process_maps_at(const struct process_maps *maps, uint64_t address)
{
	size_t at = array_bisect(maps->mappings.data, maps->mappings.count, item->end <= address);

	return at < maps->mappings.count && maps->mappings.data[at].start <= address ?
		       &maps->mappings.data[at] :
		       NULL;
}

const struct process_mapping *process_maps_next_file(const struct process_maps *maps,
						     size_t *cursor)
{
	while (*cursor < maps->mappings.count) {
		const struct process_mapping *mapping = &maps->mappings.data[(*cursor)++];

		if (mapping->first_of_file)
			return mapping;
	}
	return NULL;
}

static void range_path(const struct process_mapping *mapping, char ret[RANGE_PATH_SIZE])
{
	snprintf(ret, RANGE_PATH_SIZE, "map_files/%" PRIx64 "-%" PRIx64, mapping->start,
		 mapping->end);
}

int process_mapping_stat(int process, const struct process_mapping *mapping, struct stat *ret)
{
	char path[RANGE_PATH_SIZE];
	struct statx found;

	range_path(mapping, path);
	if (statx(process, path, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &found) < 0)
		return -errno;
	*ret = (struct stat){
		.st_dev = makedev(found.stx_dev_major, found.stx_dev_minor),
		.st_ino = found.stx_ino,
		.st_mode = found.stx_mode,
		.st_uid = found.stx_uid,
		.st_size = (off_t)found.stx_size,
		.st_mtim = { found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec },
		.st_ctim = { found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec },
	};
	return 0;
}

static int open_by_range(int process, const struct process_mapping *mapping)
{
	CLEANUP(close_fd) int place = -1;
	char path[RANGE_PATH_SIZE];

	range_path(mapping, path);
	place = openat(process, path, O_PATH | O_CLOEXEC);
	return place < 0 ? -errno : plain_file_open(place);
}

static int open_by_name(int process, const struct process_mapping *mapping)
{
	CLEANUP(close_fd) int root = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_fd) int place = -1;
	struct stat status;

	if (root < 0)
		return open_error();
	place = plain_file_find(root, mapping->name);
	if (place < 0)
		return place;
	if (fstat(place, &status) < 0)
		return -errno;
	if (status.st_dev != mapping->device || status.st_ino != mapping->inode)
		return -ESTALE;
	return plain_file_open(place);
}

int process_mapping_open(int process, const struct process_mapping *mapping)
{
	int fd = open_by_range(process, mapping);

	if (fd == -EPERM || fd == -EACCES || fd == -ENOENT)
		fd = open_by_name(process, mapping);
	return fd;
}

static void keep_entry(const Elf64_auxv_t *entry, struct program_image *image)
{
	switch (entry->a_type) {
	case AT_ENTRY:
		image->entry = entry->a_un.a_val;
		break;
	case AT_BASE:
		image->interpreter = entry->a_un.a_val;
		break;
	}
}

int program_image_read(int process, struct program_image *ret)
{
	CLEANUP(close_fd) int fd = openat(process, "auxv", O_RDONLY | O_CLOEXEC);
	Elf64_auxv_t entries[AUXV_ENTRIES];
	struct program_image image = { 0 };
	ssize_t got;

	if (fd < 0)
		return open_error();
	got = read(fd, entries, sizeof(entries));
	if (got < 0)
		return -errno;
	for (size_t i = 0; i < (size_t)got / sizeof(entries[0]); i++)
		keep_entry(&entries[i], &image);
	if (!image.entry)
		return -ENODATA;
	*ret = image;
	return 0;
}
