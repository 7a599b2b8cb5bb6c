/* SPDX-License-Identifier: MIT */
#include "record/pace/schedule.h"

#include "base/clock.h"

#define EXPIRY_NS (3600 * NS_PER_SECOND)
/* Smaller corrections of the clock are normal. */
#define STEP_NS (60 * NS_PER_SECOND)

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

enum expiry_answer expiry_ask(struct expiry *expiry, uint64_t boottime_ns, uint64_t unix_ns)
{
	struct expiry before = *expiry;
	uint64_t boot_ns = unix_ns - boottime_ns, step_ns;

	if (before.has_looked && boottime_ns - before.looked_ns < EXPIRY_NS)
		return EXPIRY_NOT_YET;
	*expiry = (struct expiry){ true, boottime_ns, boot_ns };
	step_ns = boot_ns > before.boot_unix_ns ? boot_ns - before.boot_unix_ns :
						  before.boot_unix_ns - boot_ns;
	return before.has_looked && step_ns > STEP_NS ? EXPIRY_CLOCK_WAS_SET : EXPIRY_NOW;
}
