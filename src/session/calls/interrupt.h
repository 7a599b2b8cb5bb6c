/* SPDX-License-Identifier: MIT */
/*
 * Ctrl-C and the other signals that ask to end, as something that a loop waits for.
 */
#ifndef SESSION_INTERRUPT_H
#define SESSION_INTERRUPT_H

#include <signal.h>

#include "base/loop.h"

/* fd -1: none. */
struct interrupt {
	struct loop *loop;
	int fd;
	struct loop_fd ready;
	sigset_t before; /* the mask, which is given back */
};

/* Blocks these signals and calls `ready` when one comes.  0 or a negative errno. */
int interrupt_watch(struct interrupt *interrupt, struct loop *loop, loop_function *ready,
		    void *context);
/* Takes what came, so that the next one can be waited for. */
void interrupt_take(const struct interrupt *interrupt);
void interrupt_close(struct interrupt *interrupt);

#endif
