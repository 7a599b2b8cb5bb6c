/* SPDX-License-Identifier: MIT */
/* Sleeps. */
#include "workload.h"

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	unsigned long sleeps = 0;

	for (; now_ns() < end; sleeps++)
		sleep_ms(100);
	printf("sleeps %lu\n", sleeps);
	return 0;
}
