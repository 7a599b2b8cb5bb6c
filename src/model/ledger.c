#include "model/ledger.h"

#include <string.h>

const struct wait_info waits[WAIT_REASON_COUNT] = {
#define WAIT(id, wait_name, wait_kind, wait_help)                                                  \
	[WAIT_##id] = { .name = (wait_name), .kind = WAIT_##wait_kind, .help = (wait_help) },
#include "model/waits.def"
#undef WAIT
};

int wait_find(const char *name)
{
	for (int i = 0; i < WAIT_REASON_COUNT; i++)
		if (strcmp(waits[i].name, name) == 0)
			return i;
	return -1;
}

static uint64_t larger(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

void ledger_add(struct ledger *sum, const struct ledger *part)
{
	sum->present |= part->present;
	sum->wall_ns += part->wall_ns;
	sum->on_cpu_ns += part->on_cpu_ns;
	sum->run_queue_ns += part->run_queue_ns;
	sum->run_queue_count += part->run_queue_count;
	sum->run_queue_longest = larger(sum->run_queue_longest, part->run_queue_longest);
	for (int i = 0; i < WAIT_REASON_COUNT; i++) {
		struct ledger_wait *wait = &sum->blocked[i];

		wait->ns += part->blocked[i].ns;
		wait->count += part->blocked[i].count;
		wait->longest_ns = larger(wait->longest_ns, part->blocked[i].longest_ns);
	}
}

static uint64_t blocked_of_kind(const struct ledger *ledger, enum wait_kind kind)
{
	uint64_t sum = 0;

	for (int i = 0; i < WAIT_REASON_COUNT; i++)
		if (waits[i].kind == kind)
			sum += ledger->blocked[i].ns;
	return sum;
}

uint64_t ledger_costly_ns(const struct ledger *ledger)
{
	return ledger->run_queue_ns + blocked_of_kind(ledger, WAIT_COST);
}

uint64_t ledger_waiting_for_work_ns(const struct ledger *ledger)
{
	return blocked_of_kind(ledger, WAIT_WORK);
}

uint64_t ledger_blocked_ns(const struct ledger *ledger)
{
	return blocked_of_kind(ledger, WAIT_COST) + blocked_of_kind(ledger, WAIT_WORK) +
	       blocked_of_kind(ledger, WAIT_UNSURE);
}

int64_t ledger_gap_ns(const struct ledger *ledger)
{
	return (int64_t)(ledger->wall_ns - ledger->on_cpu_ns - ledger->run_queue_ns -
			 ledger_blocked_ns(ledger));
}
