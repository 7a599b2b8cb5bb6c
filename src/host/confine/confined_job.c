/* SPDX-License-Identifier: MIT */
#include "host/confine/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "host/deadline_run.h"
#include "host/proc/task_text.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

#define ANSWER_BYTES (1 << 20) /* that a child can write before anyone reads */
#define KILL_PATIENCE_NS ((uint64_t)5 * NS_PER_SECOND) /* even dying needs time on a CPU */
#define KILL_CHECK_NS ((uint64_t)10 * NS_PER_MS)       /* after this, check whether it is stuck */
#define LEFT_MAX 64

/* Children that could not be killed at once, to be reaped when they have ended. */
static _Thread_local pid_t left[LEFT_MAX];

/* A traced child may still report stops before its end. */
static int reap(pid_t pid, uint64_t deadline_ns, int *ret_state)
{
	int status;

	do
		status = deadline_wait(pid, deadline_ns, ret_state);
	while (status == 0 && WIFSTOPPED(*ret_state));
	return status;
}

/* Whether it is in an uninterruptible wait, as for a file system that does not answer. */
static bool is_stuck(pid_t pid)
{
	char path[64], buffer[TASK_STAT_BYTES];
	struct task_stat stat;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	return task_stat_read(AT_FDCWD, path, buffer, &stat) == 0 && task_stat_state(&stat) == 'D';
}

static void leave(pid_t pid)
{
	for (size_t i = 0; i < LEFT_MAX; i++)
		if (!left[i]) {
			left[i] = pid;
			return;
		}
}

static void reap_left(void)
{
	for (size_t i = 0; i < LEFT_MAX; i++)
		if (left[i] && waitpid(left[i], NULL, WNOHANG | __WALL) != 0)
			left[i] = 0;
}

void confined_kill(pid_t pid)
{
	uint64_t end_ns = monotonic_ns() + KILL_PATIENCE_NS;
	int state;
	int status;

	kill(pid, SIGKILL);
	do
		status = reap(pid, monotonic_ns() + KILL_CHECK_NS, &state);
	while (status == -ETIMEDOUT && monotonic_ns() < end_ns && !is_stuck(pid));
	if (status == -ETIMEDOUT)
		leave(pid);
}

int confined_move_up(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int status = moved < 0 ? -errno : moved;

	close(fd);
	return status;
}

/* Kernels from 6.3 on want a flag (MFD_EXEC) for a file that will be executed; older ones refuse it. */
int confined_make_file(const char *name)
{
	unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(name, flags | MFD_EXEC);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	return fd < 0 ? -errno : fd;
}

static int make_pipe(int *ret_reader, int *ret_writer)
{
	CLEANUP(close_fd) int reader = -1;
	CLEANUP(close_fd) int writer = -1;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	reader = confined_move_up(ends[0]);
	writer = confined_move_up(ends[1]);
	if (reader < 0 || writer < 0)
		return reader < 0 ? reader : writer;
	/*
	 * Only our end is non-blocking: the child may wait, but we must not wait beyond the
	 * deadline.
	 */
	if (fcntl(reader, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	fcntl(reader, F_SETPIPE_SZ, ANSWER_BYTES); /* may fail: small answers fit anyway */
	*ret_reader = TAKE_FD(reader);
	*ret_writer = TAKE_FD(writer);
	return 0;
}

/*
 * If SIGCHLD is ignored (which is inherited), children cannot be waited for; so restore the
 * default.
 */
static int keep_children(void)
{
	struct sigaction action;

	if (sigaction(SIGCHLD, NULL, &action) < 0)
		return -errno;
	if (action.sa_handler != SIG_IGN && !(action.sa_flags & SA_NOCLDWAIT))
		return 0;
	if (action.sa_handler == SIG_IGN)
		action.sa_handler = SIG_DFL;
	action.sa_flags &= ~SA_NOCLDWAIT;
	return sigaction(SIGCHLD, &action, NULL) < 0 ? -errno : 0;
}

/*
 * Done at once: a program that reads our output waits until every process has closed it, and a
 * child may wait for ever while it prepares.  Other kinds of files at these numbers are fds of
 * ours that are needed.
 */
static void close_streams(void)
{
	struct stat file;

	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fstat(fd, &file) == 0 &&
		    (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode) || S_ISCHR(file.st_mode)))
			close(fd);
}

