/* SPDX-License-Identifier: MIT */
#include "host/code/name/jit_names.h"

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
#include "host/code/mapped_code.h"
#include "host/code/name/perf_map.h"
#include "host/deadline_run.h"
#include "host/plain_file.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"

#define READ_NS ((uint64_t)100 * NS_PER_MS) /* between two looks at a file */
#define READ_MS 500			    /* how long one may take */
#define READ_BYTES ((size_t)4 << 20)	    /* at once; the rest follows at the next look */
#define FILE_BYTES_MAX ((uint64_t)64 << 20) /* of one file; a sparse one can have any size */
#define STATUS_BYTES 8192
#define KEPT_BYTES_MAX                                                                             \
	((size_t)48 << 20) /* of the maps of all processes, half of them strangers' */
#define KEPT_PART 8	   /* of which a stranger's may take one in so many */
#define STAMP_NS ((uint64_t)20 * NS_PER_MS)

struct jit_process {
	uint64_t program; /* number of its address space */
	struct code_user *user;
	uint64_t looked_ns; /* 0: never */
	uint64_t offset;    /* in its file: what was read */
	struct perf_map map;
};

struct jit_names {
	struct code *code;
	ARRAY_OF(struct jit_process) processes;
};

/* A file that is being read; by a thread, since a file system may not answer. */
struct reading {
	int process;
	uint64_t begin_ns; /* when the program began (CLOCK_REALTIME); 0: not known */
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

struct jit_names *jit_names_new(struct code *code)
{
	struct jit_names *names = calloc(1, sizeof(*names));

	if (names)
		names->code = code;
	return names;
}

void jit_names_free(struct jit_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->processes.count; i++)
		perf_map_clear(&names->processes.data[i].map);
	array_free(&names->processes);
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

/* File systems stamp files with a clock that stands still for up to a tick. */
static bool is_older(const struct stat *file, uint64_t begin_ns)
{
	uint64_t changed_ns =
		(uint64_t)file->st_mtim.tv_sec * NS_PER_SECOND + (uint64_t)file->st_mtim.tv_nsec;

	return begin_ns && changed_ns + STAMP_NS < begin_ns;
}

/* The file of a process: an fd or a negative errno. */
static int open_map(int process, uint64_t begin_ns)
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
	if (is_older(&file, begin_ns))
		return -ESTALE;
	return file.st_uid == user ? plain_file_open(place) : -EPERM;
}

static void read_map(void *context)
{
	struct reading *reading = context;
	CLEANUP(close_fd) int fd = open_map(reading->process, reading->begin_ns);
	ssize_t got = fd < 0 ? fd : file_read_at(fd, reading->offset, reading->bytes, READ_BYTES);

	reading->length = got > 0 ? (size_t)got : 0;
}

/*
 * A line that is longer than what is read at once never ends: then the file is not read any
 * further.
 */
static void look(struct jit_names *names, struct jit_process *process,
		 const struct address_space *space)
{
	CLEANUP(reading_free_pointer) struct reading *reading = malloc(sizeof(*reading));
	uint64_t begin_ns = monotonic_ns();
	int status;

	if (!reading)
		return;
	reading->offset = process->offset;
	reading->length = 0;
	reading->begin_ns =
		space->begin_ns ? clock_ns(CLOCK_REALTIME) - (begin_ns - space->begin_ns) : 0;
	reading->process = code_open_process(names->code, space->pid, space->start_ns);
	if (reading->process < 0)
		return;
	status = deadline_run(read_map, reading_free, reading, READ_MS);
	process->user->waited_ns += monotonic_ns() - begin_ns;
	if (status == -ETIMEDOUT) {
		reading = NULL;
		process->user->late_opens++;
	}
	if (status == 0)
		process->offset += perf_map_parse(&process->map, reading->bytes, reading->length);
}

static size_t map_bytes(const struct perf_map *map)
{
	return map->names.capacity + map->list.capacity * sizeof(*map->list.data);
}

static bool is_trusted(const struct code_user *user)
{
	return user->uid == CODE_OWNER_TRUSTED;
}

/* Whether no more is kept of files of this user.  What strangers have takes no room of others. */
static bool is_full(const struct jit_names *names, const struct code_user *user)
{
	size_t bytes = 0, his = 0;

	for (size_t i = 0; i < names->processes.count; i++) {
		const struct jit_process *process = &names->processes.data[i];

		if (is_trusted(process->user) == is_trusted(user))
			bytes += map_bytes(&process->map);
		if (process->user == user)
			his += map_bytes(&process->map);
	}
	return bytes > KEPT_BYTES_MAX / 2 ||
	       (!is_trusted(user) && his > KEPT_BYTES_MAX / KEPT_PART);
}

/* The place of his process without a map that was looked at longest ago; NULL: all have one. */
static struct jit_process *replaceable(struct jit_names *names, const struct code_user *user)
{
	struct jit_process *found = NULL;

	for (size_t i = 0; i < names->processes.count; i++) {
		struct jit_process *process = &names->processes.data[i];

		if (process->map.list.count == 0 && process->user == user &&
		    (!found || process->looked_ns < found->looked_ns))
			found = process;
	}
	if (found)
		perf_map_clear(&found->map);
	return found;
}

static bool has_share(const struct jit_names *names, const struct code_user *user)
{
	size_t count = 0, his = 0;

	for (size_t i = 0; i < names->processes.count; i++) {
		count += is_trusted(names->processes.data[i].user) == is_trusted(user);
		his += names->processes.data[i].user == user;
	}
	return count < JIT_PROCESSES_MAX / 2 && (is_trusted(user) || his < JIT_PROCESSES_SHARE);
}

static struct code_user *user_of(struct jit_names *names, const struct address_space *space)
{
	CLEANUP(close_fd)
	int process = code_open_process(names->code, space->pid, space->start_ns);

	return code_user_of_process(names->code, process);
}

static struct jit_process *process_add(struct jit_names *names, const struct address_space *space)
{
	struct jit_process process = { .program = space->number, .user = user_of(names, space) };
	struct jit_process *place;

	if (has_share(names, process.user)) {
		if (array_append(&names->processes, process) < 0)
			return NULL;
		return &names->processes.data[names->processes.count - 1];
	}
	place = replaceable(names, process.user);
	if (place)
		*place = process;
	return place;
}

static struct jit_process *process_of(struct jit_names *names, const struct address_space *space)
{
	for (size_t i = 0; i < names->processes.count; i++)
		if (names->processes.data[i].program == space->number)
			return &names->processes.data[i];
	return process_add(names, space);
}

const char *jit_names_find(struct jit_names *names, const struct address_space *space,
			   uint64_t address)
{
	struct jit_process *process = process_of(names, space);
	const char *name = process ? perf_map_find(&process->map, address) : NULL;
	uint64_t now = name ? 0 : monotonic_ns();
	uint64_t offset;

	if (!process || name || process->offset >= FILE_BYTES_MAX ||
	    (process->looked_ns && now - process->looked_ns < READ_NS) ||
	    !code_user_may_open(names->code, process->user) || is_full(names, process->user))
		return name;
	process->looked_ns = now;
	do {
		offset = process->offset;
		look(names, process, space);
		name = perf_map_find(&process->map, address);
	} while (!name && process->offset - offset > READ_BYTES / 2 &&
		 process->offset < FILE_BYTES_MAX && monotonic_ns() - now < READ_MS * NS_PER_MS);
	return name;
}
