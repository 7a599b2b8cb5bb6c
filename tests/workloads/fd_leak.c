/* SPDX-License-Identifier: MIT */
/* Opens and never closes; when the limit is reached it goes on trying. */
#include <fcntl.h>
#include <sys/resource.h>

#include "workload.h"

int main(int count, char **arguments)
{
	uint64_t end = deadline_ns(count, arguments);
	struct rlimit limit = { 256, 256 };
	unsigned long failures = 0;

	setrlimit(RLIMIT_NOFILE, &limit);
	while (now_ns() < end)
		if (open("/dev/null", O_RDONLY) < 0) {
			failures++;
			sleep_ms(1);
		}
	printf("emfile %lu\n", failures);
	return 0;
}