/* The exit status is the errno. */
static int run(const struct confine_limits *limits, int (*work)(void *argument, int answer),
	       void *argument, int answer, pid_t parent)
{
	int status;

	close_streams();
	status = limits->prepare ? limits->prepare(argument) : 0;
	if (status == 0)
		status = confine_self(limits, answer);
	/* If our parent died before we asked to die with it, nobody would ever end this child. */
	if (status == 0 && getppid() != parent)
		status = -ESRCH;
	if (status == 0)
		status = work(argument, answer);
	return -status;
}

int confined_start(struct confined_job *job, const struct confine_limits *limits,
		   unsigned timeout_ms, int (*work)(void *argument, int answer), void *argument)
{
	CLEANUP(close_fd) int reader = -1;
	CLEANUP(close_fd) int writer = -1;
	uint64_t deadline_ns = monotonic_ns() + (uint64_t)timeout_ms * NS_PER_MS;
	int status = make_pipe(&reader, &writer);
	pid_t self = getpid();
	pid_t pid;

	reap_left();
	if (status == 0)
		status = keep_children();
	if (status < 0)
		return status;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		_exit(run(limits, work, argument, writer, self));
	*job = (struct confined_job){ pid, TAKE_FD(reader), deadline_ns };
	return 0;
}

/* False at the deadline. */
static bool wait_readable(int fd, uint64_t deadline_ns)
{
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	uint64_t now = monotonic_ns();

	if (now >= deadline_ns)
		return false;
	poll(&readable, 1, (int)((deadline_ns - now) / NS_PER_MS) + 1);
	return true;
}

/*
 * Reads the answer to its end.  After the deadline it takes what is already there and does not
 * wait for more.
 */
static int read_answer(const struct confined_job *job, char *answer, size_t capacity,
		       size_t *ret_size)
{
	for (;;) {
		char beyond;
		bool full = *ret_size == capacity;
		ssize_t got = read(job->answer, full ? &beyond : answer + *ret_size,
				   full ? 1 : capacity - *ret_size);

		if (got == 0)
			return 0;
		if (got > 0 && full)
			return -EMSGSIZE;
		if (got > 0)
			*ret_size += (size_t)got;
		else if (errno != EAGAIN && errno != EINTR)
			return -errno;
		else if (!wait_readable(job->answer, job->deadline_ns))
			return -ETIMEDOUT;
	}
}

static int meaning(int state)
{
	return WIFEXITED(state) ? -WEXITSTATUS(state) : -EPROTO;
}

int confined_finish(struct confined_job *job, void *answer, size_t capacity, size_t *ret_size)
{
	int status;
	int state;

	*ret_size = 0;
	status = read_answer(job, answer, capacity, ret_size);
	close(job->answer);
	job->answer = -1;
	if (status == 0)
		status = reap(job->pid, job->deadline_ns, &state);
	if (status == 0)
		return meaning(state);
	if (status != -ECHILD) /* then someone else reaped it: the pid may be another's */
		confined_kill(job->pid);
	return status;
}

int confined_ask(const struct confine_limits *limits, unsigned timeout_ms,
		 int (*work)(void *argument, int answer), void *argument, void *ret, size_t size)
{
	struct confined_job job;
	size_t got;
	int status = confined_start(&job, limits, timeout_ms, work, argument);

	if (status == 0)
		status = confined_finish(&job, ret, size, &got);
	return status == 0 && got != size ? -EPROTO : status;
}
