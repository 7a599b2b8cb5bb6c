/* SPDX-License-Identifier: MIT */
/* Two processes that wait for each other over pipes, each thinking a little in between. */
#include <sys/wait.h>

#include "workload.h"

static void answer(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1) {
		spin_until(now_ns() + 200000);
		if (write(to, &byte, 1) != 1)
			break;
	}
}

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	unsigned long turns = 0;
	char byte = 0;
	int to[2], from[2];

	need_fd(pipe(to));
	need_fd(pipe(from));
	if (fork() == 0) {
		close(to[1]);
		answer(to[0], from[1]);
		_exit(0);
	}
	for (; now_ns() < end; turns++) {
		if (write(to[1], &byte, 1) != 1 || read(from[0], &byte, 1) != 1)
			return 3;
		spin_until(now_ns() + 20000);
	}
	close(to[1]);
	wait(NULL);
	printf("turns %lu\n", turns);
	return 0;
}
