/* SPDX-License-Identifier: MIT */
/* Waits for events that do not come, and looks around every 20 ms. */
#include <poll.h>
#include <sys/eventfd.h>

#include "workload.h"

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	struct pollfd wanted = { .fd = need_fd(eventfd(0, 0)), .events = POLLIN };
	unsigned long polls = 0;

	for (; now_ns() < end; polls++)
		poll(&wanted, 1, 20);
	printf("poll %lu\n", polls);
	return 0;
}
