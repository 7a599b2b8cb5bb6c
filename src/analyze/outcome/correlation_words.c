/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "analyze/outcome/correlation_parts.h"
#include "base/text.h"
#include "metric/unit.h"

#define MIB(count) ((double)(count)*1024 * 1024)

/* clang-format off */
static const double memory_bounds[] = { 0, MIB(256), MIB(512), MIB(1024), MIB(2048), INFINITY };
static const double presence_bounds[] = { 0, 1, INFINITY };

static const char *const memory_titles[] = {
	"peak memory below 256 MiB", "peak memory 256 to 512 MiB", "peak memory 512 MiB to 1 GiB",
	"peak memory 1 to 2 GiB", "peak memory 2 GiB or more",
};
static const char *const memory_whose[] = {
	"jobs with a peak memory below 256 MiB", "jobs with a peak memory of 256 to 512 MiB",
	"jobs with a peak memory of 512 MiB to 1 GiB", "jobs with a peak memory of 1 to 2 GiB",
	"jobs with a peak memory of 2 GiB or more",
};
static const char *const cpu_titles[FACTOR_QUARTERS] = {
	"CPU time, lowest quarter", "CPU time, second quarter",
	"CPU time, third quarter", "CPU time, highest quarter",
};
static const char *const cpu_whose[FACTOR_QUARTERS] = {
	"jobs in the lowest quarter of CPU time", "jobs in the second quarter of CPU time",
	"jobs in the third quarter of CPU time", "jobs in the highest quarter of CPU time",
};
static const char *const duration_titles[FACTOR_QUARTERS] = {
	"duration, shortest quarter", "duration, second quarter",
	"duration, third quarter", "duration, longest quarter",
};
static const char *const duration_whose[FACTOR_QUARTERS] = {
	"jobs in the shortest quarter of durations", "jobs in the second quarter of durations",
	"jobs in the third quarter of durations", "jobs in the longest quarter of durations",
};
static const char *const anomaly_titles[] = { "no anomaly", "with an anomaly" };
static const char *const anomaly_whose[] = { "jobs without an anomaly", "jobs with an anomaly" };

const struct factor_info factors[FACTOR_COUNT] = {
	[FACTOR_MEMORY] = { "memory", "peak memory", UNIT_BYTES, SPLIT_BOUNDS,
		ARRAY_SIZE(memory_bounds) - 1, memory_bounds, memory_titles, memory_whose },
	[FACTOR_CPU_TIME] = { "cpu_time", "CPU time", UNIT_NS, SPLIT_QUARTERS,
		FACTOR_QUARTERS, NULL, cpu_titles, cpu_whose },
	[FACTOR_DURATION] = { "duration", "duration", UNIT_NS, SPLIT_QUARTERS,
		FACTOR_QUARTERS, NULL, duration_titles, duration_whose },
	[FACTOR_SYSCALL] = { "syscall", "system calls", UNIT_COUNT, SPLIT_NAMES, 0, NULL, NULL, NULL },
	[FACTOR_ANOMALY] = { "anomaly", "anomalies", UNIT_COUNT, SPLIT_BOUNDS,
		ARRAY_SIZE(presence_bounds) - 1, presence_bounds, anomaly_titles, anomaly_whose },
};

const char *const group_judgement_names[GROUP_JUDGEMENT_COUNT] = {
	[GROUP_FOUND] = "found",
	[GROUP_WEAK] = "weak",
	[GROUP_TOO_FEW] = "too few",
	[GROUP_ALONE] = "no others",
};
/* clang-format on */

void outcome_group_title(struct text *out, const struct outcome_group *group)
{
	if (group->syscall)
		text_format(out, "%s() over 35 %% of calls", group->syscall);
	else
		text_append_string(out, factors[group->factor].titles[group->index]);
}

void outcome_group_bounds(struct text *out, const struct outcome_group *group)
{
	enum metric_unit unit = factors[group->factor].unit;

	if (factors[group->factor].split != SPLIT_QUARTERS)
		return;
	if (isinf(group->high)) {
		unit_format_real(out, unit, group->low);
		text_append_string(out, " or more");
		return;
	}
	if (group->low > 0)
		unit_format_real(out, unit, group->low);
	text_append_string(out, group->low > 0 ? " to " : "below ");
	unit_format_real(out, unit, group->high);
}

void outcome_group_sentence(struct text *out, const struct outcome_group *group)
{
	if (group->syscall)
		text_format(out, "jobs that spend over 35 %% of their system call time in %s()",
			    group->syscall);
	else
		text_append_string(out, factors[group->factor].whose[group->index]);
	text_append_string(out, group->rate > group->other_rate ? " fail more often" :
								  " fail less often");
}
