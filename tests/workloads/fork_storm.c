/* SPDX-License-Identifier: MIT */
/* Starts one short process after another. */
#include <sys/wait.h>

#include "workload.h"

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	unsigned long forks = 0;

	for (; now_ns() < end; forks++) {
		pid_t child = fork();

		if (child == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(9);
		}
		waitpid(child, NULL, 0);
	}
	printf("processes %lu\n", forks + 1);
	return 0;
}
