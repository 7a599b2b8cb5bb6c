/* SPDX-License-Identifier: MIT */
#include "trace/command_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "host/aside.h"
#include "host/host.h"
#include "model/tree_event.h"
#include "trace/tracer.h"

struct job {
	int fd;
	int status;
	size_t length;
	char arguments[TREE_ARGUMENTS_MAX + 1];
};

static void job_free(void *context)
{
	struct job *job = context;

	if (!job)
		return;
	close_fd(&job->fd);
	free(job);
}

static void job_free_pointer(struct job **job)
{
	job_free(*job);
}

static void job_read(void *context)
{
	struct job *job = context;

	while (job->length < sizeof(job->arguments)) {
		ssize_t got = read(job->fd, job->arguments + job->length,
				   sizeof(job->arguments) - job->length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			job->status = -errno;
		if (got <= 0)
			return;
		job->length += (size_t)got;
	}
}

static int job_open(struct job *job, const struct host *host, int32_t pid, uint64_t start_ns)
{
	CLEANUP(close_fd) int process = process_directory(host, pid, start_ns);

	job->fd = -1;
	if (process < 0)
		return process;
	job->fd = openat(process, "cmdline", O_RDONLY | O_CLOEXEC);
	if (job->fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	return 0;
}

static int job_take(const struct job *job, struct command_line *ret)
{
	size_t length = job->length < TREE_ARGUMENTS_MAX ? job->length : TREE_ARGUMENTS_MAX;
	bool cut = job->length > length;
	char *copy;

	if (job->status < 0)
		return job->status;
	length = text_words(job->arguments, length, &cut);
	if (length == 0)
		return -ENODATA;
	copy = malloc(length);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, job->arguments, length);
	*ret = (struct command_line){ copy, length, cut };
	return 0;
}

int command_line_read(const struct host *host, int32_t pid, uint64_t start_ns, unsigned timeout_ms,
		      struct command_line *ret)
{
	CLEANUP(job_free_pointer) struct job *job = calloc(1, sizeof(*job));
	int status;

	if (!job)
		return -ENOMEM;
	status = job_open(job, host, pid, start_ns);
	if (status < 0)
		return status;
	status = aside_run(job_read, job_free, job, timeout_ms);
	if (status == -ETIMEDOUT)
		job = NULL;
	return status < 0 ? status : job_take(job, ret);
}
