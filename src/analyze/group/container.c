/* SPDX-License-Identifier: MIT */
#include "analyze/group/container.h"

#include <stdbool.h>
#include <string.h>

#include "base/collection/array.h"
#include "base/text.h"

#define HEX_ID 64
#define UUID_LENGTH 36

/*
 * How runtimes name the cgroups of their containers, from the start of one
 * directory's name to the end of one.  `#` stands for an id of 64 hexadecimal
 * digits, `?` for a name that is escaped as systemd does, `*` for anything; none of
 * them crosses a slash.  The first that fits counts.
 */
struct naming {
	const char *pattern;
	const char *runtime;
};

/* clang-format off */
static const struct naming namings[] = {
	{ "docker-#.scope",             "docker" },
	{ "docker/#",                   "docker" },
	{ "moby/#",                     "docker" },
	{ "ecs/*/#",                    "docker" },
	{ "*:docker:#",                 "docker" },
	{ "libpod-#.scope",             "podman" },
	{ "libpod-#",                   "podman" },
	{ "libpod-payload-#",           "podman" },
	{ "*:libpod:#",                 "podman" },
	{ "crio-#.scope",               "cri-o" },
	{ "crio-#",                     "cri-o" },
	{ "*:crio:#",                   "cri-o" },
	{ "cri-containerd-#.scope",     "containerd" },
	{ "*:cri-containerd:#",         "containerd" },
	{ "nerdctl-#.scope",            "containerd" },
	{ "k8s.io/#",                   "containerd" },
	{ "default/#",                  "containerd" },
	{ "pod*/#",                     "containerd" },
	{ "kubepods*/#",                "containerd" },
	{ "kubelet-kubepods*/#",        "containerd" },
	{ "lxc/?",                      "lxc" },
	{ "lxc.payload/?",              "lxc" },
	{ "lxc.payload.?",              "lxc" },
	{ "machine-qemu\\x2d?.scope",   "libvirt-qemu" },
	{ "machine-lxc\\x2d?.scope",    "libvirt-lxc" },
	{ "machine-?.scope",            "systemd-nspawn" },
	{ "systemd-nspawn@?.service",   "systemd-nspawn" },
};

/* Units whose processes have cgroups of their own. */
static const char *const unit_types[] = { ".service", ".scope", ".mount", ".socket", ".swap" };
/* clang-format on */

struct word {
	const char *start;
	size_t length;
};

static size_t segment_length(const char *segment)
{
	return strcspn(segment, "/");
}

static size_t hex_length(const char *text)
{
	return strspn(text, "0123456789abcdef");
}

/* Takes what precedes the pattern's last letters, if the segment ends in those letters. */
static bool match_name(const char *path, const char *ending, struct word *ret)
{
	size_t length = segment_length(path), tail = strlen(ending);

	if (length <= tail || memcmp(path + length - tail, ending, tail) != 0)
		return false;
	*ret = (struct word){ path, length - tail };
	return true;
}

/* Whether the path starts with the pattern; gives the end of the match, and the id. */
static const char *match(const char *path, const char *pattern, struct word *ret_id)
{
	for (; *pattern; pattern++) {
		if (*pattern == '*') {
			const char *end;

			for (; !(end = match(path, pattern + 1, ret_id)); path++)
				if (*path == '/' || *path == '\0')
					return NULL;
			return end;
		}
		if (*pattern == '?') {
			if (!match_name(path, pattern + 1, ret_id))
				return NULL;
			return path + segment_length(path);
		}
		if (*pattern == '#') {
			if (hex_length(path) != HEX_ID)
				return NULL;
			*ret_id = (struct word){ path, HEX_ID };
			path += HEX_ID;
		} else if (*path++ != *pattern) {
			return NULL;
		}
	}
	return *path == '/' || *path == '\0' ? path : NULL;
}

static int hex_digit(char letter)
{
	const char *digits = "0123456789abcdef";
	const char *digit = letter ? strchr(digits, letter) : NULL;

	return digit ? (int)(digit - digits) : -1;
}

/* The byte that "\xNN" stands for, or -1. */
static int escaped_byte(const char *text, size_t length)
{
	int high, low;

	if (length < 4 || text[0] != '\\' || text[1] != 'x')
		return -1;
	high = hex_digit(text[2]);
	low = hex_digit(text[3]);
	return high < 0 || low < 0 || high + low == 0 ? -1 : high * 16 + low;
}

