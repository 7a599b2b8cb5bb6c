/* SPDX-License-Identifier: MIT */
#include "session/cgroup_look.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

/* Version 1 writes about the largest number for no limit. */
#define UNLIMITED (UINT64_C(1) << 62)
#define NS_PER_US 1000

#define NUMBER(member) offsetof(struct run_surroundings, member)

/* A number in a file of "KEY NUMBER" lines, or alone in a file (key ""). */
struct reading {
	enum hierarchy_id tree;
	const char *file;
	const char *key;
	uint64_t factor;
	size_t offset;
};

/* clang-format off */
static const struct reading quota_readings[] = {
	{ HIERARCHY_V2,  "cpu.stat", "nr_periods",     1, NUMBER(cgroup_periods) },
	{ HIERARCHY_V2,  "cpu.stat", "nr_throttled",   1, NUMBER(cgroup_throttled_periods) },
	{ HIERARCHY_V2,  "cpu.stat", "throttled_usec", NS_PER_US, NUMBER(cgroup_throttled_ns) },
	{ HIERARCHY_CPU, "cpu.stat", "nr_periods",     1, NUMBER(cgroup_periods) },
	{ HIERARCHY_CPU, "cpu.stat", "nr_throttled",   1, NUMBER(cgroup_throttled_periods) },
	{ HIERARCHY_CPU, "cpu.stat", "throttled_time", 1, NUMBER(cgroup_throttled_ns) },
};

static const struct reading limit_readings[] = {
	{ HIERARCHY_V2,     "memory.events",  "max",  1, NUMBER(cgroup_memory_max_hits) },
	{ HIERARCHY_V2,     "memory.events",  "high", 1, NUMBER(cgroup_memory_high_hits) },
	{ HIERARCHY_MEMORY, "memory.failcnt", "",     1, NUMBER(cgroup_memory_max_hits) },
};

/* Of the process's own cgroup, wherever the limit is. */
static const struct reading own_readings[] = {
	{ HIERARCHY_V2,     "memory.events",      "oom_kill", 1, NUMBER(cgroup_oom_kills) },
	{ HIERARCHY_MEMORY, "memory.oom_control", "oom_kill", 1, NUMBER(cgroup_oom_kills) },
};

static const struct {
	const char *file;
	size_t offset;
} pressures[] = {
	{ "cpu.pressure",    NUMBER(cgroup_cpu_some_us) },
	{ "memory.pressure", NUMBER(cgroup_memory_some_us) },
	{ "io.pressure",     NUMBER(cgroup_io_some_us) },
};
/* clang-format on */

static bool read_file(int dir, const char *name, char buffer[4096])
{
	return dir >= 0 && file_read(dir, name, buffer, 4096) >= 0;
}

