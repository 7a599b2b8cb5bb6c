/* SPDX-License-Identifier: MIT */
#include "session/watch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/error.h"

/* The exit status of a held command whose holder is gone, or whose exec failed. */
#define STATUS_ABANDONED 125

/* Signals whose disposition this program changes, with the old ones.  Process-wide state. */
static struct {
	int number;
	void (*handler)(int);
	struct sigaction found;
	bool taken;
} taken_signals[] = {
	{ .number = SIGPIPE, .handler = SIG_IGN },
	{ .number = SIGXFSZ, .handler = SIG_IGN },
	{ .number = SIGCHLD, .handler = SIG_DFL },
};

void launch_take_signals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(taken_signals); i++) {
		struct sigaction action = { .sa_handler = taken_signals[i].handler };

		if (!taken_signals[i].taken)
			taken_signals[i].taken = sigaction(taken_signals[i].number, &action,
							   &taken_signals[i].found) == 0;
	}
}

static void give_signals_back(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(taken_signals); i++)
		if (taken_signals[i].taken)
			sigaction(taken_signals[i].number, &taken_signals[i].found, NULL);
}

void launch_remember(struct launch_found *ret)
{
	sigprocmask(SIG_SETMASK, NULL, &ret->mask);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		ret->has_limit[i] = getrlimit(i, &ret->limits[i]) == 0;
}

static void give_limits_back(const struct launch_found *found)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit now;

		if (found->has_limit[i] && getrlimit(i, &now) == 0 &&
		    memcmp(&now, &found->limits[i], sizeof(now)) != 0)
			setrlimit(i, &found->limits[i]);
	}
}

/* Both ends of the pipes: the child waits on `hold`, and writes to `exec` why its exec failed. */
struct pipes {
	int hold[2];
	int exec[2];
};

/*
 * Becomes the command.  Signals stay blocked until the command's dispositions are set, so one that
 * arrives meanwhile meets those.
 */
static void become(char **command, const struct launch_found *found, const struct pipes *pipes)
{
	ssize_t length;
	char go;
	int why;

	close(pipes->hold[1]);
	close(pipes->exec[0]);
	give_signals_back();
	give_limits_back(found);
	sigprocmask(SIG_SETMASK, &found->mask, NULL);
	do
		length = read(pipes->hold[0], &go, 1);
	while (length < 0 && errno == EINTR);
	if (length != 1)
		_exit(STATUS_ABANDONED);
	execvp(command[0], command);
	why = errno;
	(void)!write(pipes->exec[1], &why, sizeof(why));
	_exit(STATUS_ABANDONED);
}

static int open_pipes(struct pipes *pipes)
{
	if (pipe2(pipes->hold, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(pipes->exec, O_CLOEXEC) == 0)
		return 0;
	close(pipes->hold[0]);
	close(pipes->hold[1]);
	return -errno;
}

static int fork_held(char **command, const struct launch_found *found, const struct pipes *pipes)
{
	sigset_t all, before;
	pid_t pid;
	int status;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		become(command, found, pipes);
	status = pid < 0 ? -errno : pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

int launch_hold(struct launch *ret, char **command, const struct launch_found *found,
		struct error *error)
{
	struct launch launch = LAUNCH_NONE;
	struct pipes pipes;
	int status = open_pipes(&pipes);

	if (status < 0)
		return error_set(error, status, "cannot make a pipe: %s", strerror(-status));
	status = fork_held(command, found, &pipes);
	close(pipes.hold[0]);
	close(pipes.exec[1]);
	launch.hold_fd = pipes.hold[1];
	launch.exec_fd = pipes.exec[0];
	launch.pid = status < 0 ? -1 : status;
	if (status >= 0) {
		launch.pidfd = (int)syscall(SYS_pidfd_open, launch.pid, 0);
		status = launch.pidfd < 0 ? -errno : 0;
	}
	if (status < 0) {
		launch_cancel(&launch);
		return error_set(error, status, "cannot start a process: %s", strerror(-status));
	}
	*ret = launch;
	return 0;
}

static void close_and_forget(int *fd)
{
	close_fd(fd);
	*fd = -1;
}

void launch_release(struct launch *launch)
{
	(void)!write(launch->hold_fd, "g", 1);
	close_and_forget(&launch->hold_fd);
}

int launch_result(struct launch *launch)
{
	int why = 0;
	ssize_t length;

	do
		length = read(launch->exec_fd, &why, sizeof(why));
	while (length < 0 && errno == EINTR);
	close_and_forget(&launch->exec_fd);
	return length == sizeof(why) ? -why : 0;
}

void launch_cancel(struct launch *launch)
{
	if (launch->pid > 0)
		kill(launch->pid, SIGKILL);
	launch_finish(launch);
}

void launch_finish(struct launch *launch)
{
	if (launch->pid > 0)
		while (waitpid(launch->pid, NULL, 0) < 0 && errno == EINTR)
			;
	close_and_forget(&launch->pidfd);
	close_and_forget(&launch->hold_fd);
	close_and_forget(&launch->exec_fd);
	launch->pid = -1;
}

bool launch_in_path(const char *command)
{
	const char *folder = getenv("PATH");
	char path[PATH_MAX];

	while (folder) {
		size_t length = strcspn(folder, ":");

		/* An empty entry means the current folder. */
		snprintf(path, sizeof(path), "%.*s%s%s", (int)length, folder, length ? "/" : "",
			 command);
		if (access(path, F_OK) == 0)
			return true;
		folder = folder[length] ? folder + length + 1 : NULL;
	}
	return false;
}