static bool copy_word(struct word word, bool escaped, char *ret, size_t capacity)
{
	size_t length = 0;

	if (word.length >= capacity)
		return false;
	for (size_t i = 0; i < word.length; i++) {
		int byte = escaped ? escaped_byte(word.start + i, word.length - i) : -1;

		ret[length++] = byte < 0 ? word.start[i] : (char)byte;
		i += byte < 0 ? 0 : 3;
	}
	ret[length] = '\0';
	return true;
}

/* Calls visit() with each segment, the innermost first, until it returns true. */
static void visit_segments(const char *path, bool (*visit)(const char *segment, void *context),
			   void *context)
{
	for (const char *end = path + strlen(path); end > path; end--)
		if (end[-1] == '/' && *end != '/' && *end != '\0' && visit(end, context))
			return;
}

struct finding {
	struct container *container;
	const char *inside; /* the part of the path inside the container; without one, the path */
	const char *path;
};

/* A runtime may keep a helper process beside the container's own processes. */
static bool is_helper(const char *end)
{
	return strncmp(end, "/supervisor", 11) == 0 && (end[11] == '/' || end[11] == '\0');
}

static bool find_container(const char *segment, void *context)
{
	struct finding *finding = context;
	struct container *container = finding->container;

	for (size_t i = 0; i < ARRAY_SIZE(namings); i++) {
		struct word id;
		const char *end = match(segment, namings[i].pattern, &id);

		if (!end || is_helper(end) ||
		    !copy_word(id, true, container->id, sizeof(container->id)))
			continue;
		container->runtime = namings[i].runtime;
		finding->inside = end;
		return true;
	}
	return false;
}

/* A pod's uid: a UUID, with or without systemd's underscores, or a static pod's 32 digits. */
static size_t pod_length(const char *uid)
{
	static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	size_t i;

	if (hex_length(uid) == 32)
		return 32;
	for (i = 0; i < UUID_LENGTH; i++)
		if (shape[i] == '-' ? uid[i] != '-' && uid[i] != '_' : hex_digit(uid[i]) < 0)
			return 0;
	return i;
}

static bool ends_pod(const char *rest)
{
	if (strncmp(rest, ".slice", 6) == 0)
		rest += 6;
	return *rest == '\0' || *rest == '/' || *rest == ':';
}

static bool find_pod(const char *segment, void *context)
{
	struct container *container = ((struct finding *)context)->container;
	const char *end = segment + segment_length(segment);

	for (const char *at = segment; at + 3 < end; at++) {
		size_t length;

		if (strncmp(at, "pod", 3) != 0 || (at > segment && at[-1] != '-'))
			continue;
		length = pod_length(at + 3);
		if (!length || !ends_pod(at + 3 + length))
			continue;
		memcpy(container->pod, at + 3, length);
		container->pod[length] = '\0';
		for (char *dash = container->pod; (dash = strchr(dash, '_'));)
			*dash = '-';
		return true;
	}
	return false;
}

static bool is_unit(struct word name)
{
	for (size_t i = 0; i < ARRAY_SIZE(unit_types); i++) {
		size_t length = strlen(unit_types[i]);

		if (name.length > length &&
		    memcmp(name.start + name.length - length, unit_types[i], length) == 0)
			return true;
	}
	return false;
}

/*
 * A manager keeps itself in an init.scope below its own unit: that unit is the
 * answer. systemd puts an underscore before names that the kernel may use
 * itself.
 */
static bool find_unit(const char *segment, void *context)
{
	struct finding *finding = context;
	struct word name = { segment, segment_length(segment) };
	bool is_init = name.length == 10 && strncmp(segment, "init.scope", 10) == 0;

	if (segment < finding->inside)
		return true;
	if (!is_unit(name) || (is_init && segment != finding->path + 1))
		return false;
	if (*name.start == '_')
		name = (struct word){ name.start + 1, name.length - 1 };
	return copy_word(name, false, finding->container->unit, sizeof(finding->container->unit));
}

void container_find(const char *cgroup, struct container *ret)
{
	struct finding finding = { ret, cgroup, cgroup };

	*ret = (struct container){ 0 };
	visit_segments(cgroup, find_container, &finding);
	if (!ret->runtime)
		ret->id[0] = '\0';
	visit_segments(cgroup, find_pod, &finding);
	visit_segments(cgroup, find_unit, &finding);
}

void container_append_name(const char *cgroup, struct text *out)
{
	struct container container;

	container_find(cgroup, &container);
	if (container.runtime) {
		bool is_hex = hex_length(container.id) == HEX_ID && !container.id[HEX_ID];

		text_format(out, "%s %.*s", container.runtime,
			    is_hex ? CONTAINER_SHORT_ID : CONTAINER_NAME_SIZE, container.id);
	} else {
		text_append_string(out, *container.unit ? container.unit : cgroup);
	}
}
