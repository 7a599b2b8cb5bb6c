/* SPDX-License-Identifier: MIT */
#include "session/why/process_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "host/deadline_run.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"
#include "model/syscall/syscall.h"

#define STATUS_BYTES 16384
#define STACK_BYTES 8192

static void read_comm(const struct host *host, int32_t pid, char comm[TREE_COMM_SIZE])
{
	char path[32];

	snprintf(path, sizeof(path), "%" PRId32 "/comm", pid);
	if (!host_read_line(host->proc, path, comm, TREE_COMM_SIZE))
		comm[0] = '\0';
}

static void note_failure(struct process_state *found, int status)
{
	found->denied |= status == -EACCES || status == -EPERM;
	found->late |= status == -ETIMEDOUT;
}

/* "0" means none; the kernel also writes it when it hides the channel from us. */
static void read_channel(int task, struct process_state *found, struct task_state *thread)
{
	ssize_t length = file_read(task, "wchan", thread->channel, sizeof(thread->channel));

	if (length < 0 || strcmp(thread->channel, "0") == 0)
		thread->channel[0] = '\0';
	if (length < 0)
		note_failure(found, (int)length);
}

/* Reads what a descriptor refers to, from its link in fd. */
static void read_link(int process, uint64_t fd, struct task_state *thread)
{
	char path[32];
	ssize_t length;

	if (fd > INT32_MAX)
		return;
	snprintf(path, sizeof(path), "fd/%" PRIu64, fd);
	length = readlinkat(process, path, thread->link, sizeof(thread->link) - 1);
	thread->link[length > 0 ? length : 0] = '\0';
}

/* Calls whose first argument is a descriptor although they always wait for the same kind of thing. */
static bool takes_descriptor(uint32_t number)
{
	static const uint32_t numbers[] = { SYS_flock,	    SYS_fsync,	   SYS_fdatasync,
					    SYS_ftruncate,  SYS_fallocate, SYS_sync_file_range,
					    SYS_getdents64, SYS_readahead, SYS_syncfs };
	unsigned rule = syscall_wait_rule(SYSCALL_NATIVE, number);

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (numbers[i] == number)
			return true;
	return rule == WAIT_RULE_BY_FD || rule == WAIT_RULE_FCNTL;
}

static void read_call(struct deadline_threads *reader, int process, int task,
		      struct process_state *found, struct task_state *thread)
{
	char buffer[256];
	ssize_t length = deadline_read(reader, found->pid, task, "syscall", buffer, sizeof(buffer));

	if (length < 0) {
		note_failure(found, (int)length);
		return;
	}
	thread->in_call = call_text_parse(buffer, &thread->call);
	if (thread->in_call && takes_descriptor(thread->call.number))
		read_link(process, thread->call.arguments[0], thread);
}

/* Parses lines like "[<0>] function+0x10/0x20 [module]". */
static void read_stack(struct deadline_threads *reader, int task, struct process_state *found,
		       struct task_state *thread)
{
	char buffer[STACK_BYTES];
	ssize_t length = deadline_read(reader, found->pid, task, "stack", buffer, sizeof(buffer));
	const char *cursor = buffer;

	if (length < 0)
		note_failure(found, (int)length);
	while (length > 0 && thread->frames < TASK_STATE_FRAMES &&
	       (cursor = strstr(cursor, "] "))) {
		size_t symbol = strcspn(cursor + 2, "+ \n");

		cursor += 2;
		if (symbol >= TASK_STATE_SYMBOL)
			symbol = TASK_STATE_SYMBOL - 1;
		memcpy(thread->stack[thread->frames], cursor, symbol);
		thread->stack[thread->frames++][symbol] = '\0';
		cursor = strchr(cursor, '\n');
		if (!cursor)
			return;
	}
}

static void read_times(int task, struct task_state *thread)
{
	struct task_schedstat times;
	char buffer[128];

	if (proc_read_start(task, "schedstat", buffer, sizeof(buffer)) < 0 ||
	    !task_schedstat_parse(buffer, &times))
		return;
	thread->has_times = true;
	thread->cpu_ns = times.cpu_ns;
	thread->queue_ns = times.queue_ns;
	thread->slices = times.slices;
}

/* A thread that has ended meanwhile is left out. */
static int read_thread(struct deadline_threads *reader, int process, int32_t tid,
		       struct process_state *found)
{
	struct task_state thread = { .tid = tid };
	char path[32], buffer[TASK_STAT_BYTES];
	struct task_stat stat;
	CLEANUP(close_fd) int task = -1;

	snprintf(path, sizeof(path), "task/%" PRId32, tid);
	task = proc_open(process, path);
	if (task < 0 || task_stat_read(task, "stat", buffer, &stat) < 0)
		return 0;
	task_stat_copy_comm(&stat, thread.comm, sizeof(thread.comm));
	thread.state = task_stat_state(&stat);
	if (!task_state_is_dead(thread.state)) {
		read_channel(task, found, &thread);
		read_times(task, &thread);
		if (!found->is_kernel_thread)
			read_call(reader, process, task, found, &thread);
		if (thread.state == 'D' || found->is_kernel_thread)
			read_stack(reader, task, found, &thread);
	}
	return array_append(&found->threads, thread);
}

