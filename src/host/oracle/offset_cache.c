/* SPDX-License-Identifier: MIT */
#include "host/oracle/offset_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"

#define ROOT_PLACE "/var/cache/taskscope/jemalloc"
#define NAME_SIZE (OFFSET_CACHE_ID_MAX + 32) /* kind, id, identity */
#define TEMPORARY_SIZE (NAME_SIZE + 32)
#define ENTRY_SIZE 256
#define HEADING "taskscope jemalloc offsets 2"
#define ERRNO_MAX 4095

/* The numbers of an entry, in the order of the file.  FAILURE is an errno, or 0. */
enum { DEVICE, INODE, SIZE, CHANGED_NS, FAILURE, ALLOCATED, DEALLOCATED, NUMBERS };

#define IDENTITY_NUMBERS FAILURE /* the numbers before it identify the file */

static const char *const kinds[] = {
	[OFFSET_CACHE_LIBRARY] = "library",
	[OFFSET_CACHE_PROGRAM] = "program",
	[OFFSET_CACHE_DEBUG] = "debug",
	[OFFSET_CACHE_NONE] = "none",
};

static int usual_place(char ret[PATH_MAX])
{
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	int length;

	if (geteuid() == 0)
		length = snprintf(ret, PATH_MAX, "%s", ROOT_PLACE);
	else if (base && base[0] == '/')
		length = snprintf(ret, PATH_MAX, "%s/taskscope/jemalloc", base);
	else if (home && home[0] == '/')
		length = snprintf(ret, PATH_MAX, "%s/.cache/taskscope/jemalloc", home);
	else
		return -ENOENT;
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Makes every missing directory of the path, including the last. */
static int make_directories(char *path)
{
	for (char *slash = path + 1;; slash++) {
		bool last = *slash == '\0';

		if (!last && *slash != '/')
			continue;
		*slash = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		if (last)
			return 0;
		*slash = '/';
	}
}

static bool is_ours_alone(int fd, mode_t type, mode_t denied)
{
	struct stat found;

	return fstat(fd, &found) == 0 && (found.st_mode & S_IFMT) == type &&
	       found.st_uid == geteuid() && !(found.st_mode & denied);
}

int offset_cache_open(struct offset_cache *cache, const char *path)
{
	CLEANUP(close_fd) int dir = -1;
	char place[PATH_MAX];
	int status = 0;

	cache->dir = -1;
	if (!path)
		status = usual_place(place);
	else if (snprintf(place, sizeof(place), "%s", path) >= (int)sizeof(place))
		status = -ENAMETOOLONG;
	if (status == 0)
		status = make_directories(place);
	if (status < 0)
		return status;
	dir = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (!is_ours_alone(dir, S_IFDIR, S_IWGRP | S_IWOTH))
		return -EPERM;
	cache->dir = TAKE_FD(dir);
	return 0;
}

void offset_cache_close(struct offset_cache *cache)
{
	close_fd(&cache->dir);
	cache->dir = -1;
}

static uint64_t changed_ns(const struct stat *file)
{
	return (uint64_t)file->st_mtim.tv_sec * NS_PER_SECOND + (uint64_t)file->st_mtim.tv_nsec;
}

static void fill_identity(const struct stat *file, uint64_t numbers[NUMBERS])
{
	numbers[DEVICE] = file->st_dev;
	numbers[INODE] = file->st_ino;
	numbers[SIZE] = (uint64_t)file->st_size;
	numbers[CHANGED_NS] = changed_ns(file);
}

/* Only makes names differ (FNV-1a); the identity in the entry itself is compared. */
static uint64_t hash_identity(const uint64_t numbers[NUMBERS])
{
	const uint8_t *bytes = (const uint8_t *)numbers;
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < IDENTITY_NUMBERS * sizeof(numbers[0]); i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash;
}

/* "library-0123abcd-00112233aabbccdd"; false for an id that no entry can have. */
static bool entry_name(const struct offset_cache_key *key, char ret[NAME_SIZE])
{
	size_t id_size = key->kind == OFFSET_CACHE_NONE ? 0 : key->build_id_size;
	uint64_t identity[NUMBERS];
	size_t length;

	if ((id_size == 0 && key->kind != OFFSET_CACHE_NONE) || id_size > OFFSET_CACHE_ID_MAX / 2)
		return false;
	fill_identity(key->file, identity);
	length = (size_t)snprintf(ret, NAME_SIZE, "%s-", kinds[key->kind]);
	for (size_t i = 0; i < id_size; i++)
		length += (size_t)snprintf(ret + length, NAME_SIZE - length, "%02x",
					   key->build_id[i]);
	snprintf(ret + length, NAME_SIZE - length, "-%016llx",
		 (unsigned long long)hash_identity(identity));
	return true;
}

/* The whole text must match: a shorter or longer one is not a valid entry. */
static bool parse_entry(const char *text, uint64_t ret[NUMBERS])
{
	size_t heading = strlen(HEADING);

	if (strncmp(text, HEADING, heading))
		return false;
	text += heading;
	for (size_t i = 0; i < NUMBERS; i++) {
		if (*text++ != ' ' || !scan_u64(&text, &ret[i]))
			return false;
	}
	return strcmp(text, "\n") == 0;
}

/* Whether the entry is young enough.  One from the future is not: the clock was changed. */
static bool is_fresh(int fd)
{
	struct stat file;
	time_t now = time(NULL);

	return fstat(fd, &file) == 0 && file.st_mtim.tv_sec <= now &&
	       now - file.st_mtim.tv_sec < OFFSET_CACHE_FAILURE_SECONDS;
}

static bool read_entry(int dir, const char *name, uint64_t ret[NUMBERS])
{
	CLEANUP(close_fd)
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[ENTRY_SIZE];
	ssize_t length;

	if (fd < 0 || !is_ours_alone(fd, S_IFREG, S_IRWXG | S_IRWXO))
		return false;
	length = read(fd, text, sizeof(text) - 1);
	if (length < 0)
		return false;
	text[length] = '\0';
	return parse_entry(text, ret) && (!ret[FAILURE] || is_fresh(fd));
}

int offset_cache_find(const struct offset_cache *cache, const struct offset_cache_key *key,
		      struct tsd_layout *ret)
{
	uint64_t wanted[NUMBERS], numbers[NUMBERS];
	struct tsd_layout layout;
	char name[NAME_SIZE];

	if (cache->dir < 0 || !entry_name(key, name) || !read_entry(cache->dir, name, numbers))
		return -ENOENT;
	fill_identity(key->file, wanted);
	if (memcmp(wanted, numbers, IDENTITY_NUMBERS * sizeof(numbers[0])) ||
	    numbers[FAILURE] > ERRNO_MAX)
		return -ENOENT;
	if (numbers[FAILURE])
		return -(int)numbers[FAILURE];
	layout = (struct tsd_layout){ numbers[ALLOCATED], numbers[DEALLOCATED] };
	if (!tsd_layout_is_plausible(&layout))
		return -ENOENT;
	*ret = layout;
	return 0;
}

static int write_entry(int dir, const char *name, const uint64_t numbers[NUMBERS])
{
	CLEANUP(close_fd)
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	char text[ENTRY_SIZE] = HEADING;
	size_t length = strlen(text);

	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < NUMBERS; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, " %llu",
					   (unsigned long long)numbers[i]);
	text[length++] = '\n';
	if (write(fd, text, length) != (ssize_t)length)
		return -EIO;
	return 0;
}

