/* SPDX-License-Identifier: MIT */
/* Seven threads that wait for work on a condition, and one that computes: it is not idle. */
#include <pthread.h>

#include "workload.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static int done;

static void *wait_for_work(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&lock);
	while (!done)
		pthread_cond_wait(&work, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	pthread_t threads[7];

	for (int i = 0; i < 7; i++)
		pthread_create(&threads[i], NULL, wait_for_work, NULL);
	spin_until(end);
	pthread_mutex_lock(&lock);
	done = 1;
	pthread_cond_broadcast(&work);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 7; i++)
		pthread_join(threads[i], NULL);
	puts("threads 8");
	return 0;
}
