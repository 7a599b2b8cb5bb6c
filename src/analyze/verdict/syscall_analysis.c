/* SPDX-License-Identifier: MIT */
/*
 * Classifies a run by its system calls, with the names and thresholds that
 * users of denet know.
 *
 * Two things differ, because more is measured.  First, where the time in calls
 * is known, an intensity is a category's share of that time rather than of the
 * number of calls, without the time in which there was nothing to do (sleeps,
 * polls, waits for children and connections).  Calls must then also take a
 * notable part of the time before they name the behaviour.  Second, thresholds
 * that were counts since the start are rates per second, so that they mean the
 * same in a long run as in a short one.
 */
#include <string.h>

#include "analyze/verdict/verdict_facts.h"
#include "analyze/verdict/verdict_numbers.h"

#define SHORTEST_NS 100e6
/*
 * With a smaller part of the wall time, or of the time on a CPU and in calls,
 * calls do not say what the run is.
 */
#define NOTABLE_OF_WALL 0.05
#define NOTABLE_OF_WORK 0.2

struct syscall_facts {
	enum analysis_basis basis;
	double total, rate, cpu_percent;
	double rates[SYSCALL_CATEGORY_COUNT];
	double times[SYSCALL_CATEGORY_COUNT]; /* without waits for work */
	bool notable;
};

static bool waits_for_work(const struct syscall_row *row)
{
	int number = syscall_number(row->name);
	unsigned rule =
		number < 0 ? WAIT_OTHER : syscall_wait_rule(SYSCALL_NATIVE, (uint32_t)number);

	if (call_list_of(row->name) == LIST_ACCEPT)
		return true;
	return rule == WAIT_RULE_POLL ||
	       (rule < WAIT_REASON_COUNT && waits[rule].kind == WAIT_WORK);
}

static double work_wait_ns(const struct run *run, const struct syscall_row *row)
{
	double total = (double)row->stats.total_ns;
	double work = total;

	/* A futex call is a wait for work or for a lock; the reasons say how much was which. */
	if (strcmp(row->name, "futex") == 0)
		work = amount_of(run, AMOUNT_wait_condition_ns);
	else if (!waits_for_work(row))
		work = 0;
	return work < total ? work : total;
}

static double gather_times(const struct run *run, struct syscall_facts *facts)
{
	const struct syscall_table *table = &run->tree->syscalls;
	double sum = 0;

	for (size_t i = 0; i < SYSCALL_CATEGORY_COUNT; i++) {
		facts->times[i] = (double)table->category_ns[i];
		if (table->category_ns[i])
			facts->basis = BASIS_LATENCY;
	}
	for (size_t i = 0; i < table->count; i++)
		facts->times[table->rows[i].category] -= work_wait_ns(run, &table->rows[i]);
	for (size_t i = 0; i < SYSCALL_CATEGORY_COUNT; i++) {
		if (facts->times[i] < 0)
			facts->times[i] = 0;
		sum += facts->times[i];
	}
	return sum;
}

static double cpu_ns(const struct run *run)
{
	const struct tree *tree = run->tree;

	if (amounts_has(&tree->amounts, AMOUNT_run_time_ns))
		return (double)amounts_get(&tree->amounts, AMOUNT_run_time_ns);
	return amounts_has_cpu(&tree->amounts) ? (double)amounts_cpu_ns(&tree->amounts) : -1;
}

static void set_intensities(const struct run *run, const struct syscall_facts *facts,
			    const double *parts, double whole, struct syscall_analysis *ret)
{
	double cpu = cpu_ns(run);

	ret->io_intensity = share_of(parts[SYSCALL_FILE_IO], whole);
	ret->memory_intensity = share_of(parts[SYSCALL_MEMORY], whole);
	ret->network_intensity = share_of(parts[SYSCALL_NETWORK], whole);
	/* The calls that manage processes are used only where CPU time is not known. */
	ret->cpu_intensity = cpu >= 0 ? share_of(cpu, (double)run_wall_ns(run)) :
					share_of(facts->rates[SYSCALL_PROCESS], facts->rate);
}

static void gather(const struct run *run, struct syscall_facts *facts, struct syscall_analysis *ret)
{
	const struct syscall_table *table = &run->tree->syscalls;
	double wall = (double)run_wall_ns(run);
	double cpu = cpu_ns(run);
	double time;

	facts->basis = BASIS_COUNTS;
	facts->rate = facts->total * 1e9 / wall;
	facts->cpu_percent = cpu > 0 ? cpu * 100 / wall : 0;
	for (size_t i = 0; i < SYSCALL_CATEGORY_COUNT; i++)
		facts->rates[i] = (double)table->by_category[i] * 1e9 / wall;
	time = gather_times(run, facts);
	if (facts->basis == BASIS_COUNTS)
		set_intensities(run, facts, facts->rates, facts->rate, ret);
	else
		set_intensities(run, facts, facts->times, time, ret);
	facts->notable = facts->basis == BASIS_COUNTS ||
			 (time >= wall * NOTABLE_OF_WALL &&
			  time >= (time + amount_of(run, AMOUNT_utime_ns)) * NOTABLE_OF_WORK);
	ret->basis = facts->basis;
	ret->syscall_rate_per_sec = facts->rate;
}

