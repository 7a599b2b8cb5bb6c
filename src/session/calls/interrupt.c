/* SPDX-License-Identifier: MIT */
#include "session/calls/interrupt.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/collection/array.h"

int interrupt_watch(struct interrupt *interrupt, struct loop *loop, loop_function *ready,
		    void *context)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&set, signals[i]);
	if (sigprocmask(SIG_BLOCK, &set, &interrupt->before) < 0)
		return -errno;
	interrupt->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (interrupt->fd < 0)
		return -errno;
	interrupt->loop = loop;
	interrupt->ready = (struct loop_fd){ .ready = ready, .context = context };
	return loop_add_fd(loop, &interrupt->ready, interrupt->fd, EPOLLIN);
}

void interrupt_take(const struct interrupt *interrupt)
{
	struct signalfd_siginfo info;

	while (read(interrupt->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
}

/* What is pending is taken: it was answered. */
void interrupt_close(struct interrupt *interrupt)
{
	if (interrupt->fd < 0)
		return;
	interrupt_take(interrupt);
	loop_remove_fd(interrupt->loop, &interrupt->ready);
	close_fd(&interrupt->fd);
	sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
}
