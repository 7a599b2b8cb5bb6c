/* SPDX-License-Identifier: MIT */
/*
 * Runs a command and prints what it cost: CPU time (user and kernel) and wall time in nanoseconds,
 * peak resident memory in bytes, exit status.  The command's output goes to /dev/null, its
 * errors where ours go.
 *
 * It is a small program on purpose: a peak counts from the memory of the program that execs, so
 * a large interpreter would measure itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND 1000000000LL

static long long wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static long long timeval_ns(struct timeval time)
{
	return time.tv_sec * NS_PER_SECOND + time.tv_usec * 1000LL;
}

static void become(char **command)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		_exit(126);
	execvp(command[0], command);
	fprintf(stderr, "cannot run %s: %s\n", command[0], strerror(errno));
	_exit(127);
}

int main(int argc, char **argv)
{
	long long start = wall_ns();
	struct rusage usage;
	int status;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: %s COMMAND [ARGUMENT...]\n", argv[0]);
		return 2;
	}
	pid = fork();
	if (pid == 0)
		become(argv + 1);
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) {
		fprintf(stderr, "cannot measure %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	printf("%lld %lld %lld %d\n", timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime),
	       wall_ns() - start, usage.ru_maxrss * 1024LL,
	       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
