/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "trace/strace/strace.h"

#define OUTPUT_FD 3
#define OUTPUT_PATH "/dev/fd/3"
#define PROGRAM_FD 4
#define PIPE_BYTES (1 << 20)
#define READ_BYTES (64 << 10)
#define READS_MOST 16 /* in a row, so that others have a turn */
#define STOP_NS (3 * NS_PER_SECOND)

struct pipes {
	int output[2], messages[2];
};

static void close_pipes(struct pipes *pipes)
{
	for (int end = 0; end < 2; end++) {
		close_fd(&pipes->output[end]);
		close_fd(&pipes->messages[end]);
	}
}

static int open_pipes(struct pipes *ret)
{
	*ret = (struct pipes){ { -1, -1 }, { -1, -1 } };
	if (pipe2(ret->output, O_CLOEXEC) < 0 || pipe2(ret->messages, O_CLOEXEC) < 0)
		return -errno;
	fcntl(ret->output[0], F_SETFL, O_NONBLOCK);
	fcntl(ret->messages[0], F_SETFL, O_NONBLOCK);
	/* Fewer turns for us; a user who may not have so much gets what there is. */
	(void)fcntl(ret->output[0], F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

/* The words of the command, to be freed; the texts of numbers are behind them. */
static char **make_words(const struct strace_request *request)
{
	size_t options = 0, count;
	char **words, (*numbers)[16];

	while (request->options[options])
		options++;
	count = 1 + options + 2 + 2 * request->pid_count + 1;
	words = calloc(1, count * sizeof(*words) + request->pid_count * sizeof(*numbers));
	if (!words)
		return NULL;
	numbers = (void *)(words + count);
	count = 0;
	words[count++] = "strace";
	for (size_t i = 0; i < options; i++)
		words[count++] = (char *)(uintptr_t)request->options[i];
	words[count++] = "-o";
	words[count++] = OUTPUT_PATH;
	for (size_t i = 0; i < request->pid_count; i++) {
		snprintf(numbers[i], sizeof(numbers[i]), "%d", (int)request->pids[i]);
		words[count++] = "-p";
		words[count++] = numbers[i];
	}
	return words;
}

/* Descriptors go to their places by way of high numbers, since one may be in the place of another. */
static bool place_descriptors(const struct pipes *pipes, int program)
{
	int output = fcntl(pipes->output[1], F_DUPFD, 16);
	int messages = fcntl(pipes->messages[1], F_DUPFD, 16);
	int executed = fcntl(program, F_DUPFD, 16);
	int nothing = open("/dev/null", O_RDWR);

	return dup2(nothing, STDIN_FILENO) >= 0 && dup2(messages, STDOUT_FILENO) >= 0 &&
	       dup2(messages, STDERR_FILENO) >= 0 && dup2(output, OUTPUT_FD) >= 0 &&
	       dup3(executed, PROGRAM_FD, O_CLOEXEC) >= 0 &&
	       syscall(SYS_close_range, PROGRAM_FD + 1, ~0U, 0) == 0;
}

/* Default signals, none blocked, a session of its own: Ctrl-C is for us, who pass it on. */
static void take_default_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)setsid();
}

/* Our environment may change what it does or says: messages are read by us. */
static void become_strace(char **words, const struct pipes *pipes, int program, pid_t parent)
{
	static char *environment[] = { "LC_ALL=C", "PATH=/usr/bin:/bin", NULL };

	take_default_signals();
	/* The kernel ends it when we end, in whatever way; we may have ended already. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ||
	    !place_descriptors(pipes, program))
		_exit(127);
	(void)syscall(SYS_execveat, PROGRAM_FD, "", words, environment, AT_EMPTY_PATH);
	_exit(127);
}

static pid_t fork_strace(char **words, const struct pipes *pipes, int program)
{
	sigset_t all, before;
	pid_t parent = getpid(), pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		become_strace(words, pipes, program, parent);
	if (pid < 0)
		pid = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* The first that says more than that it is at work: "strace: attach: ptrace(PTRACE_SEIZE, 12): ..." */
static void take_message(struct strace_child *child)
{
	if (!child->refusal[0] && !strstr(child->line, " attached") &&
	    !strstr(child->line, " detached"))
		snprintf(child->refusal, sizeof(child->refusal), "%s", child->line);
}

static void take_messages(struct strace_child *child, const char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == '\n') {
			child->line[child->line_length] = '\0';
			take_message(child);
			child->line_length = 0;
		} else if (child->line_length < sizeof(child->line) - 1) {
			child->line[child->line_length++] = bytes[i];
		}
	}
}

/* False when there is nothing more for now, or for ever. */
static bool read_some(struct strace_child *child, int fd, bool is_output)
{
	char bytes[READ_BYTES];
	ssize_t length = read(fd, bytes, sizeof(bytes));

	if (length < 0)
		return errno == EINTR;
	if (length == 0)
		return false;
	if (is_output)
		child->take(child->context, bytes, (size_t)length);
	else
		take_messages(child, bytes, (size_t)length);
	return true;
}

