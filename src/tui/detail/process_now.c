/* SPDX-License-Identifier: MIT */
#include "tui/detail/process_now.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "metric/unit.h"
#include "tui/act/act.h"
#include "tui/screen/top_state.h"

/* Reading a link takes a microsecond: more would be felt. */
#define FILES_MOST 10000
#define LABELS 14 /* columns of the words before what is said */
#define STACK_LINES_MOST 12
#define STACK_BYTES_MOST 4096

/* The first that begins like the link's target. */
static const struct {
	const char *begin, *name;
} kinds[] = {
	{ "socket:", "sockets" },
	{ "pipe:", "pipes" },
	{ "anon_inode:[eventfd", "eventfds" },
	{ "anon_inode:[eventpoll", "epolls" },
	{ "anon_inode:[timerfd", "timerfds" },
	{ "anon_inode:[signalfd", "signalfds" },
	{ "anon_inode:inotify", "inotifies" },
	{ "anon_inode:[pidfd", "pidfds" },
	{ "pidfd:", "pidfds" },
	{ "anon_inode:bpf", "BPF objects" },
	{ "anon_inode:[io_uring", "io_urings" },
	{ "anon_inode:", "others of the kernel" },
	{ "/memfd:", "memfds" },
	{ "/dev/", "devices" },
	{ "/", "files" },
	{ "", "others" },
	{ "", "whose kind may not be read" },
};

static size_t kind_of(int dir, const char *name)
{
	char target[64] = "";
	size_t i = 0;

	if (readlinkat(dir, name, target, sizeof(target) - 1) < 0)
		return ARRAY_SIZE(kinds) - 1;
	while (strncmp(target, kinds[i].begin, strlen(kinds[i].begin)) != 0)
		i++;
	return i;
}

