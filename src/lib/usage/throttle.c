/* SPDX-License-Identifier: MIT */
#include "lib/usage/throttle.h"

#include <stdio.h>
#include <string.h>

#include "lib/usage/own_usage.h"

enum version { VERSION_2, VERSION_1, VERSIONS };

/* What the kernel's files say about one version of cgroups; NULL: nothing. */
struct hierarchy {
	const char *group;
	const char *root, *place; /* of its mount */
};

/* Whether a word is in a list separated by commas. */
static bool list_has(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length)
		if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

/* "number:controllers:path"; in version 2 there are no controllers. */
static void note_group(char *line, struct hierarchy *found)
{
	const char *controllers;

	strsep(&line, ":");
	controllers = strsep(&line, ":");
	if (!line || (*controllers && !list_has(controllers, "cpu")))
		return;
	found += *controllers ? VERSION_1 : VERSION_2;
	if (!found->group)
		found->group = line;
}

/* "id parent device root place options ... - type source options" */
static void note_mount(char *line, struct hierarchy *found)
{
	char *rest = strstr(line, " - ");
	const char *root, *place, *type, *options;

	if (!rest)
		return;
	*rest = '\0';
	rest += strlen(" - ");
	for (int i = 0; i < 3; i++)
		strsep(&line, " ");
	root = strsep(&line, " ");
	place = strsep(&line, " ");
	type = strsep(&rest, " ");
	strsep(&rest, " ");
	options = strsep(&rest, " ");
	if (!place || !options)
		return;
	if (!strcmp(type, "cgroup") && list_has(options, "cpu"))
		found += VERSION_1;
	else if (!strcmp(type, "cgroup2"))
		found += VERSION_2;
	else
		return;
	if (!found->place)
		*found = (struct hierarchy){ found->group, root, place };
}

static void note_lines(char *text, void (*note)(char *line, struct hierarchy *found),
		       struct hierarchy *found)
{
	char *line;

	while ((line = strsep(&text, "\n")))
		note(line, found);
}

/* A container may see only a part of the hierarchy, while its paths begin above that part. */
static const char *below(const char *path, const char *root)
{
	size_t length = strlen(root);

	return length > 1 && !strncmp(path, root, length) ? path + length : path;
}

static bool choose(struct throttle *throttle, const struct hierarchy *found, bool is_old)
{
	int length;

	if (!found->group || !found->place)
		return false;
	length = snprintf(throttle->path, sizeof(throttle->path), "%s%s", found->place,
			  below(found->group, found->root));
	if (length < 0 || (size_t)length >= sizeof(throttle->path))
		return false;
	throttle->mount_length = (unsigned int)strlen(found->place);
	while ((unsigned int)length > throttle->mount_length && throttle->path[length - 1] == '/')
		throttle->path[--length] = '\0';
	throttle->is_old = is_old;
	return true;
}

bool throttle_parse(struct throttle *throttle, char *groups, char *mounts)
{
	struct hierarchy found[VERSIONS] = { 0 };

	note_lines(groups, note_group, found);
	note_lines(mounts, note_mount, found);
	/* Where both versions are mounted, the CPU controller is in the old one, if anywhere. */
	throttle->is_found = choose(throttle, &found[VERSION_1], true) ||
			     choose(throttle, &found[VERSION_2], false);
	return throttle->is_found;
}

static struct amount read_throttled(const struct throttle *throttle, size_t length)
{
	char path[THROTTLE_PATH_SIZE + 16], text[1024];
	struct amount amount;

	snprintf(path, sizeof(path), "%.*s/cpu.stat", (int)length, throttle->path);
	if (usage_read_file(path, text, sizeof(text)) <= 0)
		return (struct amount){ 0 };
	amount = usage_find_number(text, throttle->is_old ? "throttled_time" : "throttled_usec");
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
	if (usage_read_file("/proc/self/cgroup", groups, sizeof(groups)) <= 0 ||
	    usage_read_file("/proc/self/mountinfo", throttle->mounts, sizeof(throttle->mounts)) <=
		    0)
		return;
	throttle_parse(throttle, groups, throttle->mounts);
	if (strcmp(before, throttle->path))
		throttle->level_count = 0;
}
