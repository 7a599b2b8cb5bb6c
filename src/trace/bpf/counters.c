/* SPDX-License-Identifier: MIT */
#include "trace/bpf/counters.h"

static uint64_t growth(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static void raise_to(struct amounts *amounts, enum amount_id id, uint64_t later)
{
	uint64_t value = amounts_get(amounts, id);

	amounts_set(amounts, id, later > value ? later : value);
}

/* The user part of the CPU time; all of it when no tick hit the kernel. */
static uint64_t user_part(const struct amounts *amounts, uint64_t cpu)
{
	uint64_t user = amounts_get(amounts, AMOUNT_utime_ns);
	uint64_t kernel = amounts_get(amounts, AMOUNT_stime_ns);

	if (!kernel)
		return cpu;
	return (uint64_t)((double)cpu * ((double)user / ((double)user + (double)kernel)));
}

/* Divides the CPU time into user and system time, of which neither ever falls. */
static void divide_cpu(struct amounts *since, const struct amounts *now)
{
	uint64_t cpu = amounts_get(since, AMOUNT_run_time_ns);
	uint64_t user = user_part(now, cpu), kernel = amounts_get(since, AMOUNT_stime_ns);

	if (user + kernel > cpu)
		user = growth(kernel, cpu);
	raise_to(since, AMOUNT_utime_ns, user);
	amounts_set(since, AMOUNT_stime_ns, growth(amounts_get(since, AMOUNT_utime_ns), cpu));
}

bool counter_is_total(enum amount_id id)
{
	return id != AMOUNT_utime_ns && id != AMOUNT_stime_ns && id != AMOUNT_wait_max;
}

void counters_raise(struct amounts *since, const struct amounts *before, const struct amounts *now)
{
	for (int id = 0; id < AMOUNT_COUNT; id++)
		if (amounts_has(now, id) && counter_is_total(id))
			raise_to(since, id, growth(amounts_get(before, id), amounts_get(now, id)));
	if (amounts_has(now, AMOUNT_utime_ns) && amounts_has(now, AMOUNT_run_time_ns))
		divide_cpu(since, now);
	/*
	 * The longest wait may be from before we watched: use it only if there was no wait before.
	 */
	if (amounts_has(now, AMOUNT_wait_max) && !amounts_get(before, AMOUNT_wait_count))
		raise_to(since, AMOUNT_wait_max, amounts_get(now, AMOUNT_wait_max));
}
