#include "host/hierarchy.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "host/host.h"

/* Directory below the cgroup root, controller as /proc/PID/cgroup spells it; best first. */
static const struct {
	const char *directory;
	const char *controller;
} v1_hierarchies[] = {
	{ "memory", "memory" },	       { "cpu", "cpu" },
	{ "cpu,cpuacct", "cpu" },      { "pids", "pids" },
	{ "systemd", "name=systemd" }, { "cpuset", "cpuset" },
};

/* Whether the v2 tree of a hybrid host is in real use: leftovers such as hugetlb do not count. */
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

static bool use_v1(int root, struct cgroup_hierarchy *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(v1_hierarchies); i++) {
		int fd = host_open_directory(root, v1_hierarchies[i].directory);

		if (fd < 0)
			continue;
		*ret = (struct cgroup_hierarchy){ .version = 1, .fd = fd };
		snprintf(ret->controller, sizeof(ret->controller), "%s",
			 v1_hierarchies[i].controller);
		snprintf(ret->name, sizeof(ret->name), "v1 %s", v1_hierarchies[i].controller);
		return true;
	}
	return false;
}

void hierarchy_find(int sys, struct cgroup_hierarchy *ret)
{
	CLEANUP(close_fd) int root = sys < 0 ? -1 : host_open_directory(sys, "fs/cgroup");
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

/* Whether a line "ID:controllers:path" is of the hierarchy. */
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
