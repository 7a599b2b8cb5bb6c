/* SPDX-License-Identifier: MIT */
/* Four threads that all need one lock, and hold it while they compute. */
#include <pthread.h>

#include "workload.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long turns;

static void *work(void *end)
{
	while (now_ns() < *(uint64_t *)end) {
		pthread_mutex_lock(&lock);
		spin_until(now_ns() + 1000000);
		turns++;
		pthread_mutex_unlock(&lock);
		/* Leaves the lock to others: who unlocks and locks again at once always wins. */
		spin_until(now_ns() + 20000);
	}
	return NULL;
}

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, &end);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("turns %lu\n", turns);
	return 0;
}