/* ---- room ---- */

struct found_entry {
	uint64_t changed_ns;
	char name[TEMPORARY_SIZE];
};

static void close_directory(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

/*
 * Lists the files in the cache, also temporary ones that a process of ours left when it died; at
 * most `capacity`.
 */
static size_t list_entries(int dir, struct found_entry *entries, size_t capacity)
{
	CLEANUP(close_fd) int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_directory) DIR *directory = again < 0 ? NULL : fdopendir(again);
	const struct dirent *found;
	size_t count = 0;

	if (!directory)
		return 0;
	TAKE_FD(again);
	while (count < capacity && (found = readdir(directory))) {
		struct stat file;
		size_t length = strlen(found->d_name);

		if (length >= TEMPORARY_SIZE ||
		    fstatat(dir, found->d_name, &file, AT_SYMLINK_NOFOLLOW) < 0 ||
		    S_ISDIR(file.st_mode))
			continue;
		entries[count].changed_ns = changed_ns(&file);
		memcpy(entries[count++].name, found->d_name, length + 1);
	}
	return count;
}

static int compare_ages(const void *left, const void *right)
{
	const struct found_entry *a = left, *b = right;

	return a->changed_ns < b->changed_ns ? -1 : a->changed_ns > b->changed_ns;
}

/* Lists up to twice the limit, which is more than concurrent processes of ours add. */
static void make_room(int dir)
{
	size_t capacity = 2 * OFFSET_CACHE_ENTRIES_MAX;
	CLEANUP(free_pointer) struct found_entry *entries = calloc(capacity, sizeof(*entries));
	size_t count = entries ? list_entries(dir, entries, capacity) : 0;

	if (count < OFFSET_CACHE_ENTRIES_MAX)
		return;
	qsort(entries, count, sizeof(*entries), compare_ages);
	for (size_t i = 0; i + OFFSET_CACHE_ENTRIES_MAX <= count; i++)
		unlinkat(dir, entries[i].name, 0);
}

