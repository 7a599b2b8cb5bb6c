/* SPDX-License-Identifier: MIT */
#include "session/standing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "collect/proc_parse.h"
#include "host/host.h"
#include "model/syscall.h"
#include "session/stat_line.h"

#define STATUS_BYTES 16384
#define STACK_BYTES 8192
static void read_comm(const struct host *host, int32_t pid, char comm[TREE_COMM_SIZE])
{
	char path[32];

	snprintf(path, sizeof(path), "%" PRId32 "/comm", pid);
	if (!host_read_line(host->proc, path, comm, TREE_COMM_SIZE))
		comm[0] = '\0';
}

static void note_denied(struct standing *standing, int status)
{
	if (status == -EACCES || status == -EPERM)
		standing->denied = true;
}

/* "0" stands for none, also where the kernel keeps it to itself. */
static void read_channel(int task, struct standing *standing, struct standing_thread *thread)
{
	ssize_t length = file_read(task, "wchan", thread->channel, sizeof(thread->channel));

	if (length < 0 || strcmp(thread->channel, "0") == 0)
		thread->channel[0] = '\0';
	if (length < 0)
		note_denied(standing, (int)length);
}

/* What a descriptor is, as the links of fd show it. */
static void read_object(int process, uint64_t fd, struct standing_thread *thread)
{
	char path[32];
	ssize_t length;

	if (fd > INT32_MAX)
		return;
	snprintf(path, sizeof(path), "fd/%" PRIu64, fd);
	length = readlinkat(process, path, thread->object, sizeof(thread->object) - 1);
	thread->object[length > 0 ? length : 0] = '\0';
}

/* "running", or "NUMBER ARGUMENT...", the arguments in hexadecimal; -1 when in no call. */
static void read_call(int process, int task, struct standing *standing,
		      struct standing_thread *thread)
{
	char buffer[256];
	ssize_t length = file_read(task, "syscall", buffer, sizeof(buffer));
	const char *cursor = buffer;
	uint64_t number;

	if (length < 0) {
		note_denied(standing, (int)length);
		return;
	}
	if (!scan_u64(&cursor, &number) || number > UINT32_MAX)
		return;
	thread->in_call = true;
	thread->call = (uint32_t)number;
	if (syscall_wait_rule(SYSCALL_NATIVE, thread->call) == WAIT_RULE_BY_FD)
		read_object(process, strtoull(cursor, NULL, 16), thread);
}

/* Lines "[<0>] function+0x10/0x20 [module]". */
static void read_stack(int task, struct standing_thread *thread)
{
	char buffer[STACK_BYTES];
	ssize_t length = file_read(task, "stack", buffer, sizeof(buffer));
	const char *cursor = buffer;

	while (length > 0 && thread->frames < STANDING_FRAMES && (cursor = strstr(cursor, "] "))) {
		size_t symbol = strcspn(cursor + 2, "+ \n");

		cursor += 2;
		if (symbol >= STANDING_SYMBOL)
			symbol = STANDING_SYMBOL - 1;
		memcpy(thread->stack[thread->frames], cursor, symbol);
		thread->stack[thread->frames++][symbol] = '\0';
		cursor = strchr(cursor, '\n');
		if (!cursor)
			return;
	}
}

static void read_times(int task, struct standing_thread *thread)
{
	char buffer[128];
	const char *cursor = buffer;

	if (file_read(task, "schedstat", buffer, sizeof(buffer)) < 0)
		return;
	thread->has_times = scan_u64(&cursor, &thread->cpu_ns) && *cursor++ == ' ' &&
			    scan_u64(&cursor, &thread->queue_ns);
}

/* A thread that is gone by now is left out. */
static int read_thread(int process, int32_t tid, struct standing *standing)
{
	struct standing_thread thread = { .tid = tid };
	struct stat_line line;
	char path[32];
	CLEANUP(close_fd) int task = -1;

	snprintf(path, sizeof(path), "task/%" PRId32, tid);
	task = host_open_directory(process, path);
	if (task < 0 || stat_line_read(task, "stat", &line) < 0)
		return 0;
	memcpy(thread.comm, line.comm, sizeof(thread.comm));
	thread.state = line.state;
	if (!standing_is_dead_state(thread.state)) {
		read_channel(task, standing, &thread);
		read_times(task, &thread);
		if (!standing->is_kernel_thread)
			read_call(process, task, standing, &thread);
		if (thread.state == 'D' || standing->is_kernel_thread)
			read_stack(task, &thread);
	}
	return array_append(&standing->threads, thread);
}

static void close_listing(DIR **listing)
{
	if (*listing)
		closedir(*listing);
}