static bool is_cpu_bound(const struct syscall_facts *facts)
{
	bool calls_matter = facts->basis == BASIS_COUNTS ? facts->rate >= 50 : facts->notable;

	return !calls_matter && facts->cpu_percent > 50;
}

static enum run_class classify(const struct syscall_facts *facts,
			       const struct syscall_analysis *analysis)
{
	if (facts->notable && analysis->io_intensity > 0.6 && facts->rate > 100)
		return CLASS_IO_BOUND;
	if (facts->notable && analysis->network_intensity > 0.4)
		return CLASS_NETWORK_BOUND;
	if (facts->notable && analysis->memory_intensity > 0.3)
		return CLASS_MEMORY_BOUND;
	if (is_cpu_bound(facts))
		return CLASS_CPU_BOUND;
	if (facts->notable && analysis->io_intensity > 0.2 && analysis->memory_intensity > 0.1)
		return CLASS_MIXED;
	return CLASS_UNKNOWN;
}

static void add_indicators(const struct syscall_facts *facts, struct syscall_analysis *ret)
{
	double file = facts->rates[SYSCALL_FILE_IO];
	double memory = facts->rates[SYSCALL_MEMORY];
	const struct {
		const char *name;
		bool holds;
	} indicators[] = {
		{ "high_file_io", file > 500 },
		{ "very_high_syscall_rate", facts->rate > 1000 },
		{ "frequent_memory_management", memory > 100 },
		{ "high_network_activity", facts->rates[SYSCALL_NETWORK] > 200 },
		{ "cpu_intensive", facts->cpu_percent > 80 && facts->rate < 100 },
		{ "io_memory_contention", file > 300 && memory > 50 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(indicators); i++)
		if (indicators[i].holds)
			ret->indicators[ret->indicator_count++] = indicators[i].name;
}

/* clang-format off */
static const struct profile {
	enum run_class class;
	const char *workload;
	double likelihood;
	const char *hints[3]; /* the first NULL ends them */
} profiles[] = {
	{ CLASS_IO_BOUND, "file_io_intensive", 0.8,
	  { "move more bytes with each call", "let input and output go on while it computes",
	    "look for files that are opened or read more often than needed" } },
	{ CLASS_CPU_BOUND, "cpu_intensive", 0.7,
	  { "profile where the CPU time goes", "spread the work over more threads",
	    "look for a cheaper algorithm in the hottest function" } },
	{ CLASS_MEMORY_BOUND, "memory_intensive", 0.75,
	  { "take memory in larger pieces, and less often", "keep a pool of what is used again",
	    "watch whether memory only ever grows" } },
	{ CLASS_NETWORK_BOUND, "network_intensive", 0.8,
	  { "send several requests before waiting for the first answer",
	    "keep connections open", "put small messages together" } },
	{ CLASS_MIXED, "mixed_workload", 0.5,
	  { "profile its parts one by one", "run unlike parts apart from each other" } },
	{ CLASS_UNKNOWN, "unknown", 0, { NULL } },
};
/* clang-format on */

static void set_profile(enum run_class class, struct syscall_analysis *ret)
{
	const struct profile *profile = profiles;

	while (profile->class != class && profile->class != CLASS_UNKNOWN)
		profile++;
	ret->behavior = profile->class;
	ret->workload_type = profile->workload;
	ret->bottleneck_likelihood = profile->likelihood;
	for (size_t i = 0; i < 3 && profile->hints[i]; i++)
		ret->hints[ret->hint_count++] = profile->hints[i];
}

/* The verdict knows more than calls do; calls alone decide only where it is unknown. */
static enum run_class agreed(const struct verdict *verdict, enum run_class by_calls)
{
	switch (verdict->class) {
	case CLASS_UNKNOWN:
		return by_calls;
	case CLASS_LOCK_BOUND:
	case CLASS_STARVED:
		return CLASS_MIXED;
	case CLASS_IDLE:
		return CLASS_UNKNOWN;
	default:
		return verdict->class;
	}
}

void syscalls_analyze(const struct run *run, const struct verdict *verdict,
		      struct syscall_analysis *ret)
{
	struct syscall_facts facts = { .total = (double)syscall_table_total(&run->tree->syscalls) };

	*ret = (struct syscall_analysis){
		.basis = BASIS_NONE,
		.behavior = CLASS_UNKNOWN,
		.workload_type = "insufficient_data",
	};
	if (facts.total < 1 || (double)run_wall_ns(run) < SHORTEST_NS)
		return;
	gather(run, &facts, ret);
	add_indicators(&facts, ret);
	set_profile(agreed(verdict, classify(&facts, ret)), ret);
}
