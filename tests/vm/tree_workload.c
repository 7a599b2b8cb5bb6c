/* SPDX-License-Identifier: MIT */
/*
 * A tree of processes that know what must be seen of them.  Each argument is a role, done by a
 * process of its own, one after another; the first process exits with 3.
 *
 * Prints, so that each line is written whole:
 *
 *	role PID NAME
 *	expect PID KEY OPERATOR VALUE	KEY is a path in the exit record; ~ is within 2 percent
 *	children PID COUNT CPU_NS	as getrusage() has it
 *	total LEAST_NS MOST_NS TIME_NS	CPU time of all of them since the exec of the first, which is
 *					after it was born and before it could look; up to this
 *					time of CLOCK_MONOTONIC
 *	left PID			still there when the command has ended
 *	sender PID			who kills the first process
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000ULL
#define MIB (1ULL << 20)
#define PAUSE_MS 200
/* Less than a pause, whose begin or end may take long on a slow machine. */
#define PAUSE_SEEN_NS (PAUSE_MS / 2 * NS_PER_MS)
#define BLOCK_BYTES 4096
#define SHORT_CHILDREN 200
#define LARGE_MIB 96
#define SMALL_MIB 8

static void need(int condition)
{
	if (!condition) {
		perror("tree_workload");
		_exit(9);
	}
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[256];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	need(write(STDOUT_FILENO, line, (size_t)length) == length);
}

static void expect(pid_t pid, const char *key, const char *operator, uint64_t value)
{
	say("expect %d %s %s %llu\n", pid, key, operator,(unsigned long long) value);
}

static void expect_wait(const char *reason)
{
	char key[64];

	snprintf(key, sizeof(key), "wait_%s_ns", reason);
	expect(getpid(), key, ">=", PAUSE_SEEN_NS);
}

static void sleep_ms(unsigned milliseconds)
{
	struct timespec time = { milliseconds / 1000, (long)(milliseconds % 1000) * 1000000 };

	while (nanosleep(&time, &time) < 0 && errno == EINTR)
		;
}

static uint64_t cpu_ns(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 * NS_PER_MS +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static void read_file(pid_t tid, const char *name, char text[512])
{
	char path[64];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	need(fd >= 0);
	length = read(fd, text, 511);
	need(length > 0);
	close(fd);
	text[length] = '\0';
}

/* Whether a task has this state and has left its CPU: it has the state a moment before. */
static bool has_state(pid_t tid, char state)
{
	char stat[512], wchan[512];
	const char *found;

	read_file(tid, "stat", stat);
	found = strrchr(stat, ')');
	need(found != NULL);
	read_file(tid, "wchan", wchan);
	return found[2] == state && strcmp(wchan, "0") != 0;
}

/*
 * Until a task has this state and has not run for a while: it may wait for something else first,
 * and all takes long where the machine is emulated.
 */
static void wait_for_state(pid_t tid, char state)
{
	char before[512], after[512];

	for (;;) {
		read_file(tid, "schedstat", before);
		sleep_ms(20);
		if (has_state(tid, state)) {
			read_file(tid, "schedstat", after);
			if (strcmp(before, after) == 0)
				return;
		}
	}
}

/* For a thread: until the first one waits for it. */
static void wait_for_first(void)
{
	wait_for_state(getpid(), 'S');
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec;
}

static void touch_memory(size_t bytes)
{
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(memory != MAP_FAILED);
	for (size_t i = 0; i < bytes; i += BLOCK_BYTES)
		((volatile char *)memory)[i] = 1;
}

static void use_cpus(int count)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int i = 0; i < count; i++)
		CPU_SET(i, &cpus);
	need(sched_setaffinity(0, sizeof(cpus), &cpus) == 0);
}

/*
 * On one CPU, whoever waits for another one runs when that has really ended, and the kernel has all
 * of it.  On two, the last steps of the dead are in nobody's account, and they can take long: the
 * machine is emulated, one CPU at a time.
 */
static void use_one_cpu(void)
{
	use_cpus(1);
}

/* From here on, until use_one_cpu(). */
static void use_all_cpus(void)
{
	use_cpus((int)sysconf(_SC_NPROCESSORS_ONLN));
}

static pid_t start(const char *role)
{
	pid_t pid;

	use_one_cpu();
	pid = fork();
	need(pid >= 0);
	if (pid == 0) {
		execl("/proc/self/exe", "tree_workload", "-", role, (char *)NULL);
		_exit(9);
	}
	return pid;
}

