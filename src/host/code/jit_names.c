/* SPDX-License-Identifier: MIT */
#include "host/code/jit_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "host/code/code_state.h"
#include "host/code/perf_map.h"
#include "host/deadline_run.h"
#include "host/plain_file.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"

#define READ_NS ((uint64_t)100 * NS_PER_MS) /* between two looks at a file */
#define READ_MS 500			    /* how long one may take */
#define READ_BYTES ((size_t)4 << 20)	    /* at once; the rest follows at the next look */
#define FILE_BYTES_MAX ((uint64_t)64 << 20) /* of one file; a sparse one can have any size */
#define STATUS_BYTES 8192
#define KEPT_BYTES_MAX ((size_t)24 << 20) /* of the maps of all processes */
#define LATE_MAX 4

struct jit_process {
	int32_t pid;
	uint64_t start_ns;
	uint64_t looked_ns; /* 0: never */
	uint64_t offset;    /* in its file: what was read */
	struct perf_map map;
};

/* What processes of root and our own share, or those of all others. */
struct jit_share {
	ARRAY_OF(struct jit_process) processes;
	unsigned late; /* threads that did not come back in time */
};

/* Strangers have a share of their own: their maps and file systems cost others no names. */
struct jit_names {
	const struct code *code;
	struct jit_share trusted, strangers;
};

/* A file that is being read; by a thread, since a file system may not answer. */
struct reading {
	int process;
	uint64_t offset;
	size_t length;
	char bytes[READ_BYTES];
};

static void reading_free(void *context)
{
	struct reading *reading = context;

	if (!reading)
		return;
	close_fd(&reading->process);
	free(reading);
}

CLEANUP_POINTER(reading_free, struct reading)

struct jit_names *jit_names_new(const struct code *code)
{
	struct jit_names *names = calloc(1, sizeof(*names));

	if (names)
		names->code = code;
	return names;
}

static void share_clear(struct jit_share *share)
{
	for (size_t i = 0; i < share->processes.count; i++)
		perf_map_clear(&share->processes.data[i].map);
	array_free(&share->processes);
}

void jit_names_free(struct jit_names *names)
{
	if (!names)
		return;
	share_clear(&names->trusted);
	share_clear(&names->strangers);
	free(names);
}

/* The number in a line of status: the first (0), the second (1), or the last (-1). */
static bool status_number(const char *text, const char *key, int which, uint64_t *ret)
{
	size_t length;
	const char *value = task_status_find(text, key, &length);
	const char *cursor = value;

	for (int i = 0; value && cursor < value + length; i++) {
		cursor = task_text_skip_blanks(cursor);
		if (!scan_u64(&cursor, ret))
			return false;
		if (i == which)
			return true;
		cursor = task_text_skip_blanks(cursor);
	}
	return value && which < 0;
}

/* The file of a process: an fd or a negative errno. */
static int open_map(int process)
{
	CLEANUP(close_fd) int root = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_fd) int place = -1;
	char status[STATUS_BYTES], path[64];
	uint64_t pid, user;
	struct stat file;

	if (root < 0)
		return -errno;
	if (proc_read_start(process, "status", status, sizeof(status)) < 0 ||
	    !status_number(status, "NSpid", -1, &pid) || !status_number(status, "Uid", 1, &user))
		return -ESRCH;
	snprintf(path, sizeof(path), "/tmp/perf-%lu.map", (unsigned long)pid);
	place = plain_file_find(root, path);
	if (place < 0)
		return place;
	if (fstat(place, &file) < 0)
		return -errno;
	return file.st_uid == user ? plain_file_open(place) : -EPERM;
}

static void read_map(void *context)
{
	struct reading *reading = context;
	CLEANUP(close_fd) int fd = open_map(reading->process);
	ssize_t got = fd < 0 ? fd : file_read_at(fd, reading->offset, reading->bytes, READ_BYTES);

	reading->length = got > 0 ? (size_t)got : 0;
}

/*
 * A line that is longer than what is read at once never ends: then the file is not read any
 * further.
 */
