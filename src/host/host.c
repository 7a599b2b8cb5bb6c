/* SPDX-License-Identifier: MIT */
#include "host/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "host/hierarchy.h"

const char host_own_program[] = "/proc/self/exe";

#define USUAL_TICKS 100 /* USER_HZ of every architecture but alpha */
#define RECORDED_LIMIT ((size_t)16 * 1024 * 1024)
#define CONFIG_LIMIT ((size_t)4 * 1024 * 1024)

int host_open_directory(int dir, const char *path)
{
	return file_open_below(dir, path, O_RDONLY | O_DIRECTORY);
}

/* The rest of the line of taskscope-root that starts with `key`. */
static bool read_recorded(const struct host *host, const char *key, char *buffer, size_t capacity)
{
	const char *line = text_string(&host->recorded);
	size_t key_length = strlen(key);

	while (*line) {
		size_t length = strcspn(line, "\n");

		if (length > key_length && strncmp(line, key, key_length) == 0 &&
		    line[key_length] == ' ' && length - key_length - 1 < capacity) {
			memcpy(buffer, line + key_length + 1, length - key_length - 1);
			buffer[length - key_length - 1] = '\0';
			return true;
		}
		line += length + (line[length] == '\n');
	}
	return false;
}

bool host_recorded_number(const struct host *host, const char *key, uint64_t *ret)
{
	char buffer[32];

	return read_recorded(host, key, buffer, sizeof(buffer)) && parse_u64(buffer, ret);
}

bool host_read_line(int dir, const char *path, char *buffer, size_t capacity)
{
	if (dir < 0 || file_read(dir, path, buffer, capacity) < 0)
		return false;
	buffer[strcspn(buffer, "\n")] = '\0';
	return true;
}

bool host_read_number(int dir, const char *path, uint64_t *ret)
{
	char buffer[64];

	return host_read_line(dir, path, buffer, sizeof(buffer)) && parse_u64(buffer, ret);
}

static void read_scale(struct host *host)
{
	uint64_t ticks = 0;
	uint64_t page = 0;

	if (host->live) {
		ticks = (uint64_t)sysconf(_SC_CLK_TCK);
		page = (uint64_t)sysconf(_SC_PAGESIZE);
	} else {
		host_recorded_number(host, "clock_ticks", &ticks);
		host_recorded_number(host, "page_size", &page);
	}
	host->clock_ticks = ticks <= NS_PER_SECOND ? ticks : 0;
	host->tick_ns = NS_PER_SECOND / (host->clock_ticks ? host->clock_ticks : USUAL_TICKS);
	host->page_bytes = page & (page - 1) ? 0 : page;
}

static void read_online(struct host *host)
{
	char list[4096];

	if (host_read_line(host->sys, "devices/system/cpu/online", list, sizeof(list)))
		(void)cpulist_parse(list, &host->online); /* left empty when it does not parse */
}

static int open_trees(struct host *host, const char *root, struct error *error)
{
	CLEANUP(close_fd) int top = open(root ? root : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (top < 0)
		return error_set(error, -errno, "cannot open the recorded root '%s': %s", root,
				 strerror(errno));
	host->proc = host_open_directory(top, "proc");
	if (host->proc < 0)
		return error_set(error, host->proc, "cannot open %s/proc: %s%s", root ? root : "",
				 strerror(-host->proc),
				 root ? " (tools/record-root.sh makes such a tree)" :
					" (is it mounted?)");
	host->sys = host_open_directory(top, "sys");
	host->etc = host_open_directory(top, "etc");
	if (root)
		return file_read_text(top, "taskscope-root", RECORDED_LIMIT, &host->recorded) ==
				       -ENOMEM ?
			       -ENOMEM :
			       0;
	return 0;
}

int host_open(struct host **ret, const char *root, struct error *error)
{
	struct host *host = calloc(1, sizeof(*host));
	int status;

	if (!host)
		return error_set(error, -ENOMEM, "out of memory");
	host->proc = host->sys = host->etc = host->cgroup.fd = -1;
	host->live = root == NULL;
	status = open_trees(host, root, error);
	if (status < 0) {
		host_close(host);
		return status;
	}
	read_scale(host);
	read_online(host);
	hierarchy_find(host->sys, &host->cgroup);
	*ret = host;
	return 0;
}

void host_close(struct host *host)
{
	if (!host)
		return;
	close_fd(&host->proc);
	close_fd(&host->sys);
	close_fd(&host->etc);
	close_fd(&host->cgroup.fd);
	cpuset_clear(&host->online);
	text_free(&host->recorded);
	free(host);
}

bool host_clock(const struct host *host, struct host_clock *ret)
{
	if (!host->live)
		return host_recorded_number(host, "captured_at_unix_ns", &ret->unix_ns) &&
		       host_recorded_number(host, "monotonic_ns", &ret->monotonic_ns) &&
		       host_recorded_number(host, "boottime_ns", &ret->boottime_ns);
	ret->unix_ns = clock_ns(CLOCK_REALTIME);
	ret->monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	ret->boottime_ns = clock_ns(CLOCK_BOOTTIME);
	return true;
}

bool host_namespace(const struct host *host, const char *name, uint64_t *ret)
{
	char path[64];
	struct stat namespace;

	if (!host->live) {
		snprintf(path, sizeof(path), "%s_namespace", name);
		return host_recorded_number(host, path, ret);
	}
	snprintf(path, sizeof(path), "self/ns/%s", name);
	if (fstatat(host->proc, path, &namespace, 0) < 0)
		return false;
	*ret = namespace.st_ino;
	return true;
}

bool host_arch(const struct host *host, char *buffer, size_t capacity)
{
	struct utsname names;

	if (!host->live)
		return read_recorded(host, "arch", buffer, capacity);
	if (uname(&names) < 0)
		return false;
	snprintf(buffer, capacity, "%s", names.machine);
	return true;
}

static int read_kernel_config(struct text *ret)
{
	CLEANUP(close_fd) int boot = open("/boot", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct utsname names;
	char name[sizeof(names.release) + 8];

	if (boot < 0 || uname(&names) < 0)
		return -errno;
	snprintf(name, sizeof(name), "config-%s", names.release);
	return file_read_text(boot, name, CONFIG_LIMIT, ret);
}

/* An option that is not in the file is off: it depends on one that is off. */
bool host_kernel_option(const struct host *host, const char *option, bool *ret)
{
	CLEANUP(text_free) struct text config = { 0 };
	char line[128];

	if (!host->live) {
		if (!read_recorded(host, option, line, sizeof(line)))
			return false;
		*ret = strcmp(line, "y") == 0;
		return *ret || strcmp(line, "n") == 0;
	}
	if (read_kernel_config(&config) < 0 || config.length == 0)
		return false;
	snprintf(line, sizeof(line), "\n%s=y\n", option);
	*ret = strstr(text_string(&config), line) != NULL;
	return true;
}

int64_t host_boottime_offset_ns(const struct host *host)
{
	char buffer[256];
	const char *cursor;
	int64_t seconds, nanoseconds;

	if (!host->live || file_read(host->proc, "self/timens_offsets", buffer, sizeof(buffer)) < 0)
		return 0;
	cursor = strstr(buffer, "boottime");
	if (!cursor)
		return 0;
	cursor += strlen("boottime");
	cursor += strspn(cursor, " \t");
	if (!scan_i64(&cursor, &seconds))
		return 0;
	cursor += strspn(cursor, " \t");
	if (!scan_i64(&cursor, &nanoseconds))
		return 0;
	return seconds * 1000000000 + nanoseconds;
}