static void take_ready_output(void *context)
{
	struct strace_child *child = context;
	int reads = 0;

	while (reads < READS_MOST && read_some(child, child->output, true))
		reads++;
	/* Ready without anything to read: strace has closed it. */
	if (!reads)
		loop_remove_fd(child->loop, &child->output_ready);
}

static void take_ready_messages(void *context)
{
	struct strace_child *child = context;

	if (!read_some(child, child->messages, false))
		loop_remove_fd(child->loop, &child->messages_ready);
}

static void drain(struct strace_child *child)
{
	while (read_some(child, child->output, true))
		;
	while (read_some(child, child->messages, false))
		;
}

static void forget(struct strace_child *child)
{
	loop_remove_fd(child->loop, &child->output_ready);
	loop_remove_fd(child->loop, &child->messages_ready);
	loop_remove_fd(child->loop, &child->ended);
	loop_remove_timer(child->loop, &child->kill_due);
	close_fd(&child->output);
	close_fd(&child->messages);
	close_fd(&child->pidfd);
	child->pid = 0;
}

static void reap(struct strace_child *child)
{
	while (waitpid(child->pid, &child->status, 0) < 0 && errno == EINTR)
		;
}

static void note_end(void *context)
{
	struct strace_child *child = context;

	drain(child);
	reap(child);
	forget(child);
	child->done(child->context, child);
}

static void send_signal(const struct strace_child *child, int number)
{
	(void)syscall(SYS_pidfd_send_signal, child->pidfd, number, NULL, 0);
}

static void kill_late(void *context)
{
	struct strace_child *child = context;

	child->was_killed = true;
	send_signal(child, SIGKILL);
}

void strace_child_stop(struct strace_child *child)
{
	if (!child->pid || child->is_stopping)
		return;
	child->is_stopping = true;
	child->kill_due.deadline_ns = monotonic_ns() + STOP_NS;
	send_signal(child, SIGINT);
}

void strace_child_close(struct strace_child *child)
{
	if (!child->pid)
		return;
	send_signal(child, SIGKILL);
	reap(child);
	forget(child);
}

/* Those that were asked to stop together share a limit; one that has ended is never late. */
void strace_child_wait(struct strace_child *child)
{
	uint64_t deadline_ns, now_ns;
	struct pollfd ready[] = { { child->pidfd, POLLIN, 0 },
				  { child->output, POLLIN, 0 },
				  { child->messages, POLLIN, 0 } };

	strace_child_stop(child);
	deadline_ns = child->kill_due.deadline_ns;
	do {
		now_ns = monotonic_ns();
		if (poll(ready, 3,
			 now_ns < deadline_ns ? (int)((deadline_ns - now_ns) / NS_PER_MS) + 1 :
						0) <= 0)
			continue;
		drain(child);
		if (ready[0].revents) {
			note_end(child);
			return;
		}
		/* Closed by strace: they would be ready for ever. */
		for (int i = 1; i < 3; i++)
			if (ready[i].revents & POLLHUP)
				ready[i].fd = -1;
	} while (now_ns < deadline_ns);
	kill_late(child);
	note_end(child);
}

static int watch(struct strace_child *child)
{
	int status;

	child->output_ready = (struct loop_fd){ .ready = take_ready_output, .context = child };
	child->messages_ready = (struct loop_fd){ .ready = take_ready_messages, .context = child };
	child->ended = (struct loop_fd){ .ready = note_end, .context = child };
	child->kill_due = (struct loop_timer){ .due = kill_late,
					       .context = child,
					       .deadline_ns = LOOP_NEVER };
	loop_add_timer(child->loop, &child->kill_due);
	status = loop_add_fd(child->loop, &child->output_ready, child->output, EPOLLIN);
	if (status == 0)
		status = loop_add_fd(child->loop, &child->messages_ready, child->messages, EPOLLIN);
	return status < 0 ? status : loop_add_fd(child->loop, &child->ended, child->pidfd, EPOLLIN);
}

static int start(struct strace_child *child, const struct strace_request *request)
{
	CLEANUP(free_pointer) char **words = make_words(request);
	CLEANUP(close_pipes) struct pipes pipes;
	int status = open_pipes(&pipes);

	if (!words)
		status = -ENOMEM;
	if (status == 0)
		status = fork_strace(words, &pipes, request->program);
	if (status < 0)
		return status;
	child->pid = status;
	child->output = TAKE_FD(pipes.output[0]);
	child->messages = TAKE_FD(pipes.messages[0]);
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	status = child->pidfd < 0 ? -errno : watch(child);
	if (status < 0) {
		kill(child->pid, SIGKILL);
		reap(child);
		forget(child);
	}
	return status;
}

int strace_child_start(struct strace_child *child, struct loop *loop,
		       const struct strace_request *request, strace_output *take,
		       strace_ended *done, void *context, struct error *error)
{
	int status;

	*child = (struct strace_child){
		.loop = loop,
		.pidfd = -1,
		.output = -1,
		.messages = -1,
		.take = take,
		.done = done,
		.context = context,
	};
	status = start(child, request);
	return status < 0 ? error_set(error, status, "cannot start strace: %s", strerror(-status)) :
			    0;
}
