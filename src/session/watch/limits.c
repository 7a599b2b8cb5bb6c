/* SPDX-License-Identifier: MIT */
#include "session/watch/limits.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "collect/cgroup/cgroup_files.h"
#include "collect/host/host_figures.h"
#include "collect/host/pressure.h"
#include "host/host.h"
#include "host/proc/proc_file.h"
#include "host/proc/task_text.h"
#include "model/run/run_states.h"
#include "model/snapshot/snapshot.h"
#include "session/watch/io_limit.h"

#define PLACES_LIMIT 65536
#define NS_PER_US 1000
#define NO_ROW UINT32_MAX
/* A virtual machine without a clock for it counts none, like a host that never lost any. */
#define NO_STEAL                                                                                   \
	"the kernel has counted no stolen time since boot: there was none, or it cannot tell"

#define NUMBER(member) offsetof(struct run_limits, member)

/* Which row of the sheets a counter is read from. */
enum counter_place {
	OF_HOST,
	OF_OWN,	  /* the process's own cgroup */
	OF_QUOTA, /* the one with the tightest quota, or its own */
	OF_LIMIT, /* the one with the lowest limit, or its own */
};

/* The counters.  Where two rows fill the same number, the first one that is present counts. */
/* clang-format off */
static const struct {
	enum counter_place place;
	const char *reading;
	uint64_t factor;
	size_t offset;
} counters[] = {
	{ OF_HOST,  "pressure cpu some total",     1, NUMBER(host_cpu_some_us) },
	{ OF_HOST,  "pressure memory some total",  1, NUMBER(host_memory_some_us) },
	{ OF_HOST,  "pressure memory full total",  1, NUMBER(host_memory_full_us) },
	{ OF_HOST,  "pressure io some total",      1, NUMBER(host_io_some_us) },
	{ OF_HOST,  "pressure io full total",      1, NUMBER(host_io_full_us) },
	{ OF_OWN,   "cpu.pressure some total",     1, NUMBER(cgroup_cpu_some_us) },
	{ OF_OWN,   "memory.pressure some total",  1, NUMBER(cgroup_memory_some_us) },
	{ OF_OWN,   "io.pressure some total",      1, NUMBER(cgroup_io_some_us) },
	{ OF_OWN,   "memory.events oom_kill",      1, NUMBER(cgroup_oom_kills) },
	{ OF_OWN,   "memory.events.local oom_kill", 1, NUMBER(cgroup_oom_kills) },
	{ OF_QUOTA, "cpu.stat nr_periods",         1, NUMBER(cgroup_periods) },
	{ OF_QUOTA, "cpu.stat nr_throttled",       1, NUMBER(cgroup_throttled_periods) },
	{ OF_QUOTA, "cpu.stat throttled_usec",     NS_PER_US, NUMBER(cgroup_throttled_ns) },
	{ OF_LIMIT, "memory.events max",           1, NUMBER(cgroup_memory_max_hits) },
	{ OF_LIMIT, "memory.events.local max",     1, NUMBER(cgroup_memory_max_hits) },
	{ OF_LIMIT, "memory.stat workingset_refault_file", 1, NUMBER(cgroup_refaults) },
	{ OF_LIMIT, "memory.stat workingset_refault", 1, NUMBER(cgroup_refaults) },
	{ OF_LIMIT, "memory.events high",          1, NUMBER(cgroup_memory_high_hits) },
};
/* clang-format on */

static bool read_cell(const struct sheet *sheet, const char *name, uint32_t row, uint64_t *ret)
{
	return row < sheet->row_count &&
	       column_get(sheet_find(sheet, name), row, ret) == CELL_NUMBER;
}

static const char *path_of(const struct snapshot *snapshot, uint32_t row)
{
	return snapshot_text(snapshot, snapshot->sheets[SHEET_CGROUPS].keys[row]);
}

static uint32_t find_path(const struct snapshot *snapshot, const char *path)
{
	for (uint32_t row = 0; row < snapshot->sheets[SHEET_CGROUPS].row_count; row++)
		if (strcmp(path_of(snapshot, row), path) == 0)
			return row;
	return NO_ROW;
}

/* Whether the process itself is in the cgroup of that path, in any hierarchy. */
static bool is_own(const struct hierarchies *trees, const char *places, const char *path)
{
	for (int id = 0; id < HIERARCHY_COUNT; id++) {
		size_t length;
		const char *own = trees->trees[id].fd < 0 ?
					  NULL :
					  cgroup_path(places, &trees->trees[id], &length);

		if (own && length == strlen(path) && memcmp(own, path, length) == 0)
			return true;
	}
	return false;
}

