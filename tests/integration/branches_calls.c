/* SPDX-License-Identifier: MIT */
/* System calls of every kind. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "branches.h"

/* Numbers without a call on any machine: each has a place of its own, and costs nothing. */
static int number_of(int index)
{
	return index < 87 ? 337 + index : 470 + index - 87;
}

static void say_call(int number, int count, int errors, int sockets)
{
	say("said=call pid=%d number=%d count=%d errors=%d sockets=%d\n", getpid(), number, count,
	    errors, sockets);
}

/* More kinds of calls than there is room for: what is beyond is counted without a name. */
void act_kinds(void)
{
	enum { KINDS = 87 + 42 };

	for (int i = 0; i < KINDS; i++)
		say_call(number_of(i), 1 + i % 3, 1 + i % 3, 0);
	for (int i = 0; i < KINDS; i++)
		for (int j = 0; j <= i % 3; j++)
			syscall(number_of(i));
	_exit(0);
}

/* Numbers beyond the table share places; who comes second has no name. */
void act_far(void)
{
	say_call(1000, 3, 3, 0);
	say_call(1064, 2, 2, 0);
	say_call(1001, 1, 1, 0);
	for (int i = 0; i < 3; i++)
		syscall(1000);
	for (int i = 0; i < 2; i++)
		syscall(1064);
	syscall(1001);
	_exit(0);
}

static void openat2_with(const char *path, uint64_t flags, uint64_t resolve, size_t size)
{
	struct open_how how = { .flags = flags, .resolve = resolve };

	NEED(syscall(SYS_openat2, AT_FDCWD, path, &how, size) < 0);
	say("said=error pid=%d number=%d errno=%d count=1\n", getpid(), SYS_openat2, errno);
}

/* The first four errors have rows of their own. */
void act_errors(void)
{
	const size_t size = sizeof(struct open_how);

	openat2_with("/nowhere/at/all", O_RDONLY, 0, size);
	openat2_with("/dev/null/x", O_RDONLY, 0, size);
	openat2_with("/", O_WRONLY, 0, size);
	openat2_with("/proc/self/exe", O_RDONLY, RESOLVE_NO_SYMLINKS, size);
	NEED(syscall(SYS_openat2, AT_FDCWD, "/", NULL, 1) < 0 && errno == EINVAL);
	NEED(syscall(SYS_openat2, AT_FDCWD, "/", NULL, size) < 0 && errno == EFAULT);
	say("said=error pid=%d number=%d errno=0 count=2\n", getpid(), SYS_openat2);
	say_call(SYS_openat2, 6, 6, 0);
}

static void on_signal(int number)
{
	(void)number;
}

/* Inside of the kernel these end by other numbers, and a handler's return has no result. */
void act_interrupted(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct itimerval soon = { .it_value.tv_usec = 20000 };
	struct timespec long_time = { .tv_sec = 1000 };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	NEED(syscall(SYS_nanosleep, &long_time, NULL) < 0);
	setitimer(ITIMER_REAL, &soon, NULL);
	NEED(syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0) < 0);
	say("said=error pid=%d number=%d errno=%d count=1\n", getpid(), SYS_nanosleep, EINTR);
	say("said=error pid=%d number=%d errno=%d count=1\n", getpid(), SYS_ppoll, EINTR);
	say_call(SYS_rt_sigreturn, 2, 0, 0);
}

static void read_once(int fd)
{
	char bytes[4];
	struct iovec part = { bytes, 1 };

	NEED(readv(fd, &part, 1) == 1);
}

/* What a descriptor is, is remembered by its lowest bits, and forgotten when it may be another. */
static void read_kinds(void)
{
	int pipes[2], sockets[2];

	NEED(pipe2(pipes, 0) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	NEED(dup2(sockets[0], 40) == 40 && dup2(pipes[0], 44) == 44);
	NEED(write(pipes[1], "123456", 6) == 6 && write(sockets[1], "123456", 6) == 6);
	read_once(40);
	read_once(44);
	read_once(40);
	read_once(40);
	read_once(44);
	NEED(dup2(pipes[0], 40) == 40 && dup2(sockets[0], 44) == 44);
	read_once(40);
	read_once(40);
	read_once(44);
}

void act_descriptors(void)
{
	read_kinds();
	say_call(SYS_readv, 8, 0, 4);
}

static void *read_in_thread(void *unused)
{
	read_kinds();
	return unused;
}

/* Where another thread could change descriptors, each is looked up. */
void act_shared_descriptors(void)
{
	pthread_t thread;

	NEED(pthread_create(&thread, NULL, read_in_thread, NULL) == 0);
	pthread_join(thread, NULL);
	say_call(SYS_readv, 8, 0, 4);
}

/* Stays when its parent is gone. */
void act_stays(void)
{
	for (int i = 0; i < 40; i++) {
		say_call(number_of(i), 2, 2, 0);
		syscall(number_of(i));
		syscall(number_of(i));
	}
	usleep(SHORT_US);
	close(STDERR_FILENO);
	NEED(write(STDOUT_FILENO, "\n", 1) == 1);
	close(STDOUT_FILENO);
	pause();
}
