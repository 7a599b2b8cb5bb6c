/* SPDX-License-Identifier: MIT */
#include "model/tree/amounts.h"

#include <assert.h>

#include "model/counter.h"

#define BIT(id) (UINT64_C(1) << AMOUNT_##id)

/* The wall time and the parts that add up to it. */
static const uint64_t whole_and_parts = BIT(wall_time_ns) | BIT(run_time_ns) | BIT(wait_time_ns)
#define WAIT(id, name, kind, help) | BIT(wait_##name##_ns)
#include "metric/waits.def"
#undef WAIT
	;

static_assert(AMOUNT_COUNT <= 64, "the present bits fit in 64 bits");

const enum metric_id amount_metrics[AMOUNT_COUNT] = {
#define TRACED(id) [AMOUNT_##id] = METRIC_##id,
#define METRIC(id, unit, kind, scope, fold, section, gate, class, sources, help) sources
#include "metric/metrics.def"
};

/* The amounts that are added up; and, of the others, those that fold to the largest. */
#define TRACED(id) | BIT(id)
#define METRIC(id, unit, kind, scope, fold, section, gate, class, sources, help)                   \
	ONLY_##fold(sources)
#define ONLY_SUM(sources) sources
#define ONLY_MAX(sources)
#define ONLY_MIN(sources)
#define ONLY_RANGE(sources)
#define ONLY_MODE(sources)
#define ONLY_CPUSET(sources)
static const uint64_t summed = 0
#include "metric/metrics.def"
	;

#define TRACED(id) | BIT(id)
#define METRIC(id, unit, kind, scope, fold, section, gate, class, sources, help)                   \
	ONLY_##fold(sources)
#undef ONLY_SUM
#undef ONLY_MAX
#define ONLY_SUM(sources)
#define ONLY_MAX(sources) sources
static const uint64_t largest = 0
#include "metric/metrics.def"
	;

/* Visits the bits that are set.  Must be quick: every account of every thread is added up. */
#define FOR_EACH_BIT(bits, id)                                                                     \
	for (uint64_t rest = (bits), id; rest && (id = (uint64_t)__builtin_ctzll(rest), 1);        \
	     rest &= rest - 1)

void amounts_set_waited(struct amounts *amounts, enum wait_reason reason, struct waited waited)
{
	unsigned first = AMOUNT_wait_disk_ns + 3 * (unsigned)reason;

	amounts_set(amounts, first, waited.ns);
	amounts_set(amounts, first + 1, waited.count);
	amounts_set(amounts, first + 2, waited.max_ns);
}

bool amounts_has_cpu(const struct amounts *amounts)
{
	const uint64_t both = BIT(utime_ns) | BIT(stime_ns);

	return (amounts->present & both) == both;
}

uint64_t amounts_cpu_ns(const struct amounts *amounts)
{
	uint64_t sum = amounts->values[AMOUNT_utime_ns];

	counter_add(&sum, amounts->values[AMOUNT_stime_ns]);
	return sum;
}

/* Takes the smaller of both, where 0 means that there is none. */
static void lower(uint64_t *shortest, uint64_t other)
{
	if (other && (!*shortest || other < *shortest))
		*shortest = other;
}

void amounts_add(struct amounts *sum, const struct amounts *part)
{
	FOR_EACH_BIT(part->present & summed, id)
	{
		if (part->values[id])
			counter_add(&sum->values[id], part->values[id]);
	}
	FOR_EACH_BIT(part->present & largest, id)
	{
		if (part->values[id] > sum->values[id])
			sum->values[id] = part->values[id];
	}
	FOR_EACH_BIT(part->present & ~(summed | largest), id)
	{
		lower(&sum->values[id], part->values[id]);
	}
	sum->present |= part->present;
}

static void cover_parts(struct amounts *amounts, struct amounts *grown)
{
	uint64_t sum = amounts->values[AMOUNT_run_time_ns];

	if ((amounts->present & whole_and_parts) != whole_and_parts)
		return;
	counter_add(&sum, amounts->values[AMOUNT_wait_time_ns]);
	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++)
		counter_add(&sum, amounts_waited(amounts, reason).ns);
	counter_add(&grown->values[AMOUNT_wall_time_ns],
		    counter_raise(&amounts->values[AMOUNT_wall_time_ns], sum));
	grown->present |= BIT(wall_time_ns);
}

void amounts_raise(struct amounts *amounts, const struct amounts *later, struct amounts *ret_grown)
{
	struct amounts before = *amounts;

	FOR_EACH_BIT(later->present & (summed | largest), id)
	{
		if (later->values[id] > amounts->values[id])
			amounts->values[id] = later->values[id];
	}
	FOR_EACH_BIT(later->present & ~(summed | largest), id)
	{
		lower(&amounts->values[id], later->values[id]);
	}
	amounts->present |= later->present;
	*ret_grown = (struct amounts){ .present = later->present };
	FOR_EACH_BIT(later->present, id)
	{
		ret_grown->values[id] = amounts->values[id];
	}
	FOR_EACH_BIT(later->present & summed, id)
	{
		ret_grown->values[id] -= before.values[id];
	}
	cover_parts(amounts, ret_grown);
}

bool amounts_rest(const struct amounts *whole, const struct amounts *parts,
		  struct amounts *ret_rest)
{
	bool any = false;

	*ret_rest = *whole;
	for (unsigned id = 0; id < AMOUNT_COUNT; id++) {
		uint64_t *value = &ret_rest->values[id];

		if (!(summed >> id & 1))
			continue;
		*value = *value > parts->values[id] ? *value - parts->values[id] : 0;
		any |= *value > 0;
	}
	return any;
}

static uint64_t blocked_of_kind(const struct amounts *amounts, enum wait_kind kind)
{
	uint64_t sum = 0;

	for (int reason = 0; reason < WAIT_REASON_COUNT; reason++)
		if (waits[reason].kind == kind)
			sum += amounts_waited(amounts, reason).ns;
	return sum;
}

uint64_t amounts_costly_ns(const struct amounts *amounts)
{
	return amounts->values[AMOUNT_wait_time_ns] + blocked_of_kind(amounts, WAIT_COST);
}

uint64_t amounts_for_work_ns(const struct amounts *amounts)
{
	return blocked_of_kind(amounts, WAIT_WORK);
}

uint64_t amounts_blocked_ns(const struct amounts *amounts)
{
	return blocked_of_kind(amounts, WAIT_COST) + blocked_of_kind(amounts, WAIT_WORK) +
	       blocked_of_kind(amounts, WAIT_UNSURE);
}

int64_t amounts_gap_ns(const struct amounts *amounts)
{
	return (int64_t)(amounts->values[AMOUNT_wall_time_ns] -
			 amounts->values[AMOUNT_run_time_ns] -
			 amounts->values[AMOUNT_wait_time_ns] - amounts_blocked_ns(amounts));
}
