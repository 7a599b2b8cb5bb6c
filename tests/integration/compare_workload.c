/* SPDX-License-Identifier: MIT */
/*
 * Work between two captures, measured by who does it.
 *
 * It prints what it has done so far, then `ready`, and waits for a byte on standard input:
 *	m	measure once more
 *	g	go: let `leaver` work and end, run and end `brief` threads, run children, let `stayer`
 *		work, start `newcomer`
 * The end of input ends it.  All threads are blocked whenever it says `ready`.
 *
 * Output, one line of each write, numbers since the beginning of each life:
 *	process PID
 *	thread NAME TID CPU-NS MINFLT MAJFLT VOLUNTARY RCHAR SYSCR WCHAR SYSCW READ-BYTES
 *	total NAME PID ...		the same of the process, threads that ended included
 *	children NAME PID CPU-NS MINFLT MAJFLT VOLUNTARY	of children that were waited for
 *	ready
 *
 * What the first thread reads and writes on standard input and output is not in it.
 *
 * usage: compare_workload FILE	a file of DIRECT_SIZE bytes or more, for reads past the page cache
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdbool.h>
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

#define NS_PER_SECOND ((uint64_t)1000000000)
#define MS ((uint64_t)1000000)
#define BLOCK 4096
#define DIRECT_SIZE (64 * 1024)
#define BRIEF_THREADS 3
#define CHILD_PAGES 700
#define CHILD_BURN_MS 60

/* How much one turn of work is. */
struct work {
	unsigned burn_ms, pages, reads, writes, direct_reads;
};

struct account {
	uint64_t cpu_ns, minflt, majflt, voluntary, rchar, syscr, wchar, syscw, read_bytes;
};

struct worker {
	const char *name;
	struct work before, between;
	bool stays;
	pid_t tid;
	bool lives;
	sem_t turn, done;
	struct account account;
};

static struct worker stayer = {
	.name = "stayer",
	.before = { 50, 300, 10, 3, 1 },
	.between = { 200, 1000, 256, 20, 4 },
	.stays = true,
};
static struct worker leaver = {
	.name = "leaver",
	.before = { 120, 900, 40, 5, 2 },
	.between = { 80, 600, 100, 10, 3 },
};
static struct worker brief[BRIEF_THREADS] = {
	{ .name = "brief", .between = { 40, 300, 30, 2, 1 } },
	{ .name = "brief", .between = { 20, 200, 20, 2, 0 } },
	{ .name = "brief", .between = { 10, 100, 10, 2, 0 } },
};
static struct worker newcomer = {
	.name = "newcomer",
	.before = { 100, 500, 50, 4, 2 },
	.stays = true,
};

/* What threads that ended have read and written; their time and faults the kernel adds up. */
static struct account ended;
static int zero = -1, null = -1, direct = -1;
static char *direct_buffer;
static const char *direct_path;

static void give_up(const char *what)
{
	fprintf(stderr, "compare_workload: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void burn(unsigned ms)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * MS;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void touch_pages(unsigned pages)
{
	size_t page = (size_t)getpagesize(), size = pages * page;
	char *memory;

	if (!pages)
		return;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		give_up("mmap");
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * page] = 1;
	munmap(memory, size);
}

static void transfer(const struct work *work, struct account *account)
{
	char buffer[BLOCK] = { 0 };

	for (unsigned i = 0; i < work->reads; i++)
		if (read(zero, buffer, sizeof(buffer)) != BLOCK)
			give_up("read");
	for (unsigned i = 0; i < work->writes; i++)
		if (write(null, buffer, sizeof(buffer)) != BLOCK)
			give_up("write");
	for (unsigned i = 0; i < work->direct_reads && direct >= 0; i++)
		if (pread(direct, direct_buffer, DIRECT_SIZE, 0) != DIRECT_SIZE)
			give_up(direct_path);
	account->syscr += work->reads + (direct >= 0 ? work->direct_reads : 0);
	account->rchar += (uint64_t)work->reads * BLOCK;
	account->wchar += (uint64_t)work->writes * BLOCK;
	account->syscw += work->writes;
	if (direct >= 0) {
		account->rchar += (uint64_t)work->direct_reads * DIRECT_SIZE;
		account->read_bytes += (uint64_t)work->direct_reads * DIRECT_SIZE;
	}
}

static void do_work(const struct work *work, struct account *account)
{
	burn(work->burn_ms);
	touch_pages(work->pages);
	transfer(work, account);
}

static void measure(int who, clockid_t clock, struct account *account)
{
	struct rusage usage;

	getrusage(who, &usage);
	account->minflt = (uint64_t)usage.ru_minflt;
	account->majflt = (uint64_t)usage.ru_majflt;
	account->voluntary = (uint64_t)usage.ru_nvcsw;
	account->cpu_ns = clock_ns(clock);
}

/* Twice: what the first one faults in is in the second. */
static void measure_thread(struct account *account)
{
	measure(RUSAGE_THREAD, CLOCK_THREAD_CPUTIME_ID, account);
	measure(RUSAGE_THREAD, CLOCK_THREAD_CPUTIME_ID, account);
}

static void *worker_main(void *argument)
{
	struct worker *worker = argument;

	prctl(PR_SET_NAME, worker->name);
	worker->tid = (pid_t)syscall(SYS_gettid);
	do_work(&worker->before, &worker->account);
	for (;;) {
		measure_thread(&worker->account);
		sem_post(&worker->done);
		while (sem_wait(&worker->turn) < 0)
			;
		do_work(&worker->between, &worker->account);
		if (!worker->stays)
			return NULL;
	}
}

static void start(struct worker *worker)
{
	pthread_t thread;

	sem_init(&worker->turn, 0, 0);
	sem_init(&worker->done, 0, 0);
	errno = pthread_create(&thread, NULL, worker_main, worker);
	if (errno)
		give_up("pthread_create");
	pthread_detach(thread);
	sem_wait(&worker->done);
	worker->lives = true;
}

static void let_work(struct worker *worker)
{
	sem_post(&worker->turn);
	sem_wait(&worker->done);
}

static void add_transfers(struct account *total, const struct account *more)
{
	total->rchar += more->rchar;
	total->syscr += more->syscr;
	total->wchar += more->wchar;
	total->syscw += more->syscw;
	total->read_bytes += more->read_bytes;
}

/* The kernel adds a thread to its process's totals in the moment in which its number is gone. */
static void let_end(struct worker *worker)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", worker->tid);
	sem_post(&worker->turn);
	while (access(path, F_OK) == 0)
		usleep(1000);
	worker->lives = false;
	add_transfers(&ended, &worker->account);
}

