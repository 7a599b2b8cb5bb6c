/* SPDX-License-Identifier: MIT */
/*
 * Programs that a test starts and looks at while they run.
 */
#ifndef UNIT_CHILD_H
#define UNIT_CHILD_H

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "patience.h"

/*
 * Starts a program with one argument and waits until it has written a byte, or, when it is
 * not one that writes, until it waits for something.
 */
static inline pid_t child_start_asking(const char *path, const char *argument, const char *preload,
				       int writes, char *ret_byte)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (writes)
			dup2(ends[1], STDOUT_FILENO);
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execl(path, path, argument, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	/* The end of the pipe comes with the exec. */
	assert_int_equal(read(ends[0], ret_byte, 1), writes);
	close(ends[0]);
	if (!writes)
		WAIT_UNTIL(task_state(pid) == 'S'); /* behind its loader */
	return pid;
}

static inline pid_t child_start(const char *path, const char *argument, const char *preload,
				int writes)
{
	char byte;

	return child_start_asking(path, argument, preload, writes, &byte);
}

static inline void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

#endif
