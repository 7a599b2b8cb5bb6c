/* SPDX-License-Identifier: MIT */
#include "model/ledger.h"

#include <string.h>

#include "model/counter.h"

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

static void lower_shortest(uint64_t *shortest, uint64_t other)
{
	if (other && (!*shortest || other < *shortest))
		*shortest = other;
}

static void add_off(struct ledger_off *sum, const struct ledger_off *part)
{
	counter_add(&sum->count, part->count);
	counter_raise(&sum->longest_ns, part->longest_ns);
	lower_shortest(&sum->shortest_ns, part->shortest_ns);
}

static void raise_off(struct ledger_off *off, const struct ledger_off *later,
		      struct ledger_off *grown)
{
	grown->count = counter_raise(&off->count, later->count);
	counter_raise(&off->longest_ns, later->longest_ns);
	lower_shortest(&off->shortest_ns, later->shortest_ns);
	grown->longest_ns = off->longest_ns;
	grown->shortest_ns = off->shortest_ns;
}

void ledger_add(struct ledger *sum, const struct ledger *part)
{
	sum->present |= part->present;
	counter_add(&sum->wall_ns, part->wall_ns);
	counter_add(&sum->on_cpu_ns, part->on_cpu_ns);
	counter_add(&sum->run_queue_ns, part->run_queue_ns);
	counter_add(&sum->run_queue_count, part->run_queue_count);
	counter_raise(&sum->run_queue_longest, part->run_queue_longest);
	if (part->present & LEDGER_OFF_CPU)
		add_off(&sum->off_cpu, &part->off_cpu);
	if (!(part->present & LEDGER_BLOCKED))
		return;
	for (int i = 0; i < WAIT_REASON_COUNT; i++) {
		struct ledger_wait *wait = &sum->blocked[i];

		counter_add(&wait->ns, part->blocked[i].ns);
		counter_add(&wait->count, part->blocked[i].count);
		counter_raise(&wait->longest_ns, part->blocked[i].longest_ns);
	}
}

static void raise_blocked(struct ledger_wait *wait, const struct ledger_wait *later,
			  struct ledger_wait *grown)
{
	grown->ns = counter_raise(&wait->ns, later->ns);
	grown->count = counter_raise(&wait->count, later->count);
	counter_raise(&wait->longest_ns, later->longest_ns);
	grown->longest_ns = wait->longest_ns;
}

static void cover_parts(struct ledger *ledger, struct ledger *grown)
{
	const unsigned all = LEDGER_WALL | LEDGER_ON_CPU | LEDGER_RUN_QUEUE | LEDGER_BLOCKED;
	uint64_t sum = ledger->on_cpu_ns;

	if ((ledger->present & all) != all)
		return;
	counter_add(&sum, ledger->run_queue_ns);
	for (int i = 0; i < WAIT_REASON_COUNT; i++)
		counter_add(&sum, ledger->blocked[i].ns);
	counter_add(&grown->wall_ns, counter_raise(&ledger->wall_ns, sum));
}

void ledger_raise(struct ledger *ledger, const struct ledger *later, struct ledger *ret_grown)
{
	*ret_grown = (struct ledger){ .present = later->present };
	ledger->present |= later->present;
	if (later->present & LEDGER_WALL)
		ret_grown->wall_ns = counter_raise(&ledger->wall_ns, later->wall_ns);
	if (later->present & LEDGER_ON_CPU)
		ret_grown->on_cpu_ns = counter_raise(&ledger->on_cpu_ns, later->on_cpu_ns);
	if (later->present & LEDGER_RUN_QUEUE) {
		ret_grown->run_queue_ns = counter_raise(&ledger->run_queue_ns, later->run_queue_ns);
		ret_grown->run_queue_count =
			counter_raise(&ledger->run_queue_count, later->run_queue_count);
		counter_raise(&ledger->run_queue_longest, later->run_queue_longest);
		ret_grown->run_queue_longest = ledger->run_queue_longest;
	}
	if (later->present & LEDGER_OFF_CPU)
		raise_off(&ledger->off_cpu, &later->off_cpu, &ret_grown->off_cpu);
	if (later->present & LEDGER_BLOCKED)
		for (int i = 0; i < WAIT_REASON_COUNT; i++)
			raise_blocked(&ledger->blocked[i], &later->blocked[i],
				      &ret_grown->blocked[i]);
	cover_parts(ledger, ret_grown);
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
