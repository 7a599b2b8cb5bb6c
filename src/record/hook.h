/* SPDX-License-Identifier: MIT */
/*
 * Runs a command for each anomaly, with the JSON of the anomaly on its standard input.  No shell
 * is involved: the words of the command are separated by blanks.  The recorder never waits for the
 * command; at most HOOKS run at once, and those that could not be started are counted.
 *
 * The command is a session of its own.  It has the recorder's standard output and error and no other
 * descriptors, and of the environment only PATH, HOME, LANG, TZ and what begins with XDG_.
 */
#ifndef RECORD_HOOK_H
#define RECORD_HOOK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/loop.h"

#define HOOKS 4

struct error;

struct hook_child {
	struct hooks *hooks;
	struct loop_fd ended;
	int pidfd; /* -1: this place is free */
	pid_t pid;
};

struct hooks {
	struct loop *loop;
	char **words; /* NULL: there is no command */
	char *text;   /* what they point into */
	struct hook_child children[HOOKS];
	uint64_t started, skipped, failed;
};

/* `command` may be NULL.  0, -ENOMEM, or -EINVAL with a sentence for one without a word. */
int hooks_open(struct hooks *hooks, struct loop *loop, const char *command, struct error *error);
/* Leaves running commands alone. */
void hooks_close(struct hooks *hooks);

/* Starts the command, if there is one, with these bytes as its input. */
void hooks_start(struct hooks *hooks, const char *input, size_t length);

#endif
