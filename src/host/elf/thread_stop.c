/* SPDX-License-Identifier: MIT */
#include "host/elf/thread_stop.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/deadline_run.h"

#ifndef NT_ARM_TLS
#define NT_ARM_TLS 0x401
#endif

struct job {
	int process;
	struct stopped_thread *threads;
	size_t count;
	const struct stop_limits *limits;
};

#if defined(__x86_64__)
int thread_pointer_read(pid_t tid, uint64_t *ret)
{
	struct user_regs_struct registers;
	struct iovec bytes = { &registers, sizeof(registers) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &bytes) < 0)
		return -errno;
	if (bytes.iov_len != sizeof(registers))
		return -ENOTSUP; /* a 32-bit thread */
	*ret = registers.fs_base;
	return 0;
}
#elif defined(__aarch64__)
int thread_pointer_read(pid_t tid, uint64_t *ret)
{
	uint64_t registers[2]; /* TPIDR_EL0; newer kernels also have TPIDR2_EL0 */
	struct iovec bytes = { registers, sizeof(registers) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_ARM_TLS, &bytes) < 0)
		return -errno;
	if (bytes.iov_len < sizeof(registers[0]))
		return -ENOTSUP;
	*ret = registers[0];
	return 0;
}
#else
int thread_pointer_read(pid_t tid, uint64_t *ret)
{
	(void)tid;
	(void)ret;
	return -ENOTSUP;
}
#endif

/* If the thread stopped for a signal of its own, it gets that signal when it is released. */
static long pending_signal(int status)
{
	bool is_event = status >> 16 != 0;

	return is_event ? 0 : WSTOPSIG(status);
}

static int fail(struct stopped_thread *thread, enum stop_step step, int error)
{
	thread->step = step;
	thread->error = error;
	return error;
}

static int read_seized(struct stopped_thread *thread, uint64_t deadline_ns)
{
	int stopped, status;

	if (ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) < 0)
		return fail(thread, STOP_INTERRUPT, -errno);
	status = deadline_wait(thread->tid, deadline_ns, &stopped);
	if (status == 0 && !WIFSTOPPED(stopped))
		status = -ESRCH;
	if (status < 0)
		return fail(thread, STOP_WAIT, status);
	status = thread_pointer_read(thread->tid, &thread->pointer);
	ptrace(PTRACE_DETACH, thread->tid, NULL, pending_signal(stopped));
	return fail(thread, status < 0 ? STOP_REGISTERS : STOP_DONE, status);
}

static bool is_of(int process, pid_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "task/%d", tid);
	return faccessat(process, path, F_OK, 0) == 0;
}

/* Returns false when a thread of another process is seized; it is released when our thread ends. */
static bool read_thread(int process, struct stopped_thread *thread, uint64_t deadline_ns)
{
	uint64_t start_ns = monotonic_ns();

	if (!is_of(process, thread->tid)) {
		fail(thread, STOP_SEIZE, -ESRCH);
		return true;
	}
	if (ptrace(PTRACE_SEIZE, thread->tid, NULL, NULL) < 0) {
		fail(thread, STOP_SEIZE, -errno);
		return true;
	}
	if (!is_of(process, thread->tid)) {
		fail(thread, STOP_SEIZE, -ESRCH);
		return false;
	}
	read_seized(thread, deadline_ns);
	thread->held_ns = monotonic_ns() - start_ns;
	return true;
}

static void *read_all(void *argument)
{
	struct job *job = argument;
	uint64_t end_ns = monotonic_ns() + job->limits->total_ms * NS_PER_MS;

	for (size_t i = 0; i < job->count; i++) {
		uint64_t start_ns = monotonic_ns();
		uint64_t stop_ns = start_ns + job->limits->thread_ms * NS_PER_MS;

		if (stop_ns > end_ns)
			stop_ns = end_ns;
		if (start_ns >= end_ns || !read_thread(job->process, &job->threads[i], stop_ns))
			break;
	}
	return NULL;
}

int thread_stop_read(int process, struct stopped_thread *threads, size_t count,
		     const struct stop_limits *limits)
{
	struct job job = { process, threads, count, limits };
	pthread_t worker;
	int status;

	for (size_t i = 0; i < count; i++)
		threads[i] = (struct stopped_thread){
			.tid = threads[i].tid,
			.step = STOP_NOT_TRIED,
			.error = -ETIMEDOUT,
		};
	status = pthread_create(&worker, NULL, read_all, &job);
	if (status)
		return -status;
	pthread_join(worker, NULL);
	return 0;
}
