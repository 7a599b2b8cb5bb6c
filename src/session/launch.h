/* SPDX-License-Identifier: MIT */
/*
 * Starts a command that waits before its exec until it is let go, so that whoever watches it is
 * ready before its first instruction.
 *
 *	launch_hold(&launch, command, &found, error);	forked, waits
 *	launch_release(&launch);			goes on to its exec
 *	launch_result(&launch);				once exec_fd is readable
 *
 * It gets what this program itself was started with: signal dispositions and mask, limits,
 * process group, terminal, files, folder, environment, user.  No descriptor of ours is left in it.
 */
#ifndef SESSION_LAUNCH_H
#define SESSION_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct error;

/* What libraries that are used before the fork may change. */
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
 * Ignores SIGPIPE and SIGXFSZ, since a reader that went away and a file that may not grow end a
 * write, not the program, and lets children be waited for.  What these signals did before is kept
 * for commands that are launched.  To be called once, before anything else.
 */
void launch_take_signals(void);

/* To be called before what may change it. */
void launch_remember(struct launch_found *ret);

/* 0, or a negative errno with a sentence. */
int launch_hold(struct launch *ret, char **command, const struct launch_found *found,
		struct error *error);

void launch_release(struct launch *launch);

/* After exec_fd became readable: 0 when the command runs or was killed, else why it does not. */
int launch_result(struct launch *launch);

/* Ends a command that was not let go. */
void launch_cancel(struct launch *launch);

/* Waits for it, which frees its number, and closes what is open. */
void launch_finish(struct launch *launch);

/* Whether a folder of PATH has such a file, be it one that can be executed or not. */
bool launch_in_path(const char *command);

#endif
