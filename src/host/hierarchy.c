/* SPDX-License-Identifier: MIT */
#include "host/hierarchy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/file.h"

#define CGROUP_ROOT "fs/cgroup"
#define MOUNTINFO_LIMIT ((size_t)16 * 1024 * 1024)

/* Directory below the cgroup root, controller as /proc/PID/cgroup spells it; best first. */
static const struct {
	const char *directory;
	const char *controller;
} v1_hierarchies[] = {
	{ "memory", "memory" },	       { "cpu", "cpu" },
	{ "cpu,cpuacct", "cpu" },      { "pids", "pids" },
	{ "systemd", "name=systemd" }, { "cpuset", "cpuset" },
};

/* Whether the v2 tree of a hybrid host is in real use; controllers such as hugetlb do not count. */
static bool has_controllers(int dir)
{
	char controllers[512];
	char *rest = controllers;
	char *word;

	if (!host_read_line(dir, "cgroup.controllers", controllers, sizeof(controllers)))
		return false;
	while ((word = strsep(&rest, " ")))
		if (strcmp(word, "memory") == 0 || strcmp(word, "cpu") == 0)
			return true;
	return false;
}

static void use_v2(struct cgroup_hierarchy *ret, int fd)
{
	*ret = (struct cgroup_hierarchy){ .version = 2, .name = "v2", .fd = fd };
}

static bool open_v1(int root, const char *directory, const char *controller,
		    struct cgroup_hierarchy *ret)
{
	int fd = host_open_directory(root, directory);

	if (fd < 0)
		return false;
	*ret = (struct cgroup_hierarchy){ .version = 1, .fd = fd };
	snprintf(ret->controller, sizeof(ret->controller), "%s", controller);
	snprintf(ret->name, sizeof(ret->name), "v1 %s", controller);
	return true;
}

static bool use_v1(int root, struct cgroup_hierarchy *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(v1_hierarchies); i++)
		if (open_v1(root, v1_hierarchies[i].directory, v1_hierarchies[i].controller, ret))
			return true;
	return false;
}

void hierarchy_find(int sys, struct cgroup_hierarchy *ret)
{
	CLEANUP(close_fd) int root = sys < 0 ? -1 : host_open_directory(sys, CGROUP_ROOT);
	CLEANUP(close_fd) int unified = -1;

	*ret = (struct cgroup_hierarchy){ .fd = -1 };
	if (root < 0)
		return;
	if (faccessat(root, "cgroup.controllers", F_OK, 0) == 0) {
		use_v2(ret, TAKE_FD(root));
		return;
	}
	unified = host_open_directory(root, "unified");
	if (unified >= 0 && has_controllers(unified)) {
		use_v2(ret, TAKE_FD(unified));
		return;
	}
	if (!use_v1(root, ret) && unified >= 0)
		use_v2(ret, TAKE_FD(unified));
}

/* Where the tree of each controller may be; the first that exists is used. */
static const struct {
	enum hierarchy_id id;
	const char *controller;
	const char *directory;
} v1_trees[] = {
	{ HIERARCHY_MEMORY, "memory", "memory" },
	{ HIERARCHY_CPU, "cpu", "cpu" },
	{ HIERARCHY_CPU, "cpu", "cpu,cpuacct" },
	{ HIERARCHY_CPU, "cpu", "cpuacct,cpu" },
	{ HIERARCHY_CPUACCT, "cpuacct", "cpuacct" },
	{ HIERARCHY_CPUACCT, "cpuacct", "cpu,cpuacct" },
	{ HIERARCHY_CPUACCT, "cpuacct", "cpuacct,cpu" },
	{ HIERARCHY_CPUSET, "cpuset", "cpuset" },
	{ HIERARCHY_BLKIO, "blkio", "blkio" },
	{ HIERARCHY_PIDS, "pids", "pids" },
};

/* The next word of a line, ended by a NUL, with the escapes of mountinfo undone. */
static char *next_field(char **cursor)
{
	char *field = strsep(cursor, " ");
	char *to = field;

	for (char *from = field; from && *from; to++) {
		char digits[4] = { 0 };
		char *end = digits;
		unsigned long byte = 0;

		if (*from == '\\') {
			strncpy(digits, from + 1, 3);
			byte = strtoul(digits, &end, 8);
		}
		*to = end == digits + 3 ? (char)byte : *from;
		from += end == digits + 3 ? 4 : 1;
	}
	if (to)
		*to = '\0';
	return field;
}

/*
 * The path that a mount begins at, from a line of mountinfo; NULL when the line is about another
 * directory.
 */
static const char *line_top(char *line, const char *directory)
{
	char place[64];
	const char *top, *point;

	snprintf(place, sizeof(place), "/sys/" CGROUP_ROOT "%s%s", *directory ? "/" : "",
		 directory);
	if (!strstr(line, place))
		return NULL; /* rejects most lines cheaply */
	for (int i = 0; i < 3; i++)
		(void)next_field(&line);
	top = next_field(&line);
	point = next_field(&line);
	return point && strcmp(point, place) == 0 ? top : NULL;
}

