/* SPDX-License-Identifier: MIT */
/*
 * Starts a command and holds it before its exec until it is released, so that the watch is ready
 * before the command's first instruction.
 *
 *	launch_hold(&launch, command, &found, error);	forked, waits
 *	launch_release(&launch);			goes on to its exec
 *	launch_result(&launch);				once exec_fd is readable
 *
 * The command gets what this program itself was started with: signal dispositions and mask,
 * limits, process group, terminal, files, folder, environment, user.  It gets none of our
 * descriptors.
 */
#ifndef SESSION_LAUNCH_H
#define SESSION_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct error;

/* What libraries that we use before the fork may change: saved at the start. */
struct launch_found {
	sigset_t mask;
	struct rlimit limits[RLIM_NLIMITS];
	bool has_limit[RLIM_NLIMITS];
};

struct launch {
	pid_t pid;
	int pidfd;   /* readable when it ended */
	int hold_fd; /* closed by launch_release() */
	int exec_fd; /* readable when the exec worked or failed */
};

#define LAUNCH_NONE                                                                                \
	(struct launch)                                                                            \
	{                                                                                          \
		.pid = -1, .pidfd = -1, .hold_fd = -1, .exec_fd = -1                               \
	}

/*
 * Ignores SIGPIPE and SIGXFSZ, so that a reader that went away or a file that may not grow fails a
 * write and does not kill the program.  Resets SIGCHLD, so that children can be waited for.
 * Launched commands get the old dispositions.  Call it once, before anything else.
 */
void launch_take_signals(void);

/* Call it before anything that may change these settings. */
void launch_remember(struct launch_found *ret);

/* 0, or a negative errno with a sentence. */
int launch_hold(struct launch *ret, char **command, const struct launch_found *found,
		struct error *error);

void launch_release(struct launch *launch);

/*
 * Call it when exec_fd is readable: 0 when the command runs or was killed, else why its exec
 * failed.
 */
int launch_result(struct launch *launch);

/* Ends a command that was not released. */
void launch_cancel(struct launch *launch);

/* Reaps it, which frees its number, and closes the descriptors. */
void launch_finish(struct launch *launch);

/* Whether a folder of PATH has a file of that name, executable or not. */
bool launch_in_path(const char *command);

#endif
