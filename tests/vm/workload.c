/* SPDX-License-Identifier: MIT */
/*
 * A process that knows what must be seen of it: threads that each did one thing and now sleep, a
 * thread that has exited and a child that was waited for.
 *
 * Prints, then sleeps until its standard input ends:
 *
 *	process PID THREADS
 *	thread TID NAME			as outputs spell it, bytes that cannot be printed as \xNN
 *	expect TID METRIC OPERATOR VALUE
 *	ready
 *
 * The threads themselves print nothing, so that their I/O counters stay exact.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000ULL
#define BLOCK_BYTES 4096
#define TOUCHED_PAGES 256
#define NAPS 50
/* On a slow machine a nap can be over before the thread was switched out. */
#define SURE_NAPS 40

struct worker {
	const struct role *role;
	pthread_t thread;
	pid_t tid;
	char expectations[512];
};

/* What one thread is called and does before it goes to sleep. */
struct role {
	const char *name;
	const char *spelled; /* NULL when the name is plain */
	void (*act)(struct worker *worker);
};

static pthread_barrier_t all_done;

static void expect(struct worker *worker, const char *metric, const char *operator,
		   const char * value)
{
	size_t used = strlen(worker->expectations);

	snprintf(worker->expectations + used, sizeof(worker->expectations) - used,
		 "expect %d %s %s %s\n", worker->tid, metric, operator, value);
}

static void expect_number(struct worker *worker, const char *metric, const char *operator,
			  long long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", value);
	expect(worker, metric, operator, text);
}

static uint64_t cpu_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec;
}

static void burn(uint64_t milliseconds)
{
	uint64_t end = cpu_time_ns() + milliseconds * NS_PER_MS;

	while (cpu_time_ns() < end)
		;
}

static void write_blocks(long count)
{
	static const char block[BLOCK_BYTES];
	int fd = open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	while (count-- > 0)
		if (write(fd, block, sizeof(block)) != sizeof(block))
			abort();
	close(fd);
}

static void act_idle(struct worker *worker)
{
	expect(worker, "policy", "==", "SCHED_OTHER");
	expect(worker, "state", "==", "S");
	expect_number(worker, "nice", "==", 0);
	expect_number(worker, "wchar", "==", 0);
	expect_number(worker, "rchar", "==", 0);
}

static void act_busy(struct worker *worker)
{
	burn(120);
	expect_number(worker, "run_time_ns", ">=", 120 * NS_PER_MS);
	expect_number(worker, "run_time_ns", "<=", 600 * NS_PER_MS);
	expect_number(worker, "exec_max", ">=", 1);
}

static void act_napping(struct worker *worker)
{
	struct timespec nap = { .tv_nsec = 2 * NS_PER_MS };

	for (int i = 0; i < NAPS; i++)
		nanosleep(&nap, NULL);
	expect_number(worker, "voluntary_csw", ">=", SURE_NAPS);
	expect_number(worker, "timeslices", ">=", SURE_NAPS);
	expect_number(worker, "nr_wakeups", ">=", SURE_NAPS);
	expect_number(worker, "voluntary_sleep_ns", ">=", SURE_NAPS * 2 * NS_PER_MS);
	expect_number(worker, "sleep_max", ">=", 2 * NS_PER_MS);
	expect_number(worker, "wait_sum", ">=", 1);
	expect_number(worker, "wait_count", ">=", SURE_NAPS);
	expect_number(worker, "wait_max", ">=", 1);
}

static void act_writing(struct worker *worker)
{
	write_blocks(64);
	expect_number(worker, "wchar", "==", 64 * BLOCK_BYTES);
	expect_number(worker, "syscw", "==", 64);
	expect_number(worker, "rchar", "==", 0);
}

static void act_reading(struct worker *worker)
{
	char block[BLOCK_BYTES];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < 48; i++)
		if (read(fd, block, sizeof(block)) != sizeof(block))
			abort();
	close(fd);
	expect_number(worker, "rchar", "==", 48 * BLOCK_BYTES);
	expect_number(worker, "syscr", "==", 48);
	expect_number(worker, "wchar", "==", 0);
}

static void act_touching(struct worker *worker)
{
	size_t bytes = (size_t)TOUCHED_PAGES * BLOCK_BYTES;
	char *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	/* One fault for each page, also where huge pages are on. */
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < bytes; i += BLOCK_BYTES)
		memory[i] = 1;
	expect_number(worker, "minflt", ">=", TOUCHED_PAGES);
}

