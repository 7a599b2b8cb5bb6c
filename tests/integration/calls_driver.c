/* SPDX-License-Identifier: MIT */
/*
 * Sums system calls, for tests: calls_driver tree PID | cgroup PATH | pid PID | host - [SUMS].
 *
 * Says "ready"; then answers each line of its standard input:
 *	read	a line for each sum: sum PID START NAME CALLS ERRORS TIME MAX
 *	now	a line for each call under way: now PID TID NAME TIME EARLIER
 *	lost	lost CALLS TIME THREADS OWN
 *	pause, resume
 *	fork	starts a child of ours that makes calls
 * and ends each answer with a line "done".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "host/host.h"
#include "trace/calls/calls.h"

static int print_sum(void *context, const struct call_sum *sum)
{
	char name[SYSCALL_NAME_SIZE];

	(void)context;
	printf("sum %d %" PRIu64 " %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", sum->pid,
	       sum->start_ns, syscall_name(sum->abi, sum->number, name), sum->calls, sum->errors,
	       sum->time_ns, sum->max_ns);
	return 0;
}

static int print_now(void *context, const struct call_under_way *call)
{
	char name[SYSCALL_NAME_SIZE];

	(void)context;
	printf("now %d %d %s %" PRIu64 " %d\n", call->pid, call->tid,
	       syscall_name(call->abi, call->number, name), call->time_ns, call->is_earlier);
	return 0;
}

static void print_lost(const struct calls *calls)
{
	struct calls_losses lost;

	calls_losses(calls, &lost);
	printf("lost %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", lost.calls, lost.time_ns,
	       lost.threads, lost.own_calls);
}

static void run_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (int i = 0; i < 1000; i++)
			(void)getppid();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	printf("child %d\n", pid);
}

static int answer(struct calls *calls, const char *word)
{
	if (strcmp(word, "read") == 0)
		return calls_read(calls, print_sum, NULL);
	if (strcmp(word, "now") == 0)
		return calls_under_way(calls, print_now, NULL);
	if (strcmp(word, "pause") == 0)
		return calls_pause(calls);
	if (strcmp(word, "resume") == 0)
		return calls_resume(calls);
	if (strcmp(word, "fork") == 0)
		run_child();
	else
		print_lost(calls);
	return 0;
}

int main(int count, char **words)
{
	CLEANUP(host_close_pointer) struct host *host = NULL;
	struct calls_options options = { 0 };
	struct calls *calls = NULL;
	struct error error = { 0 };
	char line[64];
	int32_t pid;
	int status;

	if (count < 3)
		return 2;
	pid = (int32_t)strtol(words[2], NULL, 10);
	if (strcmp(words[1], "tree") == 0)
		options.tree_pid = pid;
	else if (strcmp(words[1], "cgroup") == 0)
		options.cgroup = words[2];
	else if (strcmp(words[1], "pid") == 0)
		options = (struct calls_options){ .pids = &pid, .pid_count = 1 };
	options.sums_max = count > 3 ? (uint32_t)strtoul(words[3], NULL, 10) : 0;
	status = host_open(&host, NULL, &error);
	if (status == 0)
		status = calls_open(host, &options, &calls, &error);
	puts(status < 0 ? error.message : "ready");
	fflush(stdout);
	while (status == 0 && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		status = answer(calls, line);
		puts(status < 0 ? strerror(-status) : "done");
		fflush(stdout);
	}
	calls_close(calls);
	return status < 0;
}