/* The row with the lowest CPU quota or memory limit. */
static uint32_t find_tightest(const struct sheet *sheet, const char *name, const char *divisor)
{
	uint32_t found = NO_ROW;
	double tightest = 0;

	for (uint32_t row = 0; row < sheet->row_count; row++) {
		uint64_t value, period = 1;
		double limit;

		if (!read_cell(sheet, name, row, &value) ||
		    (divisor && (!read_cell(sheet, divisor, row, &period) || period == 0)))
			continue;
		limit = (double)value / (double)period;
		if (found == NO_ROW || limit < tightest) {
			found = row;
			tightest = limit;
		}
	}
	return found;
}

static void take_limit(const struct sheet *sheet, const char *name, uint32_t row,
		       struct run_number *ret)
{
	ret->present = read_cell(sheet, name, row, &ret->value);
}

/* A counter never falls: a smaller one is of another cgroup with the same name. */
static void take_difference(const struct sheet *begin, uint32_t before, const struct sheet *end,
			    uint32_t row, size_t counter, struct run_limits *ret)
{
	struct run_number *number = (struct run_number *)((char *)ret + counters[counter].offset);
	const char *name = counters[counter].reading;
	uint64_t from, to;

	if (!number->present && read_cell(begin, name, before, &from) &&
	    read_cell(end, name, row, &to) && to >= from)
		*number = (struct run_number){ true, (to - from) * counters[counter].factor };
}

void limits_between(const struct snapshot *host, const struct snapshot *cgroups,
		    const struct snapshot *end, const struct hierarchies *trees, const char *places,
		    struct run_limits *ret)
{
	const struct sheet *sheet = &end->sheets[SHEET_CGROUPS];
	uint32_t quota = find_tightest(sheet, "cpu.max quota_usec", "cpu.max period_usec");
	uint32_t limit = find_tightest(sheet, "memory.max", NULL);

	take_limit(sheet, "cpu.max quota_usec", quota, &ret->cgroup_quota_us);
	take_limit(sheet, "cpu.max period_usec", quota, &ret->cgroup_period_us);
	take_limit(sheet, "memory.max", limit, &ret->cgroup_memory_limit_bytes);
	ret->cgroup_io_limit_bytes = io_limit_read(trees, places);
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		enum counter_place place = counters[i].place;
		uint32_t bound = place == OF_QUOTA ? quota : place == OF_LIMIT ? limit : NO_ROW;

		if (place == OF_HOST)
			take_difference(&host->sheets[SHEET_HOST], 0, &end->sheets[SHEET_HOST], 0,
					i, ret);
		for (uint32_t row = 0; place != OF_HOST && row < sheet->row_count; row++) {
			const char *path = path_of(end, row);

			if (bound == NO_ROW ? is_own(trees, places, path) : row == bound)
				take_difference(&cgroups->sheets[SHEET_CGROUPS],
						find_path(cgroups, path), sheet, row, i, ret);
		}
	}
}

/* Reads both sheets. */
static int read_all(const struct limits *limits, struct snapshot **ret)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	int status = snapshot_new(&snapshot);

	if (status == 0)
		status = pressure_read(limits->host, snapshot);
	if (status == 0 && limits->is_open && limits->places)
		status = cgroup_files_read(limits->host, &limits->trees, limits->places, snapshot);
	if (status == 0)
		*ret = TAKE_PTR(snapshot);
	return status;
}

static int read_places(int process, struct text *ret)
{
	return process < 0 ? process : file_read_text(process, "cgroup", PLACES_LIMIT, ret);
}

/* When it began, in ticks; 0 when that is not known, or it is ending. */
static uint64_t read_start(int process)
{
	char buffer[TASK_STAT_BYTES];
	struct task_stat stat;

	if (process < 0 || task_stat_read(process, "stat", buffer, &stat) < 0 ||
	    task_stat_is_ending(&stat))
		return 0;
	return task_stat_value(&stat, TASK_STAT_START);
}

int limits_begin(struct limits *limits, const struct host *host, int32_t pid)
{
	CLEANUP(text_free) struct text places = { 0 };
	CLEANUP(close_fd) int process = proc_open_number(host->proc, pid);
	int status;

	*limits = (struct limits){ .host = host };
	status = hierarchies_open(host, &limits->trees);
	if (status < 0)
		return status;
	limits->is_open = true;
	limits->start_ticks = read_start(process);
	status = read_places(process, &places);
	if (status == -ENOMEM)
		return status;
	if (status == 0)
		limits->places = TAKE_PTR(places.data);
	status = cpu_times_read(host, &limits->times);
	if (status == -ENOMEM)
		return status;
	status = read_all(limits, &limits->begin);
	limits->cgroups = limits->begin;
	return status < 0 ? status : host_usage_read(host, limits->begin);
}

static void forget_cgroups(struct limits *limits)
{
	if (limits->cgroups != limits->begin)
		snapshot_free(limits->cgroups);
	limits->cgroups = limits->begin;
}