/* Not by fork, which would make this process fault on its own pages again. */
static pid_t spawn_child(int input)
{
	posix_spawn_file_actions_t actions;
	char name[] = "compare_child";
	char *const words[] = { name, NULL };
	pid_t child;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	errno = posix_spawn(&child, "/proc/self/exe", &actions, NULL, words, environ);
	if (errno)
		give_up("posix_spawn");
	posix_spawn_file_actions_destroy(&actions);
	return child;
}

static int child_main(void)
{
	char byte;

	prctl(PR_SET_NAME, "knownchild");
	touch_pages(CHILD_PAGES);
	burn(CHILD_BURN_MS);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}

static void say_account(const char *kind, const char *name, pid_t pid, const struct account *a)
{
	dprintf(STDOUT_FILENO, "%s %s %d %ju %ju %ju %ju %ju %ju %ju %ju %ju\n", kind, name, pid,
		(uintmax_t)a->cpu_ns, (uintmax_t)a->minflt, (uintmax_t)a->majflt,
		(uintmax_t)a->voluntary, (uintmax_t)a->rchar, (uintmax_t)a->syscr,
		(uintmax_t)a->wchar, (uintmax_t)a->syscw, (uintmax_t)a->read_bytes);
}

static uintmax_t timeval_ns(struct timeval time)
{
	return (uintmax_t)time.tv_sec * NS_PER_SECOND + (uintmax_t)time.tv_usec * 1000;
}

static void say_children(const char *name)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	dprintf(STDOUT_FILENO, "children %s %d %ju %ju %ju %ju\n", name, getpid(),
		timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime), (uintmax_t)usage.ru_minflt,
		(uintmax_t)usage.ru_majflt, (uintmax_t)usage.ru_nvcsw);
}

/* All that follows the measurement is the same each time, so that it is in no difference. */
static void report(const char *name)
{
	struct worker *const workers[] = { &stayer, &leaver, &newcomer };
	struct account own = { 0 }, total = ended;

	for (size_t i = 0; i < sizeof(workers) / sizeof(workers[0]); i++) {
		if (!workers[i]->lives)
			continue;
		say_account("thread", workers[i]->name, workers[i]->tid, &workers[i]->account);
		add_transfers(&total, &workers[i]->account);
	}
	say_children(name);
	usleep(20000); /* the threads reach sem_wait() */
	measure(RUSAGE_SELF, CLOCK_PROCESS_CPUTIME_ID, &total);
	measure(RUSAGE_THREAD, CLOCK_THREAD_CPUTIME_ID, &own);
	say_account("thread", name, getpid(), &own);
	say_account("total", name, getpid(), &total);
	dprintf(STDOUT_FILENO, "ready\n");
}

/* One child waits for the end of its pipe, the other one has nothing to wait for. */
static void run_children(pid_t waiting, int end)
{
	pid_t second = spawn_child(null);

	close(end);
	if (waitpid(waiting, NULL, 0) != waiting || waitpid(second, NULL, 0) != second)
		give_up("waitpid");
}

static void go(pid_t waiting, int end)
{
	let_end(&leaver);
	for (size_t i = 0; i < BRIEF_THREADS; i++) {
		start(&brief[i]);
		let_end(&brief[i]);
	}
	run_children(waiting, end);
	let_work(&stayer);
	start(&newcomer);
}

static void open_files(const char *path)
{
	direct_path = path;
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	direct = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT);
	if (zero < 0 || null < 0 ||
	    posix_memalign((void **)&direct_buffer, BLOCK, DIRECT_SIZE) != 0)
		give_up("cannot begin");
	memset(direct_buffer, 1, DIRECT_SIZE);
}

int main(int count, char **words)
{
	int ends[2];
	pid_t waiting;
	char byte;

	if (strcmp(words[0], "compare_child") == 0)
		return child_main();
	if (count != 2 || pipe2(ends, O_CLOEXEC) < 0)
		return 2;
	prctl(PR_SET_NAME, "knownwork");
	open_files(words[1]);
	waiting = spawn_child(ends[0]);
	close(ends[0]);
	dprintf(STDOUT_FILENO, "process %d\n", getpid());
	start(&stayer);
	start(&leaver);
	report("knownwork");
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		if (byte == 'g')
			go(waiting, ends[1]);
		report("knownwork");
	}
	return 0;
}
