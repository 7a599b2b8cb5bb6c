/* SPDX-License-Identifier: MIT */
/* Waits for every kind of thing, by the arguments of the call. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "branches.h"

static int pair[2];
static int queue;
static unsigned word[2];

static int opened(const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	NEED(fd >= 0);
	return fd;
}

static void wait_pipe(void)
{
	char byte;

	NEED(pipe2(pair, 0) == 0);
	(void)!read(pair[0], &byte, 1);
}

static void wait_unix(void)
{
	char byte;

	NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	(void)!recv(pair[0], &byte, 1, 0);
}

static void wait_inet(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char byte;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	NEED(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	(void)!recv(fd, &byte, 1, 0);
}

static void wait_netlink(void)
{
	char byte;

	(void)!recv(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), &byte, 1, 0);
}

static void wait_event(void)
{
	uint64_t value;

	(void)!read(eventfd(0, 0), &value, sizeof(value));
}

static void wait_terminal(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);
	char byte;

	NEED(grantpt(fd) == 0 && unlockpt(fd) == 0);
	(void)!read(open(ptsname(fd), O_RDWR | O_NOCTTY), &byte, 1);
}

static void wait_console(void)
{
	char byte;
	int fd = open("/dev/kmsg", O_RDONLY);

	lseek(fd, 0, SEEK_END);
	while (fd >= 0)
		(void)!read(fd, &byte, 1);
	pause();
}

static void wait_lock(int command)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	fcntl(opened("lock"), command, &lock);
}

static void wait_posix_lock(void)
{
	wait_lock(F_SETLKW);
}

static void wait_file_lock(void)
{
	wait_lock(F_OFD_SETLKW);
}

static void wait_flock(void)
{
	flock(opened("flock"), LOCK_EX);
}

static void futex(int operation, uint32_t value)
{
	*word = value;
	syscall(SYS_futex, word, operation, *word, NULL, &word[1], FUTEX_BITSET_MATCH_ANY);
}

static void wait_mutex(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&mutex);
}

static void wait_lock_of_readers(void)
{
	pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

	pthread_rwlock_rdlock(&lock);
	pthread_rwlock_wrlock(&lock);
}

static void wait_shared_semaphore(void)
{
	sem_t *semaphore = mmap(NULL, sizeof(*semaphore), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	sem_init(semaphore, 1, 0);
	sem_wait(semaphore);
}

static void wait_condition(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&condition, &mutex);
}

/* As Go's runtime parks a worker. */
static void wait_parked(void)
{
	futex(FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0);
}

static void *wait_for_ever(void *unused)
{
	pause();
	return unused;
}

static void wait_join(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_for_ever, NULL);
	pthread_join(thread, NULL);
}

static void wait_requeue(void)
{
	futex(FUTEX_WAIT_REQUEUE_PI, 0);
}

static void wait_message(void)
{
	char message[16];

	(void)!msgrcv(queue, message, 1, 0, 0);
}

static void wait_signal(void)
{
	sigset_t all;

	sigfillset(&all);
	sigwaitinfo(&all, NULL);
}

static void wait_vfork(void)
{
	if (vfork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
}

static void wait_child(void)
{
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	wait(NULL);
}

static void wait_stopped(void)
{
	raise(SIGSTOP);
}

static void wait_traced(void)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGUSR1);
}

/* The stop makes the kernel go on by restart_syscall, which does not say with what. */
static void wait_restarted(void)
{
	struct timespec long_time = { .tv_sec = 1000 };

	syscall(SYS_nanosleep, &long_time, NULL);
}

static void wait_queue(void)
{
	char bytes[65536];

	NEED(pipe2(pair, 0) == 0);
	for (;;)
		(void)!write(pair[1], bytes, sizeof(bytes));
}

static void wait_open_of_fifo(void)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/fifo", folder);
	NEED(mkfifo(path, 0600) == 0);
	(void)!open(path, O_RDONLY | O_CLOEXEC);
}

static const struct {
	void (*body)(void);
	const char *reason;
} kinds[] = {
	{ wait_pipe, "pipe" },
	{ wait_queue, "pipe" },
	{ wait_open_of_fifo, "pipe" },
	{ wait_unix, "pipe" },
	{ wait_inet, "network" },
	{ wait_netlink, "other" },
	{ wait_event, "poll" },
	{ wait_terminal, "poll" },
	{ wait_console, "other" },
	{ wait_posix_lock, "lock" },
	{ wait_file_lock, "lock" },
	{ wait_flock, "lock" },
	{ wait_mutex, "lock" },
	{ wait_lock_of_readers, "lock" },
	{ wait_shared_semaphore, "lock" },
	{ wait_parked, "condition" },
	{ wait_condition, "condition" },
	{ wait_join, "child" },
	{ wait_requeue, "condition" },
	{ wait_message, "pipe" },
	{ wait_signal, "poll" },
	{ wait_vfork, "child" },
	{ wait_child, "child" },
	{ wait_stopped, "stopped" },
	{ wait_traced, "stopped" },
	{ wait_restarted, "timer" },
};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

