/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "trace/strace/strace.h"

#define STATUS_BYTES 4096

static int gone(int32_t pid, struct error *error)
{
	return error_set(error, -ESRCH, "process %" PRId32 " is gone", pid);
}

/* The tracer of a task whose directory this is; 0: none.  Or a negative errno. */
static int32_t read_tracer(int directory)
{
	static const char key[] = "\nTracerPid:";
	char status[STATUS_BYTES];
	ssize_t length = proc_read_start(directory, "status", status, sizeof(status));
	const char *line = length < 0 ? NULL : strstr(status, key);
	uint64_t pid = 0;

	if (length < 0)
		return (int32_t)proc_gone(length);
	if (!line)
		return 0;
	line += sizeof(key) - 1;
	line += strspn(line, " \t");
	return scan_u64(&line, &pid) && pid <= INT32_MAX ? (int32_t)pid : 0;
}

int32_t strace_tracer_of(const struct host *host, int32_t pid)
{
	CLEANUP(close_fd) int process = proc_open_number(host->proc, pid);
	int32_t tracer = process < 0 ? 0 : read_tracer(process);

	return tracer > 0 ? tracer : 0;
}

static int refuse_traced(const struct host *host, int32_t pid, int32_t tracer, struct error *error)
{
	CLEANUP(close_fd) int process = proc_open_number(host->proc, tracer);
	char comm[64] = "";

	if (process >= 0 && proc_read_start(process, "comm", comm, sizeof(comm)) >= 0)
		comm[strcspn(comm, "\n")] = '\0';
	return error_set(error, -EBUSY,
			 "process %" PRId32 " is already traced, by process %" PRId32
			 "%s%s%s; it can have one tracer",
			 pid, tracer, comm[0] ? " (" : "", comm, comm[0] ? ")" : "");
}

/* One thread that has a tracer is enough. */
int strace_target_check(const struct host *host, int32_t pid, struct error *error)
{
	CLEANUP(close_fd) int process = proc_open_number(host->proc, pid);
	CLEANUP(proc_numbers_clear) struct proc_numbers threads = { 0 };
	CLEANUP(close_fd) int tasks = process < 0 ? -1 : proc_open(process, "task");

	if (tasks < 0 || proc_list(tasks, ".", &threads) < 0 || !threads.list.count)
		return gone(pid, error);
	for (size_t i = 0; i < threads.list.count; i++) {
		CLEANUP(close_fd) int thread = proc_open_number(tasks, threads.list.data[i]);
		int32_t tracer = thread < 0 ? 0 : read_tracer(thread);

		if (tracer > 0)
			return refuse_traced(host, pid, tracer, error);
	}
	return 0;
}

int strace_target_explain(const struct host *host, int32_t pid, const char *message,
			  struct error *error)
{
	int status;

	if (strstr(message, "No such process"))
		return gone(pid, error);
	/* The kernel says the same of both. */
	status = strace_target_check(host, pid, error);
	if (status < 0)
		return status;
	if (strstr(message, "not permitted") || strstr(message, "denied"))
		return error_set(error, -EPERM,
				 "permission denied to trace process %" PRId32
				 ": run as root, or as its user where kernel.yama.ptrace_scope "
				 "is 0",
				 pid);
	return error_set(error, -EIO, "strace failed on process %" PRId32 ": %s", pid,
			 message[0] ? message : "it did not say why");
}