static bool find_number(const char *text, const char *key, uint64_t *ret)
{
	size_t length = strlen(key);

	if (length == 0)
		return scan_u64(&text, ret);
	while (text) {
		if (strncmp(text, key, length) == 0 && text[length] == ' ') {
			text += length + 1;
			return scan_u64(&text, ret);
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return false;
}

static bool read_number(int dir, const char *name, uint64_t *ret)
{
	char buffer[4096];

	return read_file(dir, name, buffer) && find_number(buffer, "", ret);
}

void cgroup_look_pressure(int dir, const char *name, enum pressure_line line,
			  struct run_number *ret)
{
	struct pressure pressure;
	char buffer[4096];

	if (!read_file(dir, name, buffer))
		return;
	pressure_parse(buffer, &pressure);
	if (pressure.present[line][PRESSURE_TOTAL])
		*ret = (struct run_number){ true, pressure.values[line][PRESSURE_TOTAL] };
}

static void take_readings(const struct reading *readings, size_t count, enum hierarchy_id tree,
			  int dir, struct run_surroundings *ret)
{
	char buffer[4096];
	uint64_t value;

	for (size_t i = 0; i < count; i++) {
		struct run_number *number = (struct run_number *)((char *)ret + readings[i].offset);

		if (readings[i].tree == tree && !number->present &&
		    read_file(dir, readings[i].file, buffer) &&
		    find_number(buffer, readings[i].key, &value))
			*number = (struct run_number){ true, value * readings[i].factor };
	}
}

/* A cgroup and those above it, one after the other. */
struct climb {
	const struct hierarchies *trees;
	enum hierarchy_id tree;
	char path[PATH_MAX];
};

static bool climb_begin(struct climb *climb, const struct hierarchies *trees,
			enum hierarchy_id tree, const char *places)
{
	const char *path = NULL;
	size_t length = 0;

	climb->trees = trees;
	climb->tree = tree;
	if (trees->trees[tree].fd >= 0)
		path = cgroup_path(places, &trees->trees[tree], &length);
	if (!path || length >= sizeof(climb->path))
		return false;
	memcpy(climb->path, path, length);
	climb->path[length] = '\0';
	return true;
}

static bool climb_up(struct climb *climb)
{
	char *slash = strrchr(climb->path, '/');

	if (!slash || !slash[1])
		return false;
	slash[slash == climb->path] = '\0';
	return true;
}

static int climb_open(const struct climb *climb)
{
	return hierarchies_open_cgroup(climb->trees, climb->tree, climb->path);
}

static bool read_quota(int dir, enum hierarchy_id tree, uint64_t *ret_quota, uint64_t *ret_period)
{
	char buffer[4096];
	const char *cursor = buffer;

	if (tree != HIERARCHY_V2)
		return read_number(dir, "cpu.cfs_quota_us", ret_quota) &&
		       read_number(dir, "cpu.cfs_period_us", ret_period);
	if (!read_file(dir, "cpu.max", buffer) || !scan_u64(&cursor, ret_quota) || *cursor != ' ')
		return false;
	cursor++;
	return scan_u64(&cursor, ret_period);
}

static bool is_tighter(uint64_t quota, uint64_t period, const struct run_surroundings *than)
{
	return period &&
	       (!than->cgroup_quota_us.present ||
		(double)quota / (double)period <
			(double)than->cgroup_quota_us.value / (double)than->cgroup_period_us.value);
}

/* The tightest quota, and the periods of the cgroup that has it; without one, of its own. */
static void look_at_quota(struct climb climb, struct run_surroundings *ret)
{
	enum hierarchy_id tree = climb.tree;
	struct climb tightest = climb;
	uint64_t quota, period;

	do {
		CLEANUP(close_fd) int dir = climb_open(&climb);

		if (dir >= 0 && read_quota(dir, tree, &quota, &period) &&
		    is_tighter(quota, period, ret)) {
			ret->cgroup_quota_us = (struct run_number){ true, quota };
			ret->cgroup_period_us = (struct run_number){ true, period };
			tightest = climb;
		}
	} while (climb_up(&climb));
	CLEANUP(close_fd) int dir = climb_open(&tightest);

	take_readings(quota_readings, ARRAY_SIZE(quota_readings), tree, dir, ret);
}

static void look_at_limit(struct climb climb, struct run_surroundings *ret)
{
	const char *file = climb.tree == HIERARCHY_V2 ? "memory.max" : "memory.limit_in_bytes";
	CLEANUP(close_fd) int own = climb_open(&climb);
	struct climb lowest = climb;
	uint64_t limit;

	take_readings(own_readings, ARRAY_SIZE(own_readings), climb.tree, own, ret);
	do {
		CLEANUP(close_fd) int dir = climb_open(&climb);

		if (dir >= 0 && read_number(dir, file, &limit) && limit < UNLIMITED &&
		    (!ret->cgroup_memory_limit_bytes.present ||
		     limit < ret->cgroup_memory_limit_bytes.value)) {
			ret->cgroup_memory_limit_bytes = (struct run_number){ true, limit };
			lowest = climb;
		}
	} while (climb_up(&climb));
	CLEANUP(close_fd) int dir = climb_open(&lowest);

	take_readings(limit_readings, ARRAY_SIZE(limit_readings), lowest.tree, dir, ret);
}

static void look_at_pressure(const struct climb *climb, struct run_surroundings *ret)
{
	CLEANUP(close_fd) int dir = climb_open(climb);

	for (size_t i = 0; i < ARRAY_SIZE(pressures); i++)
		cgroup_look_pressure(dir, pressures[i].file, PRESSURE_SOME,
				     (struct run_number *)((char *)ret + pressures[i].offset));
}

void cgroup_look(const struct hierarchies *trees, const char *places, struct run_surroundings *ret)
{
	struct climb climb;

	if (climb_begin(&climb, trees, HIERARCHY_V2, places)) {
		look_at_pressure(&climb, ret);
		look_at_quota(climb, ret);
		look_at_limit(climb, ret);
	}
	if (climb_begin(&climb, trees, HIERARCHY_CPU, places))
		look_at_quota(climb, ret);
	if (climb_begin(&climb, trees, HIERARCHY_MEMORY, places))
		look_at_limit(climb, ret);
}