static void look(const struct code *code, struct jit_share *share, struct jit_process *process)
{
	CLEANUP(reading_free_pointer) struct reading *reading = malloc(sizeof(*reading));
	int status;

	if (!reading)
		return;
	reading->offset = process->offset;
	reading->length = 0;
	reading->process = code_open_process(code, process->pid, process->start_ns);
	if (reading->process < 0)
		return;
	status = deadline_run(read_map, reading_free, reading, READ_MS);
	if (status == -ETIMEDOUT) {
		reading = NULL;
		share->late++;
	}
	if (status == 0)
		process->offset += perf_map_parse(&process->map, reading->bytes, reading->length);
}

static bool is_full(const struct jit_share *share)
{
	size_t bytes = 0;

	for (size_t i = 0; i < share->processes.count; i++) {
		const struct perf_map *map = &share->processes.data[i].map;

		bytes += map->names.capacity + map->list.capacity * sizeof(*map->list.data);
	}
	return bytes > KEPT_BYTES_MAX;
}

/* The place of the process without a map that was looked at longest ago; NULL: all have one. */
static struct jit_process *replaceable(struct jit_share *share)
{
	struct jit_process *found = NULL;

	for (size_t i = 0; i < share->processes.count; i++) {
		struct jit_process *process = &share->processes.data[i];

		if (process->map.list.count == 0 &&
		    (!found || process->looked_ns < found->looked_ns))
			found = process;
	}
	if (found)
		perf_map_clear(&found->map);
	return found;
}

static struct jit_process *known_process(struct jit_share *share, int32_t pid, uint64_t start_ns)
{
	for (size_t i = 0; i < share->processes.count; i++)
		if (share->processes.data[i].pid == pid &&
		    share->processes.data[i].start_ns == start_ns)
			return &share->processes.data[i];
	return NULL;
}

static struct jit_process *new_process(struct jit_share *share, int32_t pid, uint64_t start_ns)
{
	struct jit_process process = { .pid = pid, .start_ns = start_ns }, *place;

	if (share->processes.count < JIT_PROCESSES_MAX) {
		if (array_append(&share->processes, process) < 0)
			return NULL;
		return &share->processes.data[share->processes.count - 1];
	}
	place = replaceable(share);
	if (place)
		*place = process;
	return place;
}

static struct jit_share *share_of(struct jit_names *names, int32_t pid, uint64_t start_ns)
{
	CLEANUP(close_fd) int process = code_open_process(names->code, pid, start_ns);

	return code_process_is_trusted(process) ? &names->trusted : &names->strangers;
}

/* NULL: there is no room.  A process stays in the share that it had at first. */
static struct jit_process *process_of(struct jit_names *names, int32_t pid, uint64_t start_ns,
				      struct jit_share **ret)
{
	struct jit_process *process = known_process(&names->trusted, pid, start_ns);

	*ret = &names->trusted;
	if (process)
		return process;
	*ret = &names->strangers;
	process = known_process(&names->strangers, pid, start_ns);
	if (process)
		return process;
	*ret = share_of(names, pid, start_ns);
	return new_process(*ret, pid, start_ns);
}

const char *jit_names_find(struct jit_names *names, int32_t pid, uint64_t start_ns,
			   uint64_t address)
{
	struct jit_share *share;
	struct jit_process *process = process_of(names, pid, start_ns, &share);
	const char *name = process ? perf_map_find(&process->map, address) : NULL;
	uint64_t now = name ? 0 : monotonic_ns();
	uint64_t offset;

	if (!process || name || share->late >= LATE_MAX || process->offset >= FILE_BYTES_MAX ||
	    (process->looked_ns && now - process->looked_ns < READ_NS) || is_full(share))
		return name;
	process->looked_ns = now;
	do {
		offset = process->offset;
		look(names->code, share, process);
		name = perf_map_find(&process->map, address);
	} while (!name && process->offset - offset > READ_BYTES / 2 &&
		 process->offset < FILE_BYTES_MAX && monotonic_ns() - now < READ_MS * NS_PER_MS);
	return name;
}
