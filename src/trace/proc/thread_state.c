/* SPDX-License-Identifier: MIT */
#include "trace/proc/thread_state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"
#include "host/wait/call_text.h"
#include "host/wait/descriptor_holders.h"
#include "model/syscall/syscall.h"
#include "model/wait/futex_word.h"
#include "model/wait/link_kind.h"
#include "trace/proc/members.h"

#define CALL_BYTES 256
#define CHANNEL_BYTES 64
#define RUNNING_TEXT "running"

bool thread_files_close(struct thread_files *files)
{
	bool was_open = files->is_open;

	if (!was_open)
		return false;
	close_fd(&files->call);
	close_fd(&files->stat);
	close_fd(&files->directory);
	files->is_open = false;
	return true;
}

/* Without the right to read it, the file of the call stays closed. */
static bool open_files(const struct members *members, struct member_thread *thread)
{
	struct thread_files *files = &thread->files;

	if (files->is_open)
		return true;
	files->directory = proc_open_thread(members->host->proc, thread->key.pid, thread->key.tid);
	if (files->directory < 0)
		return false;
	files->stat = openat(files->directory, "stat", O_RDONLY | O_CLOEXEC);
	files->call = openat(files->directory, "syscall", O_RDONLY | O_CLOEXEC);
	files->is_open = true;
	files->call_hash = 0;
	files->call_reason = -1;
	return files->stat >= 0;
}

/* Reads a file again from its beginning, and ends it with a NUL. */
static ssize_t read_again(int fd, char *buffer, size_t capacity)
{
	ssize_t length = fd < 0 ? -1 : pread(fd, buffer, capacity - 1, 0);

	buffer[length > 0 ? length : 0] = '\0';
	return length;
}

/* The kernel writes "0" when it hides the channel from us. */
static bool read_channel(const struct thread_files *files, char channel[CHANNEL_BYTES])
{
	return proc_read_start(files->directory, "wchan", channel, CHANNEL_BYTES) > 0 &&
	       strcmp(channel, "0") != 0;
}

static int by_channel(const struct thread_files *files)
{
	char channel[CHANNEL_BYTES];

	return read_channel(files, channel) ? channel_reason(channel) : -1;
}

/* For a thread whose call we may not read, or must not. */
static enum thread_found by_channel_alone(const struct thread_files *files, int *ret_reason)
{
	char channel[CHANNEL_BYTES];
	int reason;

	if (!read_channel(files, channel))
		return THREAD_GONE;
	reason = channel_reason(channel);
	*ret_reason = reason >= 0 ? reason : WAIT_OTHER;
	return THREAD_BLOCKED;
}

/* The kind of socket is known by where in the kernel it waits; a pipe with a name has a path. */
static int by_descriptor(const struct thread_files *files, uint64_t fd)
{
	char path[32], link[DESCRIPTOR_LINK];
	const struct link_kind *kind;
	int channel = by_channel(files);
	ssize_t length;

	if (fd > INT32_MAX)
		return WAIT_OTHER;
	if (channel == WAIT_PIPE)
		return channel;
	snprintf(path, sizeof(path), "fd/%" PRIu64, fd);
	length = readlinkat(files->directory, path, link, sizeof(link) - 1);
	link[length > 0 ? length : 0] = '\0';
	kind = link_kind_of(link);
	if (kind && kind->reason >= 0)
		return kind->reason;
	if (kind && strcmp(kind->kind, "socket") == 0)
		return WAIT_NETWORK;
	return channel >= 0 ? channel : WAIT_OTHER;
}

struct sleeper {
	const struct members *members;
	const struct member_thread *thread;
};

static bool is_thread(void *context, int32_t tid)
{
	const struct sleeper *sleeper = context;

	return members_find_thread(sleeper->members, tid) != NULL;
}

static bool is_own_thread(void *context, int32_t tid)
{
	const struct sleeper *sleeper = context;
	const struct member_thread *other = members_find_thread(sleeper->members, tid);

	return other && other->process == sleeper->thread->process;
}