static void *in_thread(void *(*body)(void *), void *argument)
{
	pthread_t *thread = malloc(sizeof(*thread));

	use_all_cpus();
	need(thread && pthread_create(thread, NULL, body, argument) == 0);
	return thread;
}

static void join(void *thread)
{
	pthread_join(*(pthread_t *)thread, NULL);
	free(thread);
}

/* Roles: what they return is their exit code. */

static int act_nothing(void)
{
	return 0;
}

static int act_pausing(void)
{
	while (pause() < 0)
		;
	return 0;
}

static int act_failing(void)
{
	expect(getpid(), "exit_code", "==", 7);
	return 7;
}

static int act_burning(void)
{
	while (cpu_ns(RUSAGE_SELF) < 500 * NS_PER_MS)
		for (volatile int i = 0; i < 100000; i++)
			;
	expect(getpid(), "cpu_time_ns", ">=", cpu_ns(RUSAGE_SELF) / 100 * 98);
	return 0;
}

/* What the kernel says of a child that has ended is all of it; its own words were not. */
static int act_computing(void)
{
	pid_t pid = start("burning");

	waitpid(pid, NULL, 0);
	expect(pid, "cpu_time_ns", "~", cpu_ns(RUSAGE_CHILDREN));
	expect(pid, "cpu_time_ns", "<=", cpu_ns(RUSAGE_CHILDREN) / 100 * 102);
	return 0;
}

static int act_sleeping(void)
{
	for (int i = 0; i < 5; i++)
		sleep_ms(PAUSE_MS / 5);
	expect_wait("timer");
	return 0;
}

static void *write_later(void *fd)
{
	wait_for_first();
	sleep_ms(PAUSE_MS);
	need(write(*(int *)fd, "x", 1) == 1);
	return NULL;
}

/* Reads from one end what a thread writes to the other after a while. */
static void exchange(int ends[2])
{
	void *thread = in_thread(write_later, &ends[1]);
	char byte;

	need(read(ends[0], &byte, 1) == 1);
	join(thread);
}

static int act_piping(void)
{
	int ends[2];

	need(pipe2(ends, O_CLOEXEC) == 0);
	exchange(ends);
	expect_wait("pipe");
	return 0;
}

