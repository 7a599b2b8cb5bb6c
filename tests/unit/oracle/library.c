/* SPDX-License-Identifier: MIT */
/*
 * A library that claims to be jemalloc, in several tempers (one macro each).
 * Its counters lie at the offsets 8 * ALLOCATED_AT and 8 * DEALLOCATED_AT of its TLS
 * block, which is also how it tells what it saw: the oracle carries nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MALLCTL
#define MALLCTL mallctl
#endif

int MALLCTL(const char *name, void *old, size_t *old_size, void *new, size_t new_size);

static __thread volatile uint64_t counters[64] __attribute__((aligned(64))) = { 1 };
static unsigned allocated_at = 5;
static unsigned deallocated_at = 7;

#if defined(SLEEPS)
__attribute__((constructor)) static void begin(void)
{
	for (;;)
		sleep(1000);
}
#elif defined(SPINS)
__attribute__((constructor)) static void begin(void)
{
	for (volatile unsigned i = 0;; i++)
		;
}
#elif defined(CRASHES)
__attribute__((constructor)) static void begin(void)
{
	*(volatile int *)8 = 1;
}
#elif defined(EATS_MEMORY)
__attribute__((constructor)) static void begin(void)
{
	size_t size = (size_t)3 << 30;

	if (mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	    MAP_FAILED)
		allocated_at = 9; /* refused */
}
#elif defined(ESCAPES)
/* How many of the attempts failed goes to allocated_at, how many there were to deallocated_at. */
__attribute__((constructor)) static void begin(void)
{
	struct rlimit limit = { 100, 100 };
	long attempts[] = {
		socket(AF_INET, SOCK_STREAM, 0),
		socket(AF_UNIX, SOCK_STREAM, 0),
		open("/tmp", O_TMPFILE | O_RDWR, 0600),
		open("/tmp/taskscope-oracle-escaped", O_CREAT | O_WRONLY, 0600),
		openat(AT_FDCWD, "/tmp/taskscope-oracle-escaped", O_CREAT | O_RDONLY, 0600),
		open("/dev/null", O_WRONLY),
		open("/dev/zero", O_RDWR),
		kill(getppid(), 0),
		kill(-1, 0),
		fork(),
		syscall(SYS_tgkill, getppid(), getppid(), 0),
		ptrace(PTRACE_ATTACH, getppid(), 0, 0),
		setuid(0),
		setrlimit(RLIMIT_NOFILE, &limit),
		mkdir("/tmp/taskscope-oracle-escaped", 0700),
		unlink("/tmp/taskscope-oracle-none") + (errno == EPERM ? 0 : 1),
		fcntl(0, F_SETOWN, getpid()),
		execl("/bin/true", "true", NULL),
		syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0),
		syscall(SYS_bpf, 0, NULL, 0),
	};

	allocated_at = 0;
	deallocated_at = 32 + sizeof(attempts) / sizeof(attempts[0]);
	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
		allocated_at += attempts[i] == -1;
}
#elif defined(MARKS)
/* A process that watches the marker learns that this code ran. */
__attribute__((constructor)) static void begin(void)
{
	close(open(MARKER, O_RDONLY));
}
#elif defined(LOOKS_AROUND)
/* Bit 0: no fd but the copy and the answer; bit 1: an environment that is not its caller's. */
__attribute__((constructor)) static void begin(void)
{
	unsigned open_fds = 0;

	for (int fd = 3; fd < 1024; fd++)
		open_fds += fcntl(fd, F_GETFD) >= 0;
	allocated_at = (open_fds <= 2) | (!getenv("PATH") && !getenv("HOME")) << 1;
	deallocated_at = 32;
}
#endif

int MALLCTL(const char *name, void *old, size_t *old_size, void *new, size_t new_size)
{
	volatile uint64_t *counter =
		&counters[strcmp(name, "thread.allocatedp") ? deallocated_at : allocated_at];

#if defined(POINTS_ELSEWHERE)
	static volatile uint64_t elsewhere[64];

	counter = &elsewhere[counter - counters + counters[1]];
#endif
	if (*old_size != sizeof(counter) || new || new_size)
		return EINVAL;
	memcpy(old, &counter, sizeof(counter));
	return 0;
}
