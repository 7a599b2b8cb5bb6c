/* SPDX-License-Identifier: MIT */
/*
 * A program for tests that look at its stack after every instruction.  It stops itself, does a little of everything
 * that moves the stack pointer, stops again and ends.  With an argument it recurses so deep, and stops there.
 */
#include <alloca.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile long sink;
static volatile int zero;

static NOINLINE long leaf(long value)
{
	return value * 3 + zero;
}

static NOINLINE long saves_registers(long a, long b, long c)
{
	long d = leaf(a), e = leaf(b), f = leaf(c);

	return leaf(d + e) + leaf(e + f) + leaf(d + f) + a * b * c;
}

static NOINLINE long large_frame(void)
{
	volatile char buffer[5000];

	for (size_t i = 0; i < sizeof(buffer); i += 1000)
		buffer[i] = (char)leaf((long)i);
	return buffer[1000] + saves_registers(1, 2, 3);
}

static NOINLINE long variable_frame(size_t size)
{
	char *buffer = alloca(size);

	memset(buffer, zero, size);
	return buffer[size / 2] + saves_registers(4, 5, 6);
}

static NOINLINE long aligned_frame(long value)
{
	_Alignas(64) volatile long buffer[16];

	buffer[value & 15] = leaf(value);
	return buffer[value & 15] + variable_frame(100 + (size_t)zero);
}

static int compare(const void *left, const void *right)
{
	return leaf(*(const int *)left) < leaf(*(const int *)right) ? -1 : 1;
}

static NOINLINE long many_arguments(long a, long b, long c, long d, long e, long f, long g, long h,
				    long i)
{
	return leaf(a + b + c + d) + leaf(e + f + g + h + i);
}

static NOINLINE long by_pointer(long (*function)(long), long value)
{
	return function(value) + 1;
}

static void on_signal(int number)
{
	sink += leaf(number);
}

static NOINLINE void signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	sink++;
}

/* Keeps its return address in a register, since the child uses the same stack. */
static NOINLINE void child(void)
{
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	sink += waitpid(pid, NULL, 0) == pid;
}

static NOINLINE void calls(void)
{
	int numbers[] = { 5, 3, 4, 1 };
	struct timespec now;
	char text[64];

	sink += large_frame();
	sink += aligned_frame(7);
	qsort(numbers, 4, sizeof(numbers[0]), compare);
	sink += many_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9);
	sink += by_pointer(leaf, 3);
	clock_gettime(CLOCK_MONOTONIC, &now);
	sink += snprintf(text, sizeof(text), "%s %d", "text", numbers[0]);
	sink += (long)pow(2.5, numbers[1] + 0.5);
	sink += (long)strlen(text);
	signals();
	child();
}

static NOINLINE long recurse(long depth)
{
	if (depth == 0)
		raise(SIGSTOP);
	else
		sink += recurse(depth - 1);
	return leaf(depth);
}

/* Memory with code that pushes a frame pointer and calls what it is given. */
static NOINLINE void compiled_at_run_time(long depth)
{
#if defined(__x86_64__)
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x89,
					      0xf0, 0xff, 0xd0, 0x5d, 0xc3 };
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(memory, code, sizeof(code));
	((void (*)(long, long (*)(long)))memory)(depth, recurse);
#endif
	sink += depth;
}

static void *thread(void *argument)
{
	sink += recurse((long)argument);
	return NULL;
}

static NOINLINE void run_thread(long depth)
{
	pthread_t id;

	pthread_create(&id, NULL, thread, (void *)depth);
	pthread_join(id, NULL);
}

static void on_alternate(int number)
{
	sink += recurse(number);
}

/* A handler with a stack of its own. */
static NOINLINE void alternate(void)
{
	static char stack[65536];
	stack_t alternate_stack = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = on_alternate, .sa_flags = SA_ONSTACK };

	sigaltstack(&alternate_stack, NULL);
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	sink++;
}

int main(int argc, char **argv)
{
	long depth = argc > 2 ? atol(argv[2]) : 0;

	if (argc == 1) {
		raise(SIGSTOP);
		calls();
		raise(SIGSTOP);
	} else if (strcmp(argv[1], "recurse") == 0) {
		sink += recurse(depth);
	} else if (strcmp(argv[1], "thread") == 0) {
		run_thread(depth);
	} else if (strcmp(argv[1], "compiled") == 0) {
		compiled_at_run_time(depth);
	} else if (strcmp(argv[1], "alternate") == 0) {
		alternate();
	}
	return 0;
}
