/* SPDX-License-Identifier: MIT */
/*
 * Spends its time in known functions, and prints where these and the stacks of its threads are.
 *
 *	stack_workload ROLE
 *
 * Built without frame pointers.  Each function that matters has a section of its own, whose bounds the linker
 * knows.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PLACE(name) __attribute__((noinline, noclone, section(name)))
#define MS 1000000L

extern char __start_spinning[], __stop_spinning[], __start_inner[], __stop_inner[], __start_outer[],
	__stop_outer[], __start_other[], __stop_other[], __start_touching[], __stop_touching[];

static volatile uint64_t sum;

PLACE("spinning") static void spin_here(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		sum += i;
}

PLACE("inner") static void sleep_inner(long ns)
{
	struct timespec pause = { .tv_nsec = ns };

	nanosleep(&pause, NULL);
	sum++;
}

PLACE("outer") static void sleep_outer(long ns)
{
	sleep_inner(ns);
	sum++;
}

PLACE("other") static void sleep_other(long ns)
{
	struct timespec pause = { .tv_nsec = ns };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	sum++;
}

PLACE("touching") static char touch(const volatile char *page)
{
	char byte = *page;

	sum++;
	return byte;
}

static void print_function(const char *name, const char *start, const char *stop)
{
	fprintf(stderr, "function=%s from=%" PRIuPTR " to=%" PRIuPTR "\n", name, (uintptr_t)start,
		(uintptr_t)stop);
}

/* The stack of a thread: a page on both sides of where it is now, and then some below. */
static void print_thread(const char *name)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	fprintf(stderr, "thread=%s tid=%ld from=%" PRIuPTR " to=%" PRIuPTR "\n", name,
		syscall(SYS_gettid), here - 65536, here + 4096);
}

static void *rest(void *times)
{
	print_thread("second");
	for (long i = 0; i < (long)times; i++)
		sleep_other(7 * MS);
	return NULL;
}

static void spin(void)
{
	print_thread("first");
	spin_here(600000000);
}

static void nest(void)
{
	print_thread("first");
	for (int i = 0; i < 20; i++)
		sleep_outer(10 * MS);
}

static void pair(void)
{
	pthread_t thread;

	print_thread("first");
	pthread_create(&thread, NULL, rest, (void *)20L);
	for (int i = 0; i < 20; i++)
		sleep_outer(7 * MS);
	pthread_join(thread, NULL);
}

/* Blocks that are too short to have a stack each. */
static void doze(void)
{
	print_thread("first");
	for (int i = 0; i < 2000; i++)
		sleep_outer(20000);
}

static int faults;

/* Lets the faults of the other thread wait, each for 30 ms. */
static void *serve(void *size)
{
	struct uffd_msg message;

	while (read(faults, &message, sizeof(message)) == sizeof(message)) {
		struct uffdio_zeropage page = {
			.range = { message.arg.pagefault.address & ~((uint64_t)(uintptr_t)size - 1),
				   (uintptr_t)size },
		};

		usleep(30000);
		ioctl(faults, UFFDIO_ZEROPAGE, &page);
	}
	return NULL;
}

static void fault(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE), count = 10;
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *pages = mmap(NULL, count * size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	print_thread("first");
	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	range.range.start = (uintptr_t)pages;
	range.range.len = count * size;
	if (faults < 0 || ioctl(faults, UFFDIO_API, &api) < 0 ||
	    ioctl(faults, UFFDIO_REGISTER, &range) < 0)
		exit(77);
	pthread_create(&thread, NULL, serve, (void *)size);
	for (size_t i = 0; i < count; i++)
		sum += (uint64_t)touch(pages + i * size);
}

/* Whoever reads what we print is not to wait for us. */
static void *stay(void *ready)
{
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	print_thread("second");
	dup2(nowhere, STDOUT_FILENO);
	dup2(nowhere, STDERR_FILENO);
	if (write(*(int *)ready, "x", 1) != 1)
		exit(1);
	pause();
	return NULL;
}

/* Leaves behind a child with two threads, which both wait for ever: until an alarm. */
static void remain(void)
{
	pthread_t thread;
	int ends[2];
	char byte;

	if (pipe(ends) < 0)
		exit(1);
	if (fork() != 0) {
		if (read(ends[0], &byte, 1) != 1)
			exit(1);
		sleep_inner(100 * MS);
		return;
	}
	alarm(60);
	print_thread("first");
	pthread_create(&thread, NULL, stay, &ends[1]);
	for (;;)
		sleep_outer(999999999);
}

/* One thread waits for a mutex that the other holds for a while. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_lock(void *unused)
{
	print_thread("second");
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void wake(void)
{
	pthread_t thread;

	print_thread("first");
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&lock);
		pthread_create(&thread, NULL, wait_for_lock, NULL);
		sleep_outer(50 * MS);
		pthread_mutex_unlock(&lock);
		pthread_join(thread, NULL);
	}
}

static const struct {
	const char *name;
	void (*play)(void);
} roles[] = {
	{ "spin", spin },   { "nest", nest },	  { "pair", pair }, { "doze", doze },
	{ "fault", fault }, { "remain", remain }, { "wake", wake },
};

int main(int count, char **arguments)
{
	print_function("spin_here", __start_spinning, __stop_spinning);
	print_function("sleep_inner", __start_inner, __stop_inner);
	print_function("sleep_outer", __start_outer, __stop_outer);
	print_function("sleep_other", __start_other, __stop_other);
	print_function("touch", __start_touching, __stop_touching);
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (count == 2 && strcmp(roles[i].name, arguments[1]) == 0) {
			roles[i].play();
			return 0;
		}
	}
	return 2;
}