/* ---- keeping ---- */

static int replace_entry(const struct offset_cache *cache, const char *name,
			 const uint64_t numbers[NUMBERS])
{
	char temporary[TEMPORARY_SIZE];
	int status;

	make_room(cache->dir);
	/* A process of ours with the same pid may have died and left this file. */
	snprintf(temporary, sizeof(temporary), "%s.%ld", name, (long)getpid());
	unlinkat(cache->dir, temporary, 0);
	status = write_entry(cache->dir, temporary, numbers);
	if (status == 0 && renameat(cache->dir, temporary, cache->dir, name) < 0)
		status = -errno;
	if (status < 0)
		unlinkat(cache->dir, temporary, 0);
	return status;
}

static int keep_numbers(const struct offset_cache *cache, const struct offset_cache_key *key,
			uint64_t numbers[NUMBERS])
{
	char name[NAME_SIZE];

	if (cache->dir < 0)
		return -EBADF;
	if (!entry_name(key, name))
		return -EINVAL;
	fill_identity(key->file, numbers);
	return replace_entry(cache, name, numbers);
}

int offset_cache_keep(const struct offset_cache *cache, const struct offset_cache_key *key,
		      const struct tsd_layout *layout)
{
	uint64_t numbers[NUMBERS] = {
		[ALLOCATED] = layout->allocated,
		[DEALLOCATED] = layout->deallocated,
	};

	return tsd_layout_is_plausible(layout) ? keep_numbers(cache, key, numbers) : -EINVAL;
}

int offset_cache_keep_failure(const struct offset_cache *cache, const struct offset_cache_key *key,
			      int error)
{
	uint64_t numbers[NUMBERS] = { [FAILURE] = (uint64_t)-error };

	if (error >= 0 || error < -ERRNO_MAX || error == -ENOENT)
		return -EINVAL;
	return keep_numbers(cache, key, numbers);
}

/* ---- users ---- */

static void slow_name(uint64_t user, char ret[NAME_SIZE])
{
	snprintf(ret, NAME_SIZE, "slow-user-%llu", (unsigned long long)user);
}

void offset_cache_keep_slow(const struct offset_cache *cache, uint64_t user)
{
	const uint64_t numbers[NUMBERS] = { [FAILURE] = ETIMEDOUT };
	char name[NAME_SIZE];

	slow_name(user, name);
	if (cache->dir >= 0)
		replace_entry(cache, name, numbers);
}

bool offset_cache_was_slow(const struct offset_cache *cache, uint64_t user)
{
	uint64_t numbers[NUMBERS];
	char name[NAME_SIZE];

	slow_name(user, name);
	return cache->dir >= 0 && read_entry(cache->dir, name, numbers) && numbers[FAILURE];
}
