#include "analyze/exited.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/join.h"
#include "base/array.h"
#include "model/snapshot.h"

static const struct {
	enum metric_id living, exited;
} totals[] = {
	{ METRIC_run_time_ns, METRIC_dead_run_time_ns },
	{ METRIC_utime_ns, METRIC_dead_utime_ns },
	{ METRIC_stime_ns, METRIC_dead_stime_ns },
	{ METRIC_voluntary_csw, METRIC_dead_voluntary_csw },
	{ METRIC_nonvoluntary_csw, METRIC_dead_nonvoluntary_csw },
	{ METRIC_minflt, METRIC_dead_minflt },
	{ METRIC_majflt, METRIC_dead_majflt },
	{ METRIC_rchar, METRIC_dead_rchar },
	{ METRIC_wchar, METRIC_dead_wchar },
	{ METRIC_syscr, METRIC_dead_syscr },
	{ METRIC_syscw, METRIC_dead_syscw },
	{ METRIC_read_bytes, METRIC_dead_read_bytes },
	{ METRIC_write_bytes, METRIC_dead_write_bytes },
	{ METRIC_cancelled_write_bytes, METRIC_dead_cancelled_write_bytes },
};

int exited_total_of(enum metric_id id)
{
	for (size_t i = 0; i < ARRAY_SIZE(totals); i++)
		if (totals[i].living == id)
			return (int)totals[i].exited;
	return -1;
}

bool exited_any(const struct join *join, uint32_t process)
{
	uint32_t old = join->before_of_process[process];
	uint64_t before, after;

	if (old == JOIN_MISSED)
		return false;
	if (join_is_row(old) && join->ended_in_process[old])
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(totals); i++) {
		before = 0;
		if (join_is_row(old) && !snapshot_get(join->before, totals[i].exited, old, &before))
			continue;
		if (snapshot_get(join->after, totals[i].exited, process, &after) && after > before)
			return true;
	}
	return false;
}

int exited_sums_init(struct exited_sums *sums, const struct join *join)
{
	size_t processes = join->before->process_count + 1;

	sums->sums = calloc(processes, sizeof(*sums->sums));
	sums->missing = calloc(processes, sizeof(*sums->missing));
	if (sums->sums && sums->missing)
		return 0;
	exited_sums_clear(sums);
	return -ENOMEM;
}

void exited_sums_clear(struct exited_sums *sums)
{
	free(sums->sums);
	free(sums->missing);
	memset(sums, 0, sizeof(*sums));
}

void exited_sums_fold(struct exited_sums *sums, const struct join *join, enum metric_id id)
{
	size_t processes = join->before->process_count;
	uint64_t value;

	memset(sums->sums, 0, processes * sizeof(*sums->sums));
	memset(sums->missing, 0, processes * sizeof(*sums->missing));
	for (size_t i = 0; i < join->ended_count; i++) {
		uint32_t task = join->ended_tasks[i];
		uint32_t process = join->before->tasks[task].process;

		if (!snapshot_get(join->before, id, task, &value))
			sums->missing[process]++;
		else if (__builtin_add_overflow(sums->sums[process], value, &sums->sums[process]))
			sums->sums[process] = UINT64_MAX;
	}
}

struct exited exited_of(const struct exited_sums *sums, const struct join *join, enum metric_id id,
			uint32_t process)
{
	uint32_t old = join->before_of_process[process];
	int total = exited_total_of(id);
	struct exited exited = { .has_before = join_is_row(old) };

	if (total < 0 || old == JOIN_MISSED ||
	    !snapshot_get(join->after, (enum metric_id)total, process, &exited.after))
		return exited;
	exited.work = exited.after;
	if (exited.has_before) {
		if (!snapshot_get(join->before, (enum metric_id)total, old, &exited.before) ||
		    sums->missing[old])
			return exited;
		exited.work -= exited.before < exited.work ? exited.before : exited.work;
		exited.work -= sums->sums[old] < exited.work ? sums->sums[old] : exited.work;
	}
	exited.known = true;
	return exited;
}
