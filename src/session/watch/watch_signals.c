/* SPDX-License-Identifier: MIT */
/*
 * Handles signals that taskscope gets while it watches: passes them on to the command, or ends the
 * watch.
 */
#include <signal.h>
#include <unistd.h>

#include "session/watch/watch.h"

/*
 * Whether a process of the tree sent the signal.  A process that had ended by the time up to which
 * all signals were judged cannot be the sender: another process has its number now.
 */
static bool is_from_tree(const struct watch *watch, pid_t sender)
{
	const struct tree_process *process = tree_find(watch->run->tree, sender);

	return sender == watch->command.launch.pid ||
	       (process && (!process->exited || process->end_ns >= watch->signals.judged_ns));
}

/*
 * Signals from the terminal (SI_KERNEL) go to our whole process group, so the command gets them
 * anyway; but a hangup goes to the session leader alone.  A signal from a process of the tree was
 * meant for the whole group or for the command's parent, so it is not sent back.
 */
static bool is_for_command(const struct watch *watch, const struct signalfd_siginfo *info)
{
	if (info->ssi_code == SI_KERNEL)
		return info->ssi_signo == SIGHUP && getsid(0) == watch->self;
	return !is_from_tree(watch, (pid_t)info->ssi_pid);
}

/* A hangup that was ignored when we started, as under nohup(1), must not end us. */
static bool is_ignored(uint32_t number)
{
	struct sigaction action;

	return number == SIGHUP && sigaction(SIGHUP, NULL, &action) == 0 &&
	       action.sa_handler == SIG_IGN;
}

/* By which a command ends, if it does not handle them. */
static bool asks_to_end(uint32_t number)
{
	return number != SIGUSR1 && number != SIGUSR2;
}

static void take_signal(struct watch *watch, const struct signalfd_siginfo *info)
{
	if (watch_is_attached(watch) || watch->command.ended) {
		if (is_ignored(info->ssi_signo))
			return;
		watch->signals.interrupted = true;
		loop_stop(&watch->loop);
		return;
	}
	watch->signals.asked_to_end |= asks_to_end(info->ssi_signo);
	if (!is_for_command(watch, info))
		return;
	if (asks_to_end(info->ssi_signo))
		watch_find_deadlock(watch);
	kill(watch->command.launch.pid, (int)info->ssi_signo);
}

bool watch_read_signals(struct watch *watch)
{
	struct watch_signals *signals = &watch->signals;
	struct signalfd_siginfo *next = &signals->arrived[signals->arrived_count];
	size_t room = WATCH_SIGNALS_MAX - signals->arrived_count;
	uint64_t now_ns = monotonic_ns();
	ssize_t got = room ? read(signals->fd, next, room * sizeof(*next)) : 0;

	signals->arrived_count += got > 0 ? (size_t)got / sizeof(*next) : 0;
	/* Without room nobody knows whether there are more. */
	if (room && got <= 0)
		signals->empty_ns = now_ns;
	return got > 0;
}

void watch_judge_signals(struct watch *watch)
{
	struct watch_signals *signals = &watch->signals;

	for (size_t i = 0; i < signals->arrived_count; i++)
		take_signal(watch, &signals->arrived[i]);
	signals->arrived_count = 0;
	signals->judged_ns = signals->empty_ns;
}

/* Makes the tracer due now: see watch_take_signals(). */
static void be_called(void *context)
{
	struct watch *watch = context;

	watch->events.due.deadline_ns = 0;
}

void watch_init_signals(struct watch *watch)
{
	watch->signals = (struct watch_signals){
		.fd = -1,
		.ready = { .ready = be_called, .context = watch },
	};
}

int watch_start_signals(struct watch *watch)
{
	int fd = watch->signals.fd;

	return fd < 0 ? 0 : loop_add_fd(&watch->loop, &watch->signals.ready, fd, EPOLLIN);
}
