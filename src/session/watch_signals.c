/* SPDX-License-Identifier: MIT */
/*
 * Signals that taskscope gets while a command runs, and which of them it passes on.
 */
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "session/watch.h"

/*
 * Whether a process of the tree sent it.  One that had ended when signals were taken last cannot have
 * sent another: its number is somebody else's by now.
 */
static bool is_from_tree(const struct watch *watch, pid_t sender)
{
	const struct tree_process *process = tree_find(watch->run->tree, sender);

	return sender == watch->launch.pid ||
	       (process && (!process->exited || process->end_ns >= watch->signals_ns));
}

/*
 * What the terminal sends (SI_KERNEL) reaches the command as well, in our process group; but a
 * hangup goes to the leader of the session alone.  What a process of the tree sends was meant for
 * the whole group, or for the parent of the command, and is not sent back.
 */
static bool is_for_command(const struct watch *watch, const struct signalfd_siginfo *info)
{
	if (info->ssi_code == SI_KERNEL)
		return info->ssi_signo == SIGHUP && getsid(0) == watch->self;
	return !is_from_tree(watch, (pid_t)info->ssi_pid);
}

/* Under nohup(1) a hangup must not end us. */
static bool is_ignored(uint32_t number)
{
	struct sigaction action;

	return number == SIGHUP && sigaction(SIGHUP, NULL, &action) == 0 &&
	       action.sa_handler == SIG_IGN;
}

static void take_signal(struct watch *watch, const struct signalfd_siginfo *info)
{
	if (watch_is_attached(watch) || watch->command_ended) {
		if (is_ignored(info->ssi_signo))
			return;
		watch->interrupted = true;
		watch->done = true;
		return;
	}
	if (is_for_command(watch, info))
		kill(watch->launch.pid, (int)info->ssi_signo);
}

void watch_take_signals(struct watch *watch)
{
	uint64_t now_ns = monotonic_ns();
	struct signalfd_siginfo info;

	while (read(watch->signal_fd, &info, sizeof(info)) == sizeof(info))
		take_signal(watch, &info);
	watch->signals_ns = now_ns;
}
