/* SPDX-License-Identifier: MIT */
#include "trace/stack/blocked_stack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "host/deadline_run.h"
#include "host/elf/target_memory.h"
#include "host/host.h"
#include "host/proc/proc_file.h"

#define PAGE 4096
#define COPY_MS 100
#define COPIES_NS NS_PER_SECOND

/* One copy, in a thread that may not come back. */
struct copying {
	struct blocked_thread thread;
	int directory; /* of the thread */
	ssize_t result;
	char bytes[BLOCKED_STACK_MAX];
};

static void release(void *context)
{
	struct copying *copying = context;

	close_fd(&copying->directory);
	free(copying);
}

static bool read_line(const char *text, const char *name, uint64_t *ret)
{
	const char *cursor = strstr(text, name);

	if (!cursor)
		return false;
	cursor += strlen(name);
	while (*cursor == ' ' || *cursor == '\t')
		cursor++;
	return scan_u64(&cursor, ret);
}

int status_switches(const char *text, uint64_t *ret)
{
	uint64_t voluntary, others;

	if (!read_line(text, "\nvoluntary_ctxt_switches:", &voluntary) ||
	    !read_line(text, "\nnonvoluntary_ctxt_switches:", &others))
		return -EBADMSG;
	*ret = voluntary + others;
	return 0;
}

static int check_switches(const struct copying *copying)
{
	char text[8192];
	uint64_t switches;
	ssize_t length = proc_read_start(copying->directory, "status", text, sizeof(text));

	if (length < 0)
		return proc_gone(length);
	if (status_switches(text, &switches) < 0)
		return -EBADMSG;
	return switches == copying->thread.switches ? 0 : -EAGAIN;
}

/*
 * Copies page by page, up to the last one that is there.  Pages that are not are left as zeros, which is what a page
 * holds that was never touched.
 */
static ssize_t copy_pages(const struct target_memory *memory, struct copying *copying)
{
	const struct blocked_thread *thread = &copying->thread;
	size_t end = 0, part;

	memset(copying->bytes, 0, thread->size);
	for (size_t at = 0; at < thread->size; at += part) {
		uint64_t address = thread->address + at;
		ssize_t got;

		part = PAGE - (address & (PAGE - 1));
		if (part > thread->size - at)
			part = thread->size - at;
		got = memory->read(memory->context, address, copying->bytes + at, part);
		if (got == -ESRCH || got == -EPERM)
			return got;
		if (got > 0)
			end = at + (size_t)got;
	}
	return (ssize_t)end;
}

static void copy(void *context)
{
	struct copying *copying = context;
	CLEANUP(close_fd) int pagemap = openat(copying->directory, "pagemap", O_RDONLY | O_CLOEXEC);
	struct present_memory present = { copying->thread.pid, pagemap };
	struct target_memory memory = target_memory_present(&present);
	int status;

	/* Without the pagemap, a read could wait for a page. */
	copying->result = pagemap < 0 ? -errno : copy_pages(&memory, copying);
	status = copying->result < 0 ? 0 : check_switches(copying);
	if (status < 0)
		copying->result = status;
}

static struct copying *copying_new(const struct blocked_reader *reader,
				   const struct blocked_thread *thread, int *status)
{
	struct copying *copying = malloc(sizeof(*copying));

	*status = -ENOMEM;
	if (!copying)
		return NULL;
	copying->thread = *thread;
	copying->directory = proc_open_thread(reader->host->proc, thread->pid, thread->tid);
	if (copying->directory >= 0)
		return copying;
	*status = proc_gone(copying->directory);
	free(copying);
	return NULL;
}

ssize_t blocked_stack_copy(struct blocked_reader *reader, const struct blocked_thread *thread,
			   void *ret)
{
	uint64_t now_ns = monotonic_ns();
	struct copying *copying;
	ssize_t size;
	int status;

	if (!reader->deadline_ns)
		reader->deadline_ns = now_ns + COPIES_NS;
	if (now_ns > reader->deadline_ns || thread->pid == reader->stuck_pid)
		return -ETIMEDOUT;
	if (thread->size > BLOCKED_STACK_MAX)
		return -EINVAL;
	copying = copying_new(reader, thread, &status);
	if (!copying)
		return status;
	status = deadline_run(copy, release, copying, COPY_MS);
	if (status == -ETIMEDOUT) {
		reader->stuck_pid = thread->pid;
		return status;
	}
	size = status < 0 ? status : copying->result;
	if (size > 0)
		memcpy(ret, copying->bytes, (size_t)size);
	release(copying);
	return size;
}
