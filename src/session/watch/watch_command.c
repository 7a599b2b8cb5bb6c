/* SPDX-License-Identifier: MIT */
/* Handles the command: the result of its exec, its end, and its time limit. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/session.h"
#include "session/watch/watch.h"

#define KILL_AFTER_NS (5 * NS_PER_SECOND)

bool watch_command_ended(struct watch *watch)
{
	struct watch_command *command = &watch->command;
	siginfo_t info = { 0 };

	if (command->ended || watch_is_attached(watch))
		return command->ended;
	/* It stays a zombie until everything was read, so that no other process gets its number. */
	if (waitid(P_PID, (id_t)command->launch.pid, &info, WEXITED | WNOWAIT | WNOHANG) < 0 ||
	    info.si_pid == 0)
		return false;
	command->ended = true;
	command->end_ns = monotonic_ns();
	command->status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) :
						       W_EXITCODE(0, info.si_status);
	if (info.si_code == CLD_DUMPED)
		command->status |= WCOREFLAG;
	return true;
}

static void take_exec(void *context)
{
	struct watch *watch = context;
	struct watch_command *command = &watch->command;

	loop_remove_fd(&watch->loop, &command->exec);
	command->exec_error = launch_result(&command->launch);
	if (command->exec_error)
		loop_stop(&watch->loop);
}

static void take_end(void *context)
{
	struct watch *watch = context;

	if (watch_command_ended(watch))
		loop_remove_fd(&watch->loop, &watch->command.end);
}

static void ask_to_end(struct watch *watch, int signal)
{
	pid_t pid = watch->command.launch.pid;

	kill(getpgid(pid) == pid ? -pid : pid, signal);
}

/* A stopped command could not react to the signal, so continue it as well. */
static void time_out(void *context)
{
	struct watch *watch = context;
	struct watch_command *command = &watch->command;

	command->timed_out = watch_is_attached(watch) || !command->ended;
	if (watch_is_attached(watch) || command->ended) {
		loop_stop(&watch->loop);
		return;
	}
	watch_sample(watch, TRACER_SAMPLE);
	watch_find_deadlock(watch);
	command->kill.deadline_ns = monotonic_ns() + KILL_AFTER_NS;
	ask_to_end(watch, SIGTERM);
	ask_to_end(watch, SIGCONT);
}

static void lose_patience(void *context)
{
	struct watch *watch = context;

	if (!watch->command.ended)
		ask_to_end(watch, SIGKILL);
}

void watch_init_command(struct watch *watch)
{
	watch->command = (struct watch_command){
		.launch = LAUNCH_NONE,
		.exec = { .ready = take_exec, .context = watch },
		.end = { .ready = take_end, .context = watch },
		.limit = { .due = time_out, .context = watch, .deadline_ns = LOOP_NEVER },
		.kill = { .due = lose_patience, .context = watch, .deadline_ns = LOOP_NEVER },
	};
}

int watch_start_command(struct watch *watch)
{
	struct watch_command *command = &watch->command;
	uint64_t duration_ns = watch->options->duration_ns;
	int status = 0;

	if (duration_ns &&
	    __builtin_add_overflow(watch->begin_ns, duration_ns, &command->limit.deadline_ns))
		command->limit.deadline_ns = LOOP_NEVER;
	loop_add_timer(&watch->loop, &command->limit);
	loop_add_timer(&watch->loop, &command->kill);
	if (command->launch.pid > 0)
		status =
			loop_add_fd(&watch->loop, &command->exec, command->launch.exec_fd, EPOLLIN);
	if (command->launch.pid > 0 && status == 0)
		status = loop_add_fd(&watch->loop, &command->end, command->launch.pidfd, EPOLLIN);
	return status;
}
