/* SPDX-License-Identifier: MIT */
/* One thread that computes. */
#include "workload.h"

int main(int count, char **arguments)
{
	spin_until(deadline_ns(count, arguments));
	puts("threads 1");
	return 0;
}