/* If several file systems are mounted on the directory, the last one hides the others. */
static int find_top(const struct text *mounts, const char *directory, char **ret)
{
	CLEANUP(free_pointer) char *copy = strdup(text_string(mounts));
	char *rest = copy;
	const char *top = "";
	char *line;

	if (!copy)
		return -ENOMEM;
	while ((line = strsep(&rest, "\n"))) {
		const char *found = line_top(line, directory);

		if (found)
			top = strcmp(found, "/") == 0 ? "" : found;
	}
	*ret = strdup(top);
	return *ret ? 0 : -ENOMEM;
}

static int open_v2_tree(int root, const struct text *mounts, struct hierarchies *ret)
{
	bool is_alone = faccessat(root, "cgroup.controllers", F_OK, 0) == 0;
	int fd = host_open_directory(root, is_alone ? "." : "unified");

	if (fd < 0)
		return 0;
	use_v2(&ret->trees[HIERARCHY_V2], fd);
	return find_top(mounts, is_alone ? "" : "unified", &ret->tops[HIERARCHY_V2]);
}

static int open_v1_trees(int root, const struct text *mounts, struct hierarchies *ret)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < ARRAY_SIZE(v1_trees); i++) {
		enum hierarchy_id id = v1_trees[i].id;

		if (ret->trees[id].fd < 0 &&
		    open_v1(root, v1_trees[i].directory, v1_trees[i].controller, &ret->trees[id]))
			status = find_top(mounts, v1_trees[i].directory, &ret->tops[id]);
	}
	return status;
}

int hierarchies_open(const struct host *host, struct hierarchies *ret)
{
	CLEANUP(close_fd) int root = -1;
	CLEANUP(text_free) struct text mounts = { 0 };
	int status = 0;

	*ret = (struct hierarchies){ 0 };
	for (int id = 0; id < HIERARCHY_COUNT; id++)
		ret->trees[id].fd = -1;
	if (host->sys >= 0)
		root = host_open_directory(host->sys, CGROUP_ROOT);
	if (root < 0)
		return 0;
	if (host->live)
		status = file_read_text(host->proc, "self/mountinfo", MOUNTINFO_LIMIT, &mounts);
	if (status != -ENOMEM)
		status = open_v2_tree(root, &mounts, ret);
	if (status == 0 && faccessat(root, "cgroup.controllers", F_OK, 0) < 0)
		status = open_v1_trees(root, &mounts, ret);
	if (status < 0)
		hierarchies_close(ret);
	return status;
}

void hierarchies_close(struct hierarchies *hierarchies)
{
	for (int id = 0; id < HIERARCHY_COUNT; id++) {
		close_fd(&hierarchies->trees[id].fd);
		hierarchies->trees[id].fd = -1;
		free(hierarchies->tops[id]);
		hierarchies->tops[id] = NULL;
	}
}

int hierarchies_open_cgroup(const struct hierarchies *hierarchies, enum hierarchy_id id,
			    const char *path)
{
	const char *top = hierarchies->tops[id] ? hierarchies->tops[id] : "";
	size_t length = strlen(top);

	if (hierarchies->trees[id].fd < 0 || strncmp(path, top, length) != 0)
		return -ENOENT;
	path += length;
	if (*path != '/' && *path != '\0')
		return -ENOENT;
	path += strspn(path, "/");
	return file_open_below(hierarchies->trees[id].fd, *path ? path : ".", O_PATH | O_DIRECTORY);
}

/* Whether a line "ID:controllers:path" is about the hierarchy. */
static bool line_matches(const char *controllers, size_t length,
			 const struct cgroup_hierarchy *hierarchy)
{
	size_t wanted = strlen(hierarchy->controller);

	if (hierarchy->version != 1)
		return length == 0;
	while (length >= wanted) {
		const char *comma = memchr(controllers, ',', length);
		size_t word = comma ? (size_t)(comma - controllers) : length;

		if (word == wanted && memcmp(controllers, hierarchy->controller, wanted) == 0)
			return true;
		if (!comma)
			return false;
		length -= word + 1;
		controllers = comma + 1;
	}
	return false;
}

const char *cgroup_path(const char *text, const struct cgroup_hierarchy *hierarchy,
			size_t *ret_length)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		const char *first = memchr(text, ':', length);
		const char *end = text + length;
		const char *second =
			first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;

		if (second && line_matches(first + 1, (size_t)(second - first - 1), hierarchy)) {
			*ret_length = (size_t)(end - second - 1);
			return second + 1;
		}
		text = *end ? end + 1 : end;
	}
	return NULL;
}

int host_cgroup_number(const struct host *host, const char *path, uint64_t *ret,
		       struct error *error)
{
	const struct cgroup_hierarchy *hierarchy = &host->cgroup;
	const char *below = path + strspn(path, "/");
	CLEANUP(close_fd) int directory = -ENOENT;
	struct stat status;

	if (hierarchy->fd >= 0)
		directory = host_open_directory(hierarchy->fd, *below ? below : ".");
	if (directory < 0 || fstat(directory, &status) < 0)
		return error_set(error, directory < 0 ? directory : -errno,
				 "there is no cgroup '%s'%s%s", path,
				 hierarchy->version ? " in the hierarchy " : "",
				 hierarchy->version ? hierarchy->name : "");
	*ret = status.st_ino;
	return 0;
}
