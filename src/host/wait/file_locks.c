/* SPDX-License-Identifier: MIT */
#include "host/wait/file_locks.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/host.h"
#include "host/proc/proc_file.h"

void file_locks_clear(struct file_locks *locks)
{
	free(locks->list.data);
	*locks = (struct file_locks){ 0 };
}

static void skip_blanks(const char **cursor)
{
	*cursor += strspn(*cursor, " ");
}

/* Moves past a word if it comes next. */
static bool take_word(const char **cursor, const char *word)
{
	size_t length = strlen(word);

	skip_blanks(cursor);
	if (strncmp(*cursor, word, length) != 0 ||
	    ((*cursor)[length] != ' ' && (*cursor)[length] != '\n' && (*cursor)[length] != '\0'))
		return false;
	*cursor += length;
	return true;
}

static bool skip_word(const char **cursor)
{
	size_t length;

	skip_blanks(cursor);
	length = strcspn(*cursor, " \n");
	*cursor += length;
	return length > 0;
}

static enum file_lock_kind take_kind(const char **cursor)
{
	static const struct {
		const char *word;
		enum file_lock_kind kind;
	} kinds[] = { { "FLOCK", FILE_LOCK_FLOCK },
		      { "POSIX", FILE_LOCK_POSIX },
		      { "OFDLCK", FILE_LOCK_OPEN } };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (take_word(cursor, kinds[i].word))
			return kinds[i].kind;
	skip_word(cursor);
	return FILE_LOCK_OTHER;
}

static bool take_hex(const char **cursor, uint32_t *ret)
{
	size_t length = strspn(*cursor, "0123456789abcdef");

	if (length == 0 || length > 8)
		return false;
	*ret = (uint32_t)strtoul(*cursor, NULL, 16);
	*cursor += length;
	return true;
}

/* "MAJOR:MINOR:INODE", the first two in hexadecimal. */
static bool take_file(const char **cursor, struct file_lock *lock)
{
	skip_blanks(cursor);
	if (!take_hex(cursor, &lock->major) || *(*cursor)++ != ':')
		return false;
	if (!take_hex(cursor, &lock->minor) || *(*cursor)++ != ':')
		return false;
	return scan_u64(cursor, &lock->inode);
}

static bool take_range(const char **cursor, struct file_lock *lock)
{
	skip_blanks(cursor);
	if (!scan_u64(cursor, &lock->start))
		return false;
	skip_blanks(cursor);
	if (take_word(cursor, "EOF")) {
		lock->end = UINT64_MAX;
		return true;
	}
	return scan_u64(cursor, &lock->end);
}

/* "1: -> POSIX  ADVISORY  WRITE 812 08:01:77 0 EOF"; the arrow marks one that waits. */
static bool parse_line(const char *cursor, struct file_lock *lock)
{
	int64_t pid;

	if (!scan_u64(&cursor, &lock->id) || *cursor++ != ':')
		return false;
	lock->waits = take_word(&cursor, "->");
	lock->kind = take_kind(&cursor);
	if (!skip_word(&cursor))
		return false;
	lock->is_write = take_word(&cursor, "WRITE");
	if (!lock->is_write && !skip_word(&cursor))
		return false;
	skip_blanks(&cursor);
	if (!scan_i64(&cursor, &pid) || pid > INT32_MAX || pid < -1)
		return false;
	lock->pid = (int32_t)pid;
	return take_file(&cursor, lock) && take_range(&cursor, lock);
}

int file_locks_parse(const char *text, struct file_locks *ret)
{
	for (const char *line = text; *line;) {
		const char *end = strchrnul(line, '\n');
		struct file_lock lock = { 0 };

		if (parse_line(line, &lock) && array_append(&ret->list, lock) < 0)
			return -ENOMEM;
		line = *end ? end + 1 : end;
	}
	return 0;
}

int file_locks_read(const struct host *host, struct file_locks *ret)
{
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	ssize_t length = proc_read(host->proc, "locks", &buffer);

	return length < 0 ? (int)length : file_locks_parse(buffer.data, ret);
}

static const struct file_lock *find_held(const struct file_locks *locks, uint64_t id)
{
	for (size_t i = 0; i < locks->list.count; i++)
		if (locks->list.data[i].id == id && !locks->list.data[i].waits)
			return &locks->list.data[i];
	return NULL;
}

const struct file_lock *file_locks_awaited(const struct file_locks *locks, int32_t pid,
					   enum file_lock_kind kind, uint64_t inode)
{
	for (size_t i = 0; i < locks->list.count; i++) {
		const struct file_lock *lock = &locks->list.data[i];

		if (lock->waits && lock->kind == kind && lock->inode == inode &&
		    (lock->pid == pid || kind == FILE_LOCK_OPEN))
			return find_held(locks, lock->id);
	}
	return NULL;
}
