/* SPDX-License-Identifier: MIT */
#include "lib/usage/throttle.h"

#include <stdio.h>
#include <string.h>

#include "lib/usage/process_usage.h"

/* A piece of text that somebody else owns. */
struct piece {
	const char *start;
	size_t length;
};

static struct piece next_piece(const char **cursor, const char *ends)
{
	struct piece piece = { .start = *cursor, .length = strcspn(*cursor, ends) };

	*cursor += piece.length;
	if (**cursor && **cursor != '\n')
		(*cursor)++;
	return piece;
}

static const char *next_line(const char *text)
{
	const char *end = strchr(text, '\n');

	return end && end[1] ? end + 1 : NULL;
}

static bool piece_is(struct piece piece, const char *word)
{
	return piece.length == strlen(word) && !strncmp(piece.start, word, piece.length);
}

/* Whether a word is in a list separated by commas. */
static bool list_has(struct piece list, const char *word)
{
	const char *cursor = list.start, *end = list.start + list.length;

	while (cursor < end) {
		size_t length = 0;

		while (cursor + length < end && cursor[length] != ',')
			length++;
		if (piece_is((struct piece){ cursor, length }, word))
			return true;
		cursor += length + 1;
	}
	return false;
}

/* Lines are "number:controllers:path"; in version 2 there are no controllers. */
static bool find_group(const char *groups, bool is_old, struct piece *ret_path)
{
	for (const char *line = groups; line && *line; line = next_line(line)) {
		const char *cursor = line;
		struct piece controllers;

		next_piece(&cursor, ":\n");
		controllers = next_piece(&cursor, ":\n");
		if (is_old ? !list_has(controllers, "cpu") : controllers.length > 0)
			continue;
		*ret_path = (struct piece){ cursor, strcspn(cursor, "\n") };
		return true;
	}
	return false;
}

struct mount {
	struct piece root, place;
};

/* "id parent device root place options ... - type source options" */
static bool parse_mount(const char *line, bool is_old, struct mount *ret)
{
	const char *cursor = line;
	struct mount mount;
	struct piece piece;

	for (int i = 0; i < 3; i++)
		next_piece(&cursor, " \n");
	mount.root = next_piece(&cursor, " \n");
	mount.place = next_piece(&cursor, " \n");
	do {
		piece = next_piece(&cursor, " \n");
	} while (piece.length && !piece_is(piece, "-"));
	piece = next_piece(&cursor, " \n");
	if (!piece_is(piece, is_old ? "cgroup" : "cgroup2"))
		return false;
	next_piece(&cursor, " \n");
	piece = next_piece(&cursor, " \n");
	if (is_old && !list_has(piece, "cpu"))
		return false;
	*ret = mount;
	return true;
}

static bool find_mount(const char *mounts, bool is_old, struct mount *ret)
{
	for (const char *line = mounts; line && *line; line = next_line(line))
		if (parse_mount(line, is_old, ret))
			return true;
	return false;
}

/* A container may see only a part of the hierarchy, while its paths begin above that part. */
static struct piece below(struct piece path, struct piece root)
{
	if (root.length > 1 && path.length >= root.length &&
	    !strncmp(path.start, root.start, root.length)) {
		path.start += root.length;
		path.length -= root.length;
	}
	while (path.length && path.start[path.length - 1] == '/')
		path.length--;
	return path;
}

static bool parse_version(struct throttle *throttle, const char *groups, const char *mounts,
			  bool is_old)
{
	struct piece path;
	struct mount mount;
	int length;

	if (!find_group(groups, is_old, &path) || !find_mount(mounts, is_old, &mount))
		return false;
	path = below(path, mount.root);
	length = snprintf(throttle->path, sizeof(throttle->path), "%.*s%.*s",
			  (int)mount.place.length, mount.place.start, (int)path.length, path.start);
	if (length < 0 || (size_t)length >= sizeof(throttle->path))
		return false;
	throttle->mount_length = (unsigned int)mount.place.length;
	throttle->is_old = is_old;
	return true;
}

bool throttle_parse(struct throttle *throttle, const char *groups, const char *mounts)
{
	/* Where both versions are mounted, the CPU controller is in the old one, if anywhere. */
	throttle->is_found = parse_version(throttle, groups, mounts, true) ||
			     parse_version(throttle, groups, mounts, false);
	return throttle->is_found;
}

static struct amount read_throttled(const struct throttle *throttle, size_t length)
{
	char path[THROTTLE_PATH_SIZE + 16], text[1024];
	struct amount amount;

	snprintf(path, sizeof(path), "%.*s/cpu.stat", (int)length, throttle->path);
	if (process_read_file(path, text, sizeof(text)) <= 0)
		return (struct amount){ 0 };
	amount = process_find_number(text, throttle->is_old ? "throttled_time" : "throttled_usec");
	if (!throttle->is_old)
		amount.value *= 1000;
	return amount;
}

uint64_t throttle_grown_ns(struct throttle *throttle)
{
	size_t length = strlen(throttle->path);
	unsigned int level = 0;
	uint64_t most = 0;

	while (throttle->is_found && level < THROTTLE_LEVELS && length >= throttle->mount_length) {
		struct amount now = read_throttled(throttle, length);
		uint64_t before = throttle->throttled_ns[level];

		if (level < throttle->level_count && now.is_known && now.value > before &&
		    now.value - before > most)
			most = now.value - before;
		throttle->throttled_ns[level++] = now.is_known ? now.value : before;
		if (length == throttle->mount_length)
			break;
		while (length > throttle->mount_length && throttle->path[length - 1] != '/')
			length--;
		/* Cut the slash, too, unless it is the root's own. */
		length -= length > throttle->mount_length;
	}
	throttle->level_count = level;
	return most;
}

void throttle_find(struct throttle *throttle)
{
	char groups[2048], before[THROTTLE_PATH_SIZE];

	memcpy(before, throttle->path, sizeof(before));
	throttle->is_found = false;
	if (process_read_file("/proc/self/cgroup", groups, sizeof(groups)) <= 0 ||
	    process_read_file("/proc/self/mountinfo", throttle->mounts, sizeof(throttle->mounts)) <=
		    0)
		return;
	throttle_parse(throttle, groups, throttle->mounts);
	if (strcmp(before, throttle->path))
		throttle->level_count = 0;
}