/* The memory behind the word is not read: the call's arguments say enough. */
static int by_futex(const struct members *members, const struct member_thread *thread,
		    const struct call_text *call)
{
	struct sleeper sleeper = { members, thread };
	const struct futex_threads threads = { is_own_thread, is_thread, &sleeper };
	const struct futex_wait wait = { .operation = call->arguments[1],
					 .value = (uint32_t)call->arguments[2] };

	return (int)futex_judge(&wait, &threads).reason;
}

static int by_call(const struct members *members, const struct member_thread *thread,
		   const struct call_text *call)
{
	const struct thread_files *files = &thread->files;
	unsigned rule = syscall_wait_rule(SYSCALL_NATIVE, call->number);
	uint64_t command = call->arguments[1];
	int channel;

	if (rule < WAIT_REASON_COUNT && rule != WAIT_OTHER)
		return (int)rule;
	switch (rule) {
	case WAIT_RULE_FUTEX:
		return by_futex(members, thread, call);
	case WAIT_RULE_RESTART:
		return files->call_reason >= 0 ? files->call_reason : WAIT_OTHER;
	case WAIT_RULE_FCNTL:
		if (command == F_SETLKW || command == F_OFD_SETLKW)
			return WAIT_LOCK;
		return by_descriptor(files, call->arguments[0]);
	case WAIT_RULE_BY_FD:
		return by_descriptor(files, call->arguments[0]);
	case WAIT_RULE_OPEN:
		return by_channel(files) == WAIT_PIPE ? WAIT_PIPE : WAIT_DISK;
	default:
		channel = by_channel(files);
		return channel >= 0 ? channel : WAIT_OTHER;
	}
}

/* FNV-1a; 0 stands for no text. */
static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash | 1;
}

/*
 * A thread that is in the same call, at the same place and with the same arguments, still waits for
 * the same thing.
 */
static int examine_call(const struct members *members, struct member_thread *thread,
			const char *text)
{
	struct thread_files *files = &thread->files;
	uint64_t hash = hash_of(text);
	struct call_text call;

	if (hash == files->call_hash)
		return files->call_reason;
	files->call_reason =
		call_text_parse(text, &call) ? by_call(members, thread, &call) : WAIT_MEMORY;
	files->call_hash = hash;
	return files->call_reason;
}

/*
 * A thread that sleeps without a right to be interrupted may wait for a disk or for memory in any
 * call: go by where it sleeps first.
 */
static enum thread_found examine_blocked(const struct members *members,
					 struct member_thread *thread, char state, bool is_loading,
					 int *ret_reason)
{
	char text[CALL_BYTES];
	int reason = state == 'D' ? by_channel(&thread->files) : -1;

	*ret_reason = reason;
	if (reason >= 0)
		return THREAD_BLOCKED;
	if (is_loading || read_again(thread->files.call, text, sizeof(text)) <= 0)
		return by_channel_alone(&thread->files, ret_reason);
	/* It was woken meanwhile. */
	if (strncmp(text, RUNNING_TEXT, strlen(RUNNING_TEXT)) == 0)
		return THREAD_RUNNING;
	*ret_reason = examine_call(members, thread, text);
	return THREAD_BLOCKED;
}

enum thread_found thread_state_read(const struct members *members, struct member_thread *thread,
				    int *ret_reason)
{
	char text[TASK_STAT_BYTES], state;
	struct task_stat stat;

	if (!open_files(members, thread) ||
	    read_again(thread->files.stat, text, sizeof(text)) <= 0 ||
	    !task_stat_parse_to(text, TASK_STAT_START_CODE, &stat))
		return THREAD_GONE;
	state = task_stat_state(&stat);
	switch (state) {
	case 'R':
		return THREAD_RUNNING;
	case 'T':
	case 't':
		*ret_reason = WAIT_STOPPED;
		return THREAD_BLOCKED;
	case 'S':
	case 'D':
		return examine_blocked(members, thread, state,
				       task_stat_value(&stat, TASK_STAT_START_CODE) == 0,
				       ret_reason);
	default:
		return THREAD_GONE;
	}
}