static int read_threads(int process, struct standing *standing)
{
	CLEANUP(close_fd) int fd = host_open_directory(process, "task");
	CLEANUP(close_listing) DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int status = read_thread(process, standing->pid, standing);

	if (!listing)
		return status;
	fd = -1;
	while (status == 0 && (entry = readdir(listing))) {
		uint64_t tid;

		if (!parse_u64(entry->d_name, &tid) || tid > INT32_MAX)
			continue;
		standing->thread_count++;
		if ((int32_t)tid != standing->pid && standing->threads.count < STANDING_THREADS)
			status = read_thread(process, (int32_t)tid, standing);
	}
	return status;
}

static int64_t status_number(const char *text, const char *key)
{
	size_t length;
	const char *value = proc_find_value(text, key, &length);
	int64_t number;

	while (value && (*value == '\t' || *value == ' '))
		value++;
	return value && scan_i64(&value, &number) ? number : 0;
}

/* The process that a thread's number belongs to. */
static int find_process(const struct host *host, int32_t asked, char *text, size_t capacity,
			int32_t *ret)
{
	char path[32];
	ssize_t length;

	snprintf(path, sizeof(path), "%" PRId32 "/status", asked);
	length = file_read(host->proc, path, text, capacity);
	if (length < 0)
		return length == -ENOENT ? -ESRCH : (int)length;
	*ret = (int32_t)status_number(text, "Tgid");
	return *ret > 0 ? 0 : -EBADMSG;
}

static void take_line(const struct stat_line *line, struct standing *standing)
{
	memcpy(standing->comm, line->comm, sizeof(standing->comm));
	standing->state = line->state;
	standing->is_kernel_thread = stat_line_is_kernel_thread(line);
	if (line->count > STAT_START) {
		standing->parent_pid = (int32_t)line->fields[STAT_PARENT];
		standing->start_ticks = (uint64_t)line->fields[STAT_START];
	}
}

/* The code of a first thread that ended before others is not that of the process. */
static void take_end(int process, const struct stat_line *line, struct standing *standing)
{
	standing->is_dead = standing_is_dead_state(line->state) && !stat_line_any_lives(process);
	if (line->count > STAT_EXIT_CODE && standing->is_dead) {
		standing->has_exit_status = line->state == 'Z';
		standing->exit_status = (int)line->fields[STAT_EXIT_CODE];
	}
}

static int read_process(const struct host *host, int32_t asked, struct standing *standing)
{
	CLEANUP(close_fd) int process = -1;
	struct stat_line line;
	char status_text[STATUS_BYTES];
	char path[16];
	int status = find_process(host, asked, status_text, sizeof(status_text), &standing->pid);

	if (status < 0)
		return status;
	standing->asked = asked;
	snprintf(path, sizeof(path), "%" PRId32, standing->pid);
	process = host_open_directory(host->proc, path);
	status = process < 0 ? process : stat_line_read(process, "stat", &line);
	if (status < 0)
		return status == -ENOENT ? -ESRCH : status;
	take_line(&line, standing);
	take_end(process, &line, standing);
	standing->tracer_pid = (int32_t)status_number(status_text, "TracerPid");
	if (standing->parent_pid > 0)
		read_comm(host, standing->parent_pid, standing->parent_comm);
	if (standing->tracer_pid > 0)
		read_comm(host, standing->tracer_pid, standing->tracer_comm);
	return read_threads(process, standing);
}

int standing_read(const struct host *host, int32_t pid, struct standing *ret, struct error *error)
{
	struct standing standing = { 0 };
	int status = read_process(host, pid, &standing);

	if (status == 0) {
		*ret = standing;
		return 0;
	}
	standing_clear(&standing);
	if (status == -ESRCH)
		return error_set(error, status, "there is no process %" PRId32, pid);
	return error_set(error, status, "cannot look at process %" PRId32 ": %s", pid,
			 strerror(-status));
}

void standing_clear(struct standing *standing)
{
	free(standing->threads.data);
	*standing = (struct standing){ 0 };
}

/* By how the links of fd begin. */
static const struct {
	const char *begin;
	int reason; /* -1: a socket may be of any kind */
} objects[] = {
	{ "pipe:", WAIT_PIPE },	    { "socket:", -1 },	       { "anon_inode:", WAIT_POLL },
	{ "/dev/pts/", WAIT_POLL }, { "/dev/tty", WAIT_POLL }, { "/dev/", -1 },
	{ "/", WAIT_DISK },
};

int standing_reason(const struct standing_thread *thread)
{
	unsigned rule;

	if (!thread->in_call)
		return -1;
	rule = syscall_wait_rule(SYSCALL_NATIVE, thread->call);
	if (rule < WAIT_REASON_COUNT)
		return rule == WAIT_OTHER ? -1 : (int)rule;
	for (size_t i = 0; rule == WAIT_RULE_BY_FD && i < ARRAY_SIZE(objects); i++)
		if (strncmp(thread->object, objects[i].begin, strlen(objects[i].begin)) == 0)
			return objects[i].reason;
	return -1;
}
