/* SPDX-License-Identifier: MIT */
#include "record/schedule.h"

void schedule_begin(struct schedule *schedule, uint64_t interval_ns, uint64_t now_ns)
{
	*schedule = (struct schedule){ .interval_ns = interval_ns, .next_ns = now_ns };
}

uint64_t schedule_taken(struct schedule *schedule, uint64_t now_ns)
{
	uint64_t missed = 0;

	schedule->next_ns += schedule->interval_ns;
	if (now_ns > schedule->next_ns)
		missed = (now_ns - schedule->next_ns) / schedule->interval_ns + 1;
	schedule->next_ns += missed * schedule->interval_ns;
	schedule->missed += missed;
	return missed;
}
