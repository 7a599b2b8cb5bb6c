/* SPDX-License-Identifier: MIT */
/* As many threads that compute as there are CPUs, or as the second argument says. */
#include <pthread.h>

#include "workload.h"

static void *compute(void *end)
{
	spin_until(*(uint64_t *)end);
	return NULL;
}

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	long wanted = count > 2 ? strtol(arguments[2], NULL, 10) : sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[64];

	if (wanted > 64)
		wanted = 64;
	for (long i = 0; i < wanted; i++)
		pthread_create(&threads[i], NULL, compute, &end);
	for (long i = 0; i < wanted; i++)
		pthread_join(threads[i], NULL);
	printf("threads %ld\n", wanted);
	return 0;
}