static int act_talking(void)
{
	int ends[2];

	need(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	exchange(ends);
	expect_wait("pipe");
	return 0;
}

static int act_networking(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int ends[2] = { socket(AF_INET, SOCK_STREAM, 0), -1 };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	need(bind(listener, (struct sockaddr *)&address, length) == 0);
	need(listen(listener, 1) == 0);
	need(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
	need(connect(ends[0], (struct sockaddr *)&address, length) == 0);
	ends[1] = accept(listener, NULL, NULL);
	need(ends[1] >= 0);
	exchange(ends);
	expect_wait("network");
	return 0;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int told;

static void *lock_for_once(void *ret_tid)
{
	__atomic_store_n((pid_t *)ret_tid, gettid(), __ATOMIC_RELAXED);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static int act_locking(void)
{
	pid_t tid = 0;
	void *thread;

	pthread_mutex_lock(&mutex);
	thread = in_thread(lock_for_once, &tid);
	while (!__atomic_load_n(&tid, __ATOMIC_RELAXED))
		sleep_ms(1);
	/* A new thread may sleep before it wants the lock, too; glibc's 2 is a lock that somebody wants. */
	while (__atomic_load_n(&mutex.__data.__lock, __ATOMIC_RELAXED) != 2)
		sleep_ms(1);
	wait_for_state(tid, 'S');
	sleep_ms(PAUSE_MS);
	pthread_mutex_unlock(&mutex);
	join(thread);
	expect_wait("lock");
	return 0;
}

static void *tell_later(void *unused)
{
	(void)unused;
	wait_for_first();
	sleep_ms(PAUSE_MS);
	pthread_mutex_lock(&mutex);
	told = 1;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static int act_expecting(void)
{
	void *thread;

	pthread_mutex_lock(&mutex);
	thread = in_thread(tell_later, NULL);
	while (!told)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
	join(thread);
	expect_wait("condition");
	return 0;
}

static int act_polling(void)
{
	struct pollfd end = { .events = POLLIN };
	int ends[2];

	if (pipe(ends) < 0)
		return 1;
	end.fd = ends[0];
	poll(&end, 1, PAUSE_MS);
	expect_wait("poll");
	return 0;
}

static void *sleep_once(void *unused)
{
	(void)unused;
	wait_for_first();
	sleep_ms(PAUSE_MS);
	return NULL;
}

static int act_joining(void)
{
	join(in_thread(sleep_once, NULL));
	expect_wait("child");
	return 0;
}

static int act_waiting(void)
{
	waitpid(start("sleeping"), NULL, 0);
	expect_wait("child");
	return 0;
}

static int act_stopping(void)
{
	pid_t pid = start("pausing");

	kill(pid, SIGSTOP);
	wait_for_state(pid, 'T');
	sleep_ms(PAUSE_MS);
	kill(pid, SIGCONT);
	kill(pid, SIGUSR1);
	waitpid(pid, NULL, 0);
	expect(pid, "wait_stopped_ns", ">=", PAUSE_SEEN_NS);
	expect(pid, "signal", "==", SIGUSR1);
	return 0;
}

static int act_syncing(void)
{
	static const char block[BLOCK_BYTES];
	int fd = open("/dev/nvme0n1", O_WRONLY | O_CLOEXEC);

	need(fd >= 0);
	for (int i = 0; i < 50; i++) {
		need(pwrite(fd, block, sizeof(block), (off_t)i * BLOCK_BYTES) == BLOCK_BYTES);
		need(fsync(fd) == 0);
	}
	expect(getpid(), "wait_disk_ns", ">=", NS_PER_MS);
	expect(getpid(), "syscalls.fsync.count", "==", 50);
	expect(getpid(), "syscalls.pwrite64.count", "==", 50);
	return 0;
}

/* By the 32-bit way into the kernel, which has numbers of its own: this one is getuid32. */
static void call_getuid32(void)
{
#ifdef __x86_64__
	long result = 199;

	__asm__ volatile("int $0x80" : "+a"(result) : : "r8", "r9", "r10", "r11", "memory");
	need(result >= 0);
#endif
}

/* Calls that nobody else makes, the C library's start neither. */
static int act_counting(void)
{
	char bytes[16];
	struct iovec part = { bytes, sizeof(bytes) };
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < 300; i++)
		syscall(SYS_getppid);
	for (int i = 0; i < 200; i++)
		need(readv(fd, &part, 1) == sizeof(bytes));
	for (int i = 0; i < 50; i++)
		getpgid(-1);
	for (int i = 0; i < 20; i++)
		need(dup(-1 - i % 2) < 0);
	for (int i = 0; i < 10; i++)
		sched_yield();
	for (int i = 0; i < 5; i++)
		call_getuid32();
	syscall(SYS_umask, 022);
	syscall(SYS_alarm, 0);
	syscall(500);
	expect(getpid(), "syscalls.getppid.count", "==", 300);
	expect(getpid(), "syscalls.getppid.errors", "==", 0);
	expect(getpid(), "syscalls.readv.count", "==", 200);
	expect(getpid(), "syscalls.getpgid.count", "==", 50);
	expect(getpid(), "syscalls.getpgid.errnos.ESRCH", "==", 50);
	expect(getpid(), "syscalls.dup.errnos.EBADF", "==", 20);
	expect(getpid(), "syscalls.sched_yield.count", "==", 10);
	expect(getpid(), "syscalls.getuid32.count", "==", 5);
	expect(getpid(), "syscalls.umask.count", "==", 1);
	expect(getpid(), "syscalls.alarm.count", "==", 1);
	expect(getpid(), "syscalls.syscall_500.errnos.ENOSYS", "==", 1);
	expect(getpid(), "syscalls.exit_group.count", "==", 1);
	expect(getpid(), "rchar", ">=", 200 * sizeof(bytes));
	return 0;
}

static int act_small(void)
{
	touch_memory(SMALL_MIB * MIB);
	return 0;
}

/* The kernel's own peak of the small one is that of its large parent, from before its exec. */
static int act_large(void)
{
	struct rusage usage;
	pid_t pid;

	touch_memory(LARGE_MIB * MIB);
	pid = start("small");
	wait4(pid, NULL, 0, &usage);
	if ((uint64_t)usage.ru_maxrss * 1024 < LARGE_MIB * MIB)
		return 8;
	expect(pid, "hiwater_rss_bytes", ">=", SMALL_MIB * MIB);
	expect(pid, "hiwater_rss_bytes", "<=", (SMALL_MIB + 6) * MIB);
	expect(getpid(), "hiwater_rss_bytes", ">=", LARGE_MIB * MIB);
	expect(getpid(), "hiwater_rss_bytes", "<=", (LARGE_MIB + 6) * MIB);
	return 0;
}

static int act_killing(void)
{
	pid_t pid = start("pausing");

	sleep_ms(100);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	expect(pid, "signal", "==", SIGTERM);
	expect(pid, "sender_pid", "==", (uint64_t)getpid());
	return 0;
}

static int act_crashing(void)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	expect(getpid(), "signal", "==", SIGSEGV);
	*(volatile char *)NULL = 1;
	return 0;
}

/* Enters a cgroup that the job made small, and takes more than it may have. */
static int act_starving(void)
{
	int fd = open("/sys/fs/cgroup/small/cgroup.procs", O_WRONLY | O_CLOEXEC);

	need(fd >= 0 && write(fd, "0", 1) == 1);
	expect(getpid(), "signal", "==", SIGKILL);
	expect(getpid(), "oom_killed", "==", 1);
	touch_memory(LARGE_MIB * MIB);
	return 0;
}

/* Some do an exec, most live for a moment only. */
static int act_multiplying(void)
{
	use_one_cpu();
	for (int i = 0; i < SHORT_CHILDREN; i++) {
		pid_t pid = i % 10 ? fork() : start("nothing");

		need(pid >= 0);
		if (pid == 0)
			_exit(i % 5);
		waitpid(pid, NULL, 0);
	}
	say("children %d %d %llu\n", getpid(), SHORT_CHILDREN,
	    (unsigned long long)cpu_ns(RUSAGE_CHILDREN));
	return 0;
}

/* Nobody's child any more, but one of the tree. */
static int act_leaving(void)
{
	pid_t pid = fork();

	if (pid > 0) {
		waitpid(pid, NULL, 0);
		return 0;
	}
	setsid();
	pid = fork();
	if (pid == 0)
		sleep(1000);
	say("left %d\n", pid);
	return 0;
}

static void *become(void *unused)
{
	(void)unused;
	execl("/proc/self/exe", "tree_workload", "-", "failing", (char *)NULL);
	_exit(9);
}

/* A thread that is not the first takes the process over. */
static int act_becoming(void)
{
	join(in_thread(become, NULL));
	return 9;
}

/* The first process itself: its child ends it. */
static int act_dying(void)
{
	if (fork() == 0) {
		sleep_ms(100);
		say("sender %d\n", getpid());
		kill(getppid(), SIGKILL);
		_exit(0);
	}
	return act_pausing();
}

static const struct {
	const char *name;
	int (*act)(void);
} roles[] = {
	{ "becoming", act_becoming },	  { "burning", act_burning },
	{ "computing", act_computing },	  { "counting", act_counting },
	{ "crashing", act_crashing },	  { "dying", act_dying },
	{ "expecting", act_expecting },	  { "failing", act_failing },
	{ "joining", act_joining },	  { "killing", act_killing },
	{ "large", act_large },		  { "leaving", act_leaving },
	{ "locking", act_locking },	  { "multiplying", act_multiplying },
	{ "networking", act_networking }, { "nothing", act_nothing },
	{ "pausing", act_pausing },	  { "piping", act_piping },
	{ "polling", act_polling },	  { "sleeping", act_sleeping },
	{ "small", act_small },		  { "starving", act_starving },
	{ "stopping", act_stopping },	  { "syncing", act_syncing },
	{ "talking", act_talking },	  { "waiting", act_waiting },
};

static int act(const char *name)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
		if (strcmp(roles[i].name, name) == 0)
			return roles[i].act();
	fprintf(stderr, "tree_workload: there is no role %s\n", name);
	return 9;
}

int main(int count, char **arguments)
{
	uint64_t before = cpu_ns(RUSAGE_SELF), time, total;

	if (count == 3 && strcmp(arguments[1], "-") == 0) {
		int status = act(arguments[2]);

		use_one_cpu();
		return status;
	}
	say("role %d first\n", getpid());
	for (int i = 1; i < count; i++) {
		pid_t pid = start(arguments[i]);
		int status;

		say("role %d %s\n", pid, arguments[i]);
		need(waitpid(pid, &status, 0) == pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) > 7)
			return 9;
	}
	time = now_ns();
	total = cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN);
	say("total %llu %llu %llu\n", (unsigned long long)(total - before),
	    (unsigned long long)total, (unsigned long long)time);
	return 3;
}
