/* SPDX-License-Identifier: MIT */
/*
 * Reaches the branches of the kernel side that ordinary commands do not: see branches.h.
 *
 *	branches_workload ROLE [DIRECTORY]
 */
#include "branches.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const char *folder;

void need(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "branches_workload: %s: %s\n", what, strerror(errno));
		_exit(9);
	}
}

void say(const char *format, ...)
{
	char line[256];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	NEED(write(STDERR_FILENO, line, (size_t)length) == length);
}

static char state_of(pid_t tid)
{
	char path[64], text[512] = "", *end;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	NEED(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	end = strrchr(text, ')');
	return end ? end[2] : 0;
}

void let_wait(pid_t tid, unsigned microseconds)
{
	while (!strchr("SDTt", state_of(tid)))
		usleep(1000);
	usleep(microseconds);
}

pid_t start(void (*body)(void *), void *argument)
{
	pid_t pid = fork();

	NEED(pid >= 0);
	if (pid == 0) {
		body(argument);
		_exit(0);
	}
	return pid;
}

void reap(pid_t pid)
{
	NEED(waitpid(pid, NULL, 0) == pid);
}

/* Wakers. */

#define WAKERS 24 /* more than a thread has room for */

static int pair[2];

static void write_when_awaited(void *reader)
{
	let_wait(*(pid_t *)reader, SHORT_US);
	NEED(write(pair[1], "x", 1) == 1);
}

static void say_waker(const char *reason, pid_t waker, int count)
{
	say("said=waker pid=%d reason=%s waker=%d count=%d\n", getpid(), reason, waker, count);
}

static void be_woken(int times)
{
	pid_t own = getpid(), pids[WAKERS];
	char byte;

	NEED(pipe2(pair, 0) == 0);
	for (int i = 0; i < times; i++) {
		pids[i] = start(write_when_awaited, &own);
		NEED(read(pair[0], &byte, 1) == 1);
		say_waker("pipe", pids[i], 1);
	}
	for (int i = 0; i < times; i++)
		reap(pids[i]);
}

static void act_wakers(void)
{
	be_woken(6);
}

/* More than there is room for: some lose their place, and are counted. */
static void act_many_wakers(void)
{
	be_woken(WAKERS);
}

static void sleep_shortly(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "offspring");
	usleep(SHORT_US);
}

/* Children of one name are one waker, with the number of the last. */
static void act_children(void)
{
	pid_t pid = 0;

	for (int i = 0; i < WAKERS; i++) {
		pid = start(sleep_shortly, NULL);
		reap(pid);
	}
	say_waker("child", pid, WAKERS);
}

/* Nobody ends a sleep. */
static void act_sleeps(void)
{
	for (int i = 0; i < 5; i++)
		usleep(SHORT_US);
	say_waker("timer", 0, 5);
}

/* Families. */

static void end_quietly(void *unused)
{
	(void)unused;
}

static void clone_sibling(void *unused)
{
	pid_t parent = getppid();
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

	(void)unused;
	if (pid == 0)
		_exit(5);
	say("said=fork pid=%d parent=%d\nsaid=end pid=%d status=1280 sender=0\n", pid, parent, pid);
}

static void act_family(void)
{
	pid_t own = getpid(), pid = start(clone_sibling, NULL);

	say("said=fork pid=%d parent=%d\n", pid, own);
	while (wait(NULL) > 0)
		;
	pid = vfork();
	if (pid == 0)
		_exit(6);
	say("said=fork pid=%d parent=%d\nsaid=end pid=%d status=1536 sender=0\n", pid, own, pid);
	reap(pid);
	reap(start(end_quietly, NULL));
}

/* Signals. */

static void on_signal(int number)
{
	(void)number;
}

static void wait_for_signals(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, on_signal);
	signal(SIGHUP, on_signal);
	signal(SIGUSR2, SIG_IGN);
	for (;;)
		pause();
}

static void send_signal(pid_t pid, int number, bool is_told)
{
	pid_t sender = getpid();

	NEED(kill(pid, number) == 0);
	if (is_told)
		say("said=signal pid=%d number=%d sender=%d\n", pid, number, sender);
	else
		say("said=quiet pid=%d number=%d\n", pid, number);
}

static void break_pipe(void *unused)
{
	int ends[2];

	(void)unused;
	NEED(pipe2(ends, 0) == 0);
	close(ends[0]);
	(void)!write(ends[1], "x", 1);
}

static void touch_nothing(void *unused)
{
	volatile char *volatile nowhere = NULL;

	(void)unused;
	*nowhere = 1;
}

static void end_by(void (*body)(void *), int number)
{
	pid_t pid = start(body, NULL);

	reap(pid);
	say("said=end pid=%d status=%d sender=0\n", pid, number);
	say("said=signal pid=%d number=%d sender=0\n", pid, number);
}

static void act_signals(void)
{
	struct rlimit none = { 0, 0 };
	pid_t pid = start(wait_for_signals, NULL);

	setrlimit(RLIMIT_CORE, &none);
	let_wait(pid, SHORT_US);
	send_signal(pid, SIGUSR1, false);
	send_signal(pid, SIGUSR2, false);
	send_signal(pid, SIGWINCH, false);
	send_signal(pid, SIGURG, false);
	send_signal(pid, SIGCONT, false);
	send_signal(pid, SIGHUP, true);
	send_signal(pid, SIGALRM, true);
	reap(pid);
	say("said=end pid=%d status=%d sender=%d\n", pid, SIGALRM, getpid());
	end_by(break_pipe, SIGPIPE);
	end_by(touch_nothing, SIGSEGV);
}

static const struct {
	const char *name;
	void (*act)(void);
} roles[] = {
	{ "children", act_children }, { "descriptors", act_descriptors },
	{ "errors", act_errors },     { "family", act_family },
	{ "far", act_far },	      { "interrupted", act_interrupted },
	{ "kinds", act_kinds },	      { "many_wakers", act_many_wakers },
	{ "signals", act_signals },   { "shared_descriptors", act_shared_descriptors },
	{ "stays", act_stays },	      { "long_waits", act_long_waits },
	{ "moved", act_moved },	      { "sleeps", act_sleeps },
	{ "waits", act_waits },	      { "wakers", act_wakers },
};

int main(int count, char **arguments)
{
	folder = count > 2 ? arguments[2] : "/tmp";
	for (size_t i = 0; count > 1 && i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(roles[i].name, arguments[1]) == 0) {
			roles[i].act();
			return 0;
		}
	fprintf(stderr, "branches_workload: there is no such role\n");
	return 9;
}