static void wait_for(void *argument)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	kinds[*(size_t *)argument].body();
	pause();
}

static void hold_locks(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	NEED(fcntl(opened("lock"), F_OFD_SETLK, &lock) == 0);
	NEED(flock(opened("flock"), LOCK_EX) == 0);
}

/* All kinds at once, each by a process of its own, until all have waited for long. */
static void wait_in_every_way(unsigned microseconds)
{
	pid_t pids[KIND_COUNT];

	hold_locks();
	queue = msgget(IPC_PRIVATE, 0600 | IPC_CREAT);
	for (size_t i = 0; i < KIND_COUNT; i++) {
		pids[i] = start(wait_for, &i);
		say("said=wait pid=%d reason=%s\n", pids[i], kinds[i].reason);
	}
	for (size_t i = 0; i < KIND_COUNT; i++)
		let_wait(pids[i], i ? 0 : LONG_US);
	kill(pids[KIND_COUNT - 1], SIGSTOP);
	usleep(SHORT_US);
	kill(pids[KIND_COUNT - 1], SIGCONT);
	usleep(microseconds);
	for (size_t i = 0; i < KIND_COUNT; i++) {
		kill(pids[i], SIGKILL);
		reap(pids[i]);
	}
	msgctl(queue, IPC_RMID, NULL);
}

void act_waits(void)
{
	wait_in_every_way(3 * LONG_US);
}

/* For somebody who comes when all of them wait. */
void act_long_waits(void)
{
	wait_in_every_way(20 * LONG_US);
}

#define MOVES_MOST 40
#define NS_PER_US 1000ULL

static int cpus[2];

/* The first and the last that we may have. */
static void cpus_find(void)
{
	cpu_set_t set;

	NEED(sched_getaffinity(0, sizeof(set), &set) == 0);
	for (int i = CPU_SETSIZE - 1; i >= 0; i--)
		if (CPU_ISSET(i, &set))
			cpus[0] = i;
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set))
			cpus[1] = i;
}

static void move(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	NEED(sched_setaffinity(pid, sizeof(set), &set) == 0);
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / NS_PER_US;
}

static void compute(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		;
}

/* Reads from a pipe soon after its CPU came back to it: it has had more than its share by then. */
static void read_unfairly(void *unused)
{
	uint64_t before = now_us(), now = before;
	char byte;

	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (; now - before < 1000; now = now_us())
		before = now;
	for (before = now; now - before < 2000; now = now_us())
		;
	(void)!read(pair[0], &byte, 1);
	pause();
}

static pid_t start_there(void (*body)(void *))
{
	pid_t pid;

	move(0, cpus[0]);
	pid = start(body, NULL);
	move(0, cpus[1]);
	return pid;
}

static uint64_t run_delay_us(pid_t pid)
{
	unsigned long long ran, delay;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	file = fopen(path, "re");
	NEED(file && fscanf(file, "%llu %llu", &ran, &delay) == 2);
	fclose(file);
	return delay / NS_PER_US;
}

/* Moves one that just began to wait; whether the kernel counts that wait as one for the CPU. */
static int is_moved_wrongly(pid_t pid)
{
	uint64_t before;

	let_wait(pid, 0);
	move(pid, cpus[1]);
	before = run_delay_us(pid);
	usleep(3 * LONG_US);
	NEED(write(pair[1], "x", 1) == 1);
	let_wait(pid, 0);
	return run_delay_us(pid) - before >= 2 * LONG_US;
}

/*
 * Since 6.12 one that had more than its share of a CPU sleeps on its run queue for a while.  If it is
 * moved to another CPU then, the kernel counts all of its sleep as waiting for that.
 */
void act_moved(void)
{
	pid_t busy, pid;
	int is_over = 0;

	NEED(pipe2(pair, 0) == 0);
	cpus_find();
	busy = start_there(compute);
	for (int i = 0; i < MOVES_MOST && !is_over; i++) {
		pid = start_there(read_unfairly);
		is_over = is_moved_wrongly(pid) || i == MOVES_MOST - 1;
		if (is_over)
			say("said=wait pid=%d reason=pipe\n", pid);
		kill(pid, SIGKILL);
		reap(pid);
	}
	kill(busy, SIGKILL);
	reap(busy);
}