void limits_follow(struct limits *limits, int32_t pid)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *now = NULL;
	CLEANUP(text_free) struct text places = { 0 };
	CLEANUP(close_fd) int process = proc_open_number(limits->host->proc, pid);
	uint64_t start;

	if (read_places(process, &places) < 0 || !places.data)
		return;
	if (limits->places && strcmp(places.data, limits->places) == 0)
		return;
	/*
	 * A process that is ending is shown at the root of version 1 hierarchies: check that it is
	 * not.
	 */
	start = read_start(process);
	if (start == 0 || start != limits->start_ticks)
		return;
	free(limits->places);
	limits->places = TAKE_PTR(places.data);
	if (read_all(limits, &now) == 0) {
		forget_cgroups(limits);
		limits->cgroups = TAKE_PTR(now);
	}
}

static int keep_path(const struct limits *limits, struct run *run)
{
	const char *path;
	size_t length;

	if (!limits->places)
		return 0;
	path = cgroup_path(limits->places, &limits->host->cgroup, &length);
	if (!path)
		return 0;
	run->limits.cgroup = arena_copy(&run->arena, path, length);
	return run->limits.cgroup ? 0 : -ENOMEM;
}

/* What the hypervisor took is known where the kernel has ever counted any. */
static int take_steal(const struct limits *limits, struct run *run)
{
	CLEANUP(cpu_times_clear) struct cpu_times end = { 0 };
	struct cpu_time grown;
	int status = run->since_start ? 0 : cpu_times_read(limits->host, &end);

	if (status == -ENOMEM)
		return status;
	if (!cpu_times_between(&limits->times, &end, &grown))
		return run_set_source(run, "steal", SOURCE_UNAVAILABLE,
				      run->since_start ? "it is not known since the start" :
							 NO_STEAL);
	run->limits.host_steal_ns =
		(struct run_number){ true, grown.stolen * limits->host->tick_ns };
	run->limits.host_busy_ns = (struct run_number){ true, grown.busy * limits->host->tick_ns };
	return run_set_source(run, "steal", SOURCE_OK, NULL);
}

int limits_end(struct limits *limits, struct run *run)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *end = NULL;
	int status = read_all(limits, &end);

	if (status == 0)
		status = host_usage_read(limits->host, end);
	if (status < 0)
		return status;
	run->limits = (struct run_limits){
		.online_cpus = (uint32_t)cpuset_count(&limits->host->online),
	};
	if (!limits->begin)
		return keep_path(limits, run);
	status = take_steal(limits, run);
	if (status < 0)
		return status;
	limits_between(limits->begin, limits->cgroups, end, &limits->trees,
		       limits->places ? limits->places : "", &run->limits);
	/* Nobody knows how much of a counter is of the time from the start of the processes. */
	for (size_t i = 0; i < ARRAY_SIZE(counters) && run->since_start; i++)
		((struct run_number *)((char *)&run->limits + counters[i].offset))->present = false;
	status = run_keep_states(run, limits->begin, limits->cgroups, end);
	return status < 0 ? status : keep_path(limits, run);
}

static enum source_state state_of(size_t present, size_t count)
{
	return present == count ? SOURCE_OK : present ? SOURCE_PARTIAL : SOURCE_UNAVAILABLE;
}

static int report_pressure(const struct run_limits *begin, struct run *run)
{
	size_t count = 0, present = 0;

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
		if (counters[i].place == OF_HOST) {
			count++;
			present += ((const struct run_number *)((const char *)begin +
								counters[i].offset))
					   ->present;
		}
	return run_add_source(
		run, "pressure", state_of(present, count),
		present == count ?
			NULL :
			"proc/pressure lacks values: it needs a kernel with CONFIG_PSI, and psi=1");
}

int limits_report(const struct limits *limits, struct run *run)
{
	struct run_limits begin = { 0 };
	bool has_cpu, has_memory;
	int status;

	limits_between(limits->begin, limits->begin, limits->begin, &limits->trees,
		       limits->places ? limits->places : "", &begin);
	status = report_pressure(&begin, run);
	if (status < 0)
		return status;
	has_cpu = begin.cgroup_periods.present || begin.cgroup_throttled_ns.present;
	has_memory = begin.cgroup_memory_max_hits.present || begin.cgroup_oom_kills.present;
	return run_add_source(
		run, "cgroup", state_of((size_t)has_cpu + has_memory, 2),
		has_cpu && has_memory ? NULL :
		has_cpu		      ? "its cgroup has no counters of memory" :
		has_memory	      ? "its cgroup has no counters of CPU quota" :
		limits->places ?
			     "its cgroup has no counters: it is the root, or has no controllers" :
			     "the cgroup of the process could not be read");
}

void limits_close(struct limits *limits)
{
	if (limits->is_open)
		hierarchies_close(&limits->trees);
	forget_cgroups(limits);
	snapshot_free(limits->begin);
	cpu_times_clear(&limits->times);
	free(limits->places);
	*limits = (struct limits){ 0 };
}
