/* SPDX-License-Identifier: MIT */
/*
 * Has many threads at once: usage: many_threads COUNT.  Waits for a line, makes them, prints how many
 * there are, and ends with its standard input.  Stacks are small and in one mapping, of which a
 * process has a limited number.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK_SIZE 16384

static void *wait_for_ever(void *nothing)
{
	for (;;)
		pause();
	return nothing;
}

int main(int argc, char **argv)
{
	size_t wanted = argc == 2 ? strtoul(argv[1], NULL, 10) : 0, count = 0;
	char *stacks = mmap(NULL, (wanted + 1) * STACK_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	if (stacks == MAP_FAILED || getchar() == EOF)
		return 1;
	pthread_attr_init(&attributes);
	while (count < wanted) {
		pthread_attr_setstack(&attributes, stacks + count * STACK_SIZE, STACK_SIZE);
		if (pthread_create(&thread, &attributes, wait_for_ever, NULL) != 0)
			break;
		count++;
	}
	printf("%zu\n", count);
	fflush(stdout);
	return getchar() == EOF ? 0 : 1;
}