static int read_threads(struct deadline_threads *reader, int process, struct process_state *found)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers tids = { 0 };
	int status = read_thread(reader, process, found->pid, found);

	(void)proc_list(process, "task", &tids);
	found->thread_count = tids.list.count;
	for (size_t i = 0; i < tids.list.count && status == 0; i++)
		if (tids.list.data[i] != found->pid && found->threads.count < TASK_STATE_THREADS)
			status = read_thread(reader, process, tids.list.data[i], found);
	return status;
}

static int32_t status_number(const char *text, const char *key)
{
	uint64_t number;

	return task_status_number(text, key, &number) && number <= INT32_MAX ? (int32_t)number : 0;
}

/* The process that a thread's number belongs to. */
static int find_process(const struct host *host, int32_t asked, char *text, size_t capacity,
			int32_t *ret)
{
	char path[32];
	ssize_t length;

	snprintf(path, sizeof(path), "%" PRId32 "/status", asked);
	length = proc_read_start(host->proc, path, text, capacity);
	if (length < 0)
		return proc_gone(length);
	*ret = status_number(text, "Tgid");
	return *ret > 0 ? 0 : -EBADMSG;
}

static void take_stat(const struct task_stat *stat, struct process_state *found)
{
	task_stat_copy_comm(stat, found->comm, sizeof(found->comm));
	found->state = task_stat_state(stat);
	found->is_kernel_thread = task_stat_is_kernel_thread(stat);
	found->parent_pid = (int32_t)task_stat_value(stat, TASK_STAT_PARENT);
	found->start_ticks = task_stat_value(stat, TASK_STAT_START);
}

/*
 * Takes the exit status.  If the first thread ended before others, its status is not that of the
 * process.
 */
static void take_end(int process, const struct task_stat *stat, struct process_state *found)
{
	uint64_t code;

	found->is_ending = task_stat_is_ending(stat) && !process_has_living_thread(process);
	found->is_dead = found->is_ending && task_state_is_dead(found->state);
	if (found->is_dead && task_stat_number(stat, TASK_STAT_EXIT_CODE, &code)) {
		found->has_exit_status = found->state == 'Z';
		found->exit_status = (int)code;
	}
}

int process_state_open(const struct host *host, int32_t asked, struct process_state *found)
{
	CLEANUP(close_fd) int process = -1;
	struct task_stat stat;
	char status_text[STATUS_BYTES], buffer[TASK_STAT_BYTES];
	int status = find_process(host, asked, status_text, sizeof(status_text), &found->pid);

	if (status < 0)
		return status;
	found->asked = asked;
	process = proc_open_number(host->proc, found->pid);
	status = process < 0 ? process : task_stat_read(process, "stat", buffer, &stat);
	if (status < 0)
		return proc_gone(status);
	take_stat(&stat, found);
	take_end(process, &stat, found);
	found->tracer_pid = status_number(status_text, "TracerPid");
	return TAKE_FD(process);
}

static int read_process(const struct host *host, int32_t asked, struct process_state *found)
{
	CLEANUP(deadline_threads_clear) struct deadline_threads reader = { 0 };
	CLEANUP(close_fd) int process = process_state_open(host, asked, found);

	if (process < 0)
		return process;
	if (found->parent_pid > 0)
		read_comm(host, found->parent_pid, found->parent_comm);
	if (found->tracer_pid > 0)
		read_comm(host, found->tracer_pid, found->tracer_comm);
	return read_threads(&reader, process, found);
}

int process_state_read(const struct host *host, int32_t pid, struct process_state *ret,
		       struct error *error)
{
	struct process_state found = { 0 };
	int status = read_process(host, pid, &found);

	if (status == 0) {
		*ret = found;
		return 0;
	}
	process_state_clear(&found);
	if (status == -ESRCH)
		return error_set(error, status, "there is no process %" PRId32, pid);
	return error_set(error, status, "cannot read process %" PRId32 ": %s", pid,
			 strerror(-status));
}

void process_state_clear(struct process_state *found)
{
	free(found->threads.data);
	*found = (struct process_state){ 0 };
}

int task_state_reason(const struct task_state *thread)
{
	const struct link_kind *kind = link_kind_of(thread->link);
	unsigned rule;

	if (!thread->in_call)
		return -1;
	rule = syscall_wait_rule(SYSCALL_NATIVE, thread->call.number);
	if (rule < WAIT_REASON_COUNT)
		return rule == WAIT_OTHER ? -1 : (int)rule;
	if (rule == WAIT_RULE_POLL)
		return WAIT_POLL;
	if (rule == WAIT_RULE_OPEN)
		return channel_reason(thread->channel) == WAIT_PIPE ? WAIT_PIPE : WAIT_DISK;
	return rule == WAIT_RULE_BY_FD && kind ? kind->reason : -1;
}