static void close_directory(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* How many there are; -1 when that may not be read. */
static int64_t add_files(struct text_page *page, int process)
{
	CLEANUP(text_free) struct text line = { 0 };
	size_t counts[ARRAY_SIZE(kinds)] = { 0 };
	int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_directory) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int64_t count = 0, all;
	struct stat status;

	if (!dir) {
		top_text_line(page, "  open files  not known: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	/* To list them takes long, too, and kernels since 6.2 know how many there are. */
	all = fstat(fd, &status) == 0 ? status.st_size : 0;
	while ((count < FILES_MOST || !all) && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && count++ < FILES_MOST)
			counts[kind_of(fd, entry->d_name)]++;
	if (count >= FILES_MOST && all > count)
		count = all;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		for (size_t j = i + 1; j < ARRAY_SIZE(kinds); j++)
			if (strcmp(kinds[i].name, kinds[j].name) == 0) {
				counts[i] += counts[j];
				counts[j] = 0;
			}
	text_format(&line, "%lld", (long long)count);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (counts[i])
			text_format(&line, ", %zu %s", counts[i], kinds[i].name);
	if (count > FILES_MOST)
		text_format(&line, ", %lld whose kind was not read", (long long)count - FILES_MOST);
	top_text_words(page, LABELS, "  open files  %s", text_string(&line));
	return count;
}

/* Names as the kernel has them in the file of limits. */
static const char *const limits[] = {
	"Max open files",    "Max processes",  "Max locked memory",
	"Max address space", "Max stack size", "Max core file size",
};

/* A number of the kernel, or "unlimited". */
static void append_limit(struct text *line, const char *limit, bool is_bytes)
{
	char *end;
	unsigned long long number = strtoull(limit, &end, 10);

	if (is_bytes && end > limit && !*end)
		unit_format(line, UNIT_BYTES, number);
	else
		text_append_string(line, limit);
}

static void add_limits(struct text_page *page, int process, int64_t files)
{
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	ssize_t size = proc_read(process, "limits", &buffer);

	if (size < 0) {
		top_text_line(page, "  limits      not known: %s", strerror((int)-size));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const char *line = strstr(buffer.data, limits[i]);
		CLEANUP(text_free) struct text words = { 0 };
		char soft[32], hard[32], unit[16] = "";
		bool is_bytes;

		if (!line ||
		    sscanf(line + strlen(limits[i]), "%31s %31s %15s", soft, hard, unit) < 2)
			continue;
		is_bytes = strcmp(unit, "bytes") == 0;
		if (i == 0 && files >= 0)
			text_format(&words, "%lld of ", (long long)files);
		append_limit(&words, soft, is_bytes);
		text_append_string(&words, ", at most ");
		append_limit(&words, hard, is_bytes);
		top_text_line(page, "  limit       %s: %s", limits[i] + 4, text_string(&words));
	}
}

/*
 * Names as the kernel has them in the file of its state, and what they are.  The name of the process, which
 * comes first, may look like one of them, but has no newline.
 */
static const struct {
	const char *key, *name;
} kinds_of_memory[] = {
	{ "\nRssAnon:", "own" },
	{ "\nRssFile:", "of files" },
	{ "\nRssShmem:", "shared" },
	{ "\nVmSwap:", "swapped" },
	{ "\nVmLck:", "locked" },
	{ "\nVmData:", "data (mapped)" },
	{ "\nVmStk:", "stack" },
	{ "\nVmExe:", "code" },
	{ "\nVmLib:", "libraries" },
	{ "\nVmPTE:", "page tables" },
	{ "\nHugetlbPages:", "huge pages" },
};

static void add_memory(struct text_page *page, int process)
{
	CLEANUP(proc_buffer_clear) struct proc_buffer buffer = { 0 };
	CLEANUP(text_free) struct text line = { 0 };
	ssize_t size = proc_read(process, "status", &buffer);

	for (size_t i = 0; size > 0 && i < ARRAY_SIZE(kinds_of_memory); i++) {
		const char *found = strstr(buffer.data, kinds_of_memory[i].key);
		unsigned long long kib;

		if (!found || sscanf(found + strlen(kinds_of_memory[i].key), "%llu", &kib) != 1 ||
		    !kib)
			continue;
		text_append_string(&line, line.length ? ", " : "");
		unit_format(&line, UNIT_BYTES, kib * 1024);
		text_format(&line, " %s", kinds_of_memory[i].name);
	}
	if (size < 0)
		top_text_line(page, "  memory      not known: %s", strerror((int)-size));
	else
		top_text_words(page, LABELS, "  memory      %s",
			       line.length ? text_string(&line) : "none of its own");
}

static void add_stack(struct top *top, int process, int32_t pid)
{
	struct text_page *page = &top->text;
	char buffer[STACK_BYTES_MOST] = "";
	ssize_t size = deadline_read(&top->readers, pid, process, "stack", buffer, sizeof(buffer));
	char *rest = NULL, *line;
	int count = 0;

	if (size <= 0) {
		top_text_line(page, "  kernel stack of the first thread  %s%s",
			      size < 0 ? "not known: " : "none: it runs, or is in its own code",
			      size < 0 ? strerror((int)-size) : "");
		return;
	}
	top_text_line(
		page,
		"  kernel stack of the first thread (all of them, with their own code, are below):");
	for (line = strtok_r(buffer, "\n", &rest); line && count++ < STACK_LINES_MOST;
	     line = strtok_r(NULL, "\n", &rest)) {
		const char *name = strchr(line, ' ');

		top_text_line(page, "    %s", name ? name + 1 : line);
	}
}

void process_now_add(struct top *top, int32_t pid, uint64_t start_time_ns)
{
	const struct host *host = top->options->host;
	struct text_page *page = &top->text;
	int process = proc_open_number(host->proc, pid);
	int64_t files;

	top_text_line(page, "%s", "");
	top_text_line(page, "Files, limits, memory and stack now:");
	if (process < 0 || !act_has_start(host, pid, start_time_ns)) {
		top_text_line(page, "  the process has ended");
	} else {
		files = add_files(page, process);
		add_limits(page, process, files);
		add_memory(page, process);
		add_stack(top, process, pid);
	}
	if (process >= 0)
		close(process);
}
