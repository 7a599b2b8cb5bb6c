/* SPDX-License-Identifier: MIT */
/*
 * A process tree that does a known amount of work, says on standard output what
 * a profiler must see of it, and then idles until its standard input ends.
 *
 * Output, one fact a line:
 *	process PID
 *	thread TID ROLE HEX-OF-NAME
 *	expect TID METRIC AT-LEAST AT-MOST	of a thread (or of the process, by its pid)
 *	ready
 *
 * With the argument `leaderless` its first thread ends and another one lives on.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ANY UINT64_MAX
#define MS 1000000ull
#define PAGES_TOUCHED 1000
#define READ_CALLS 256
#define READ_SIZE 4096
#define SLEEPS 50
#define DEAD_THREADS 3

static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_done;

static pid_t own_tid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	va_list arguments;

	pthread_mutex_lock(&output);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	pthread_mutex_unlock(&output);
}

static void expect(pid_t task, const char *metric, uint64_t at_least, uint64_t at_most)
{
	say("expect %d %s %" PRIu64 " %" PRIu64 "\n", task, metric, at_least, at_most);
}

static uint64_t thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void burn(uint64_t ns)
{
	uint64_t end = thread_cpu_ns() + ns;

	while (thread_cpu_ns() < end)
		;
}

static void touch_pages(size_t pages)
{
	size_t size = pages * (size_t)getpagesize();
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * (size_t)getpagesize()] = 1;
	munmap(memory, size);
}

static void work_burn(void)
{
	burn(100 * MS);
	expect(own_tid(), "run_time_ns", thread_cpu_ns(), thread_cpu_ns() + 20 * MS);
	expect(own_tid(), "utime_ns", 0, thread_cpu_ns() + 20 * MS);
}

static void work_fault(void)
{
	touch_pages(PAGES_TOUCHED);
	expect(own_tid(), "minflt", PAGES_TOUCHED, PAGES_TOUCHED + 100);
}

static void work_read(void)
{
	char buffer[READ_SIZE];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < READ_CALLS; i++)
		if (read(fd, buffer, sizeof(buffer)) != (ssize_t)sizeof(buffer))
			exit(1);
	close(fd);
	expect(own_tid(), "rchar", READ_CALLS * READ_SIZE, READ_CALLS * READ_SIZE);
	expect(own_tid(), "syscr", READ_CALLS, READ_CALLS);
}

static void work_sleep(void)
{
	for (int i = 0; i < SLEEPS; i++)
		usleep(200);
	expect(own_tid(), "voluntary_csw", SLEEPS, SLEEPS + 50);
}

static void work_nothing(void)
{
}

/* Names that a terminal, a parser or a file format may trip over. */
static const struct {
	const char *role;
	const char *name;
	void (*work)(void);
} roles[] = {
	{ "burn", "burner", work_burn },
	{ "fault", "faulter", work_fault },
	{ "read", "reader", work_read },
	{ "sleep", "sleeper", work_sleep },
	{ "ansi", "\033[31mred\033[0m", work_nothing },
	{ "newline", "two\nlines", work_nothing },
	{ "invalid", "bad\xff\xfe", work_nothing },
	{ "empty", "", work_nothing },
	{ "full", "exactly15bytes!", work_nothing },
	{ "bracket", "a) R 1 (2 3", work_nothing },
	{ "inject", "\nnr_migrations:", work_nothing },
	{ "quote", "\"quoted\",csv", work_nothing },
	{ "formula", "=cmd|'/C x'!A0", work_nothing },
};

#define ROLES (sizeof(roles) / sizeof(roles[0]))

static void *thread_main(void *argument)
{
	size_t role = (size_t)argument;

	prctl(PR_SET_NAME, roles[role].name);
	roles[role].work();
	pthread_mutex_lock(&output);
	printf("thread %d %s ", own_tid(), roles[role].role);
	for (const char *byte = roles[role].name; *byte; byte++)
		printf("%02x", (unsigned char)*byte);
	printf("\n");
	pthread_mutex_unlock(&output);
	pthread_barrier_wait(&all_done);
	for (;;)
		pause();
	return NULL;
}

static void *dead_main(void *argument)
{
	uint64_t *cpu = argument;

	touch_pages(PAGES_TOUCHED / 2);
	burn(30 * MS);
	*cpu = thread_cpu_ns();
	return NULL;
}

static void run_dead_threads(void)
{
	uint64_t cpu[DEAD_THREADS], total = 0;
	pthread_t threads[DEAD_THREADS];

	for (int i = 0; i < DEAD_THREADS; i++)
		pthread_create(&threads[i], NULL, dead_main, &cpu[i]);
	for (int i = 0; i < DEAD_THREADS; i++) {
		pthread_join(threads[i], NULL);
		total += cpu[i];
	}
	expect(getpid(), "dead_run_time_ns", total, total + 20 * MS);
	expect(getpid(), "dead_minflt", DEAD_THREADS * PAGES_TOUCHED / 2,
	       DEAD_THREADS * PAGES_TOUCHED / 2 + 300);
}

static uint64_t timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

/* The kernel reports children's time in whole ticks. */
static void run_child(void)
{
	struct rusage usage;
	pid_t child = fork();
	uint64_t user, kernel;

	if (child == 0) {
		touch_pages(PAGES_TOUCHED);
		burn(60 * MS);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	getrusage(RUSAGE_CHILDREN, &usage);
	user = timeval_ns(usage.ru_utime);
	kernel = timeval_ns(usage.ru_stime);
	expect(getpid(), "child_utime_ns", user < 10 * MS ? 0 : user - 10 * MS, user + MS);
	expect(getpid(), "child_stime_ns", kernel < 10 * MS ? 0 : kernel - 10 * MS, kernel + MS);
	expect(getpid(), "child_minflt", (uint64_t)usage.ru_minflt, (uint64_t)usage.ru_minflt);
}

static void *survivor_main(void *argument)
{
	(void)argument;
	say("ready\n");
	for (;;)
		pause();
	return NULL;
}

/* A process whose leader ends while a thread that holds its memory lives on. */
static void run_leaderless(void)
{
	size_t size = 16 << 20;
	char *memory = malloc(size);
	pthread_t thread;

	memset(memory, 1, size);
	pthread_create(&thread, NULL, survivor_main, memory);
	pthread_exit(NULL);
}

int main(int count, char **arguments)
{
	pthread_t thread;
	char byte;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (count > 1 && strcmp(arguments[1], "leaderless") == 0)
		run_leaderless();
	prctl(PR_SET_NAME, "work load");
	say("process %d\n", getpid());
	run_dead_threads();
	run_child();
	pthread_barrier_init(&all_done, NULL, ROLES + 1);
	for (size_t role = 0; role < ROLES; role++)
		pthread_create(&thread, NULL, thread_main, (void *)role);
	pthread_barrier_wait(&all_done);
	expect(getpid(), "nr_threads", ROLES + 1, ROLES + 1);
	expect(getpid(), "rss_bytes", 1, ANY);
	say("ready\n");
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
