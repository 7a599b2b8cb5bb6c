/* SPDX-License-Identifier: MIT */
#include "session/stat_line.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "host/host.h"

#define STAT_BYTES 2048

/* Flags of field 9, from include/linux/sched.h. */
#define FLAG_EXITING 0x00000004
#define FLAG_KERNEL 0x00200000

static void copy_comm(char comm[TREE_COMM_SIZE], const char *from, size_t length)
{
	if (length >= TREE_COMM_SIZE)
		length = TREE_COMM_SIZE - 1;
	memcpy(comm, from, length);
	comm[length] = '\0';
}

static void scan_fields(const char *cursor, struct stat_line *line)
{
	for (line->count = STAT_PARENT; line->count < STAT_FIELDS && *cursor == ' ';
	     line->count++) {
		uint64_t large;

		cursor++;
		if (scan_i64(&cursor, &line->fields[line->count]))
			continue;
		if (!scan_u64(&cursor, &large))
			return;
		line->fields[line->count] = INT64_MAX;
	}
}

/* The name may hold any bytes: it reaches from the first '(' to the last ')'. */
bool stat_line_parse(const char *text, struct stat_line *ret)
{
	const char *begin = strchr(text, '(');
	const char *end = strrchr(text, ')');

	if (!begin || !end || end < begin || end[1] != ' ' || !end[2])
		return false;
	*ret = (struct stat_line){ .state = end[2] };
	copy_comm(ret->comm, begin + 1, (size_t)(end - begin - 1));
	scan_fields(end + 3, ret);
	return true;
}

int stat_line_read(int directory, const char *path, struct stat_line *ret)
{
	char buffer[STAT_BYTES];
	ssize_t length = file_read(directory, path, buffer, sizeof(buffer));

	if (length < 0)
		return (int)length;
	return stat_line_parse(buffer, ret) ? 0 : -EBADMSG;
}

static bool has_flag(const struct stat_line *line, int64_t flag)
{
	return line->count > STAT_FLAGS && line->fields[STAT_FLAGS] & flag;
}

bool stat_line_is_ending(const struct stat_line *line)
{
	return line->state == 'Z' || line->state == 'X' || has_flag(line, FLAG_EXITING);
}

bool stat_line_is_kernel_thread(const struct stat_line *line)
{
	return has_flag(line, FLAG_KERNEL);
}

static void close_listing(DIR **listing)
{
	if (*listing)
		closedir(*listing);
}

bool stat_line_any_lives(int process)
{
	CLEANUP(close_fd) int fd = host_open_directory(process, "task");
	CLEANUP(close_listing) DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat_line line;

	if (!listing)
		return false;
	TAKE_FD(fd);
	while ((entry = readdir(listing))) {
		char path[sizeof(entry->d_name) + sizeof("task//stat")];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "task/%s/stat", entry->d_name);
		if (stat_line_read(process, path, &line) == 0 && !stat_line_is_ending(&line))
			return true;
	}
	return false;
}