static void act_nice(struct worker *worker)
{
	setpriority(PRIO_PROCESS, (id_t)worker->tid, 7);
	expect_number(worker, "nice", "==", 7);
	expect_number(worker, "priority", "==", 27);
}

static void act_fifo(struct worker *worker)
{
	struct sched_param parameters = { .sched_priority = 5 };

	if (sched_setscheduler(0, SCHED_FIFO, &parameters) < 0)
		return;
	expect(worker, "policy", "==", "SCHED_FIFO");
	expect_number(worker, "rt_priority", "==", 5);
	expect_number(worker, "priority", "==", -6);
}

static void act_batch(struct worker *worker)
{
	struct sched_param parameters = { .sched_priority = 0 };

	if (sched_setscheduler(0, SCHED_BATCH, &parameters) == 0)
		expect(worker, "policy", "==", "SCHED_BATCH");
}

static void act_pinned(struct worker *worker)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	expect(worker, "cpu_affinity", "==", "0");
	expect_number(worker, "processor", "==", 0);
}

static const struct role roles[] = {
	{ "idle", NULL, act_idle },
	{ "busy", NULL, act_busy },
	{ "napping", NULL, act_napping },
	{ "writing", NULL, act_writing },
	{ "reading", NULL, act_reading },
	{ "touching", NULL, act_touching },
	{ "nice", NULL, act_nice },
	{ "fifo", NULL, act_fifo },
	{ "batch", NULL, act_batch },
	{ "pinned", NULL, act_pinned },
	{ "fifteen-letters", NULL, act_idle },
	{ "a) S (b 1", NULL, act_idle },
	{ "\033[1m\n\377", "\\x1b[1m\\x0a\\xff", act_idle },
};

#define ROLE_COUNT (sizeof(roles) / sizeof(roles[0]))

static void sleep_forever(void)
{
	for (;;)
		pause();
}

static void *run_worker(void *argument)
{
	struct worker *worker = argument;

	worker->tid = gettid();
	prctl(PR_SET_NAME, worker->role->name);
	worker->role->act(worker);
	pthread_barrier_wait(&all_done);
	sleep_forever();
	return NULL;
}

static void *run_short_life(void *unused)
{
	(void)unused;
	burn(30);
	write_blocks(16);
	return NULL;
}

/* A page that parent and child have must be copied to be written: a delay for sure. */
static volatile char shared[2 * BLOCK_BYTES];

/* What the kernel keeps of a thread and a child that are gone; it adds up the I/O of both. */
static void leave_something_behind(struct worker *leader)
{
	int go[2];
	pthread_t thread;
	pid_t child;
	char byte;

	shared[BLOCK_BYTES] = 1;
	if (pipe2(go, O_CLOEXEC) < 0)
		abort();
	child = fork();
	if (child == 0) {
		close(go[1]);
		while (read(go[0], &byte, 1) > 0)
			;
		burn(50);
		write_blocks(8);
		_exit(0);
	}
	shared[BLOCK_BYTES] = 2;
	close(go[1]);
	close(go[0]);
	waitpid(child, NULL, 0);
	pthread_create(&thread, NULL, run_short_life, NULL);
	pthread_join(thread, NULL);
	expect_number(leader, "dead_wchar", "==", (16 + 8) * BLOCK_BYTES);
	expect_number(leader, "dead_syscw", "==", 16 + 8);
	expect_number(leader, "dead_run_time_ns", ">=", 30 * NS_PER_MS);
	expect_number(leader, "child_minflt", ">=", 1);
	expect_number(leader, "nr_threads", "==", ROLE_COUNT + 1);
}

static void print_worker(const struct worker *worker)
{
	const char *spelled = worker->role->spelled;

	printf("thread %d %s\n%s", worker->tid, spelled ? spelled : worker->role->name,
	       worker->expectations);
}

int main(void)
{
	static const struct role leader_role = { .name = "workload" };
	static struct worker workers[ROLE_COUNT];
	struct worker leader = { .role = &leader_role, .tid = getpid() };
	char buffer[64];

	prctl(PR_SET_NAME, leader_role.name);
	leave_something_behind(&leader);
	pthread_barrier_init(&all_done, NULL, ROLE_COUNT + 1);
	for (size_t i = 0; i < ROLE_COUNT; i++) {
		workers[i].role = &roles[i];
		if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) != 0)
			return 1;
	}
	pthread_barrier_wait(&all_done);

	printf("process %d %zu\n", getpid(), ROLE_COUNT + 1);
	print_worker(&leader);
	for (size_t i = 0; i < ROLE_COUNT; i++)
		print_worker(&workers[i]);
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, buffer, sizeof(buffer)) > 0)
		;
	return 0;
}
