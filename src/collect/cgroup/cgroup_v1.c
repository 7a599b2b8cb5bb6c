/* SPDX-License-Identifier: MIT */
#include "collect/cgroup/cgroup_v1.h"

#include <stdio.h>
#include <string.h>

#include "base/collection/array.h"

#define NS_PER_US 1000

/* An unlimited counter has as many pages as a long has bytes; pages are of 64 KiB at most. */
#define PAGES_UNLIMITED ((uint64_t)INT64_MAX - 0xffff)

#define DEFAULT_SHARES 1024
#define DEFAULT_WEIGHT 100
#define MAX_WEIGHT 10000

enum conversion {
	PLAIN,
	NANOSECONDS, /* to microseconds */
	STATISTICS,  /* same, but written only while scheduler statistics are on */
	TICKS,	     /* likewise */
	QUOTA,	     /* below 0: unlimited */
	SHARES,	     /* to a weight, as the kernel does */
	PAGES,	     /* a limit that is unlimited when it is about the largest number */
};

struct cgroup_v1_key {
	const char *from; /* "": the file has a single value without a key */
	const char *to;	  /* name of a reading; for a device's value only the last word */
	enum conversion conversion;
};

/* clang-format off */
static const struct cgroup_v1_key cpu_stat[] = {
	{ "nr_periods",     "cpu.stat nr_periods",     PLAIN },
	{ "nr_throttled",   "cpu.stat nr_throttled",   PLAIN },
	{ "throttled_time", "cpu.stat throttled_usec", NANOSECONDS },
	{ "nr_bursts",      "cpu.stat nr_bursts",      PLAIN },
	{ "burst_time",     "cpu.stat burst_usec",     NANOSECONDS },
	{ "wait_sum",       "cpu.stat wait_sum_usec",  STATISTICS },
	{ 0 },
};
static const struct cgroup_v1_key cpuacct_stat[] = {
	{ "user",   "cpu.stat user_usec",   TICKS },
	{ "system", "cpu.stat system_usec", TICKS },
	{ 0 },
};
static const struct cgroup_v1_key memory_stat[] = {
	{ "total_cache",       "memory.stat file",           PLAIN },
	{ "total_rss",         "memory.stat anon",           PLAIN },
	{ "total_rss_huge",    "memory.stat anon_thp",       PLAIN },
	{ "total_mapped_file", "memory.stat file_mapped",    PLAIN },
	{ "total_dirty",       "memory.stat file_dirty",     PLAIN },
	{ "total_writeback",   "memory.stat file_writeback", PLAIN },
	{ "total_swap",        "memory.stat swap",           PLAIN },
	{ "total_swap",        "memory.swap.current",        PLAIN },
	{ "hierarchical_memory_limit", "memory.stat hierarchical_memory_limit", PAGES },
	{ "hierarchical_memsw_limit",  "memory.stat hierarchical_memsw_limit",  PAGES },
	{ 0 },
};
static const struct cgroup_v1_key oom_control[] = {
	{ "oom_kill", "memory.events.local oom_kill", PLAIN },
	{ 0 },
};
static const struct cgroup_v1_key io_bytes[] = {
	{ "Read",    "rbytes", PLAIN },
	{ "Write",   "wbytes", PLAIN },
	{ "Discard", "dbytes", PLAIN },
	{ 0 },
};
static const struct cgroup_v1_key io_operations[] = {
	{ "Read",    "rios", PLAIN },
	{ "Write",   "wios", PLAIN },
	{ "Discard", "dios", PLAIN },
	{ 0 },
};

/* The only value of a file has no key. */
#define ONE(to_, conversion_) (const struct cgroup_v1_key[]){ { "", to_, conversion_ }, { 0 } }

#define V1(file_, hierarchy_, name_, format_, keys_, ...)                                          \
	{ .file = CGROUP_FILE_##file_, .hierarchy = HIERARCHY_##hierarchy_, .name = name_,         \
	  .format = KERNEL_##format_, .keys = keys_, __VA_ARGS__ }

/* In the order of cgroup_files.def. */
const struct cgroup_v1_file cgroup_v1_files[] = {
	V1(CPU_STAT,    CPU,     "cpu.stat",          KEYS,   cpu_stat, .rest = V1_KEEP),
	V1(CPU_STAT,    CPUACCT, "cpuacct.usage",     NUMBER, ONE("cpu.stat usage_usec", NANOSECONDS), .is_in_v2 = true),
	V1(CPU_STAT,    CPUACCT, "cpuacct.stat",      KEYS,   cpuacct_stat, .is_in_v2 = true),
	V1(CPU_MAX,     CPU,     "cpu.cfs_quota_us",  SIGNED, ONE("cpu.max quota_usec", QUOTA)),
	V1(CPU_MAX,     CPU,     "cpu.cfs_period_us", NUMBER, ONE("cpu.max period_usec", PLAIN)),
	V1(CPU_WEIGHT,  CPU,     "cpu.shares",        NUMBER, ONE("cpu.weight", SHARES)),
	V1(MEMORY_CURRENT, MEMORY, "memory.usage_in_bytes",     NUMBER, ONE("memory.current", PLAIN)),
	V1(MEMORY_PEAK,    MEMORY, "memory.max_usage_in_bytes", NUMBER, ONE("memory.peak", PLAIN)),
	V1(MEMORY_MAX,     MEMORY, "memory.limit_in_bytes",     NUMBER, ONE("memory.max", PAGES)),
	V1(MEMORY_STAT,    MEMORY, "memory.stat",               KEYS,   memory_stat, .rest = V1_TOTALS),
	V1(MEMORY_SWAP_CURRENT, MEMORY, "memory.stat total_swap", NUMBER, NULL, .is_given = true),
	V1(MEMORY_EVENTS_LOCAL, MEMORY, "memory.failcnt",       NUMBER, ONE("memory.events.local max", PLAIN)),
	V1(MEMORY_EVENTS_LOCAL, MEMORY, "memory.oom_control",   KEYS,   oom_control),
	V1(PIDS_CURRENT, PIDS, "pids.current", NUMBER, ONE("pids.current", PLAIN), .not_on_root = true),
	V1(PIDS_MAX,     PIDS, "pids.max",     LIMIT,  ONE("pids.max", PLAIN),     .not_on_root = true),
	V1(PIDS_PEAK,    PIDS, "pids.peak",    NUMBER, ONE("pids.peak", PLAIN),    .not_on_root = true),
	V1(IO_STAT, BLKIO, "blkio.throttle.io_service_bytes_recursive", DEVICES, io_bytes),
	V1(IO_STAT, BLKIO, "blkio.throttle.io_serviced_recursive",      DEVICES, io_operations),
	V1(CPUSET_CPUS,           CPUSET, "cpuset.cpus",           LIST, ONE("cpuset.cpus", PLAIN)),
	V1(CPUSET_CPUS_EFFECTIVE, CPUSET, "cpuset.effective_cpus", LIST, ONE("cpuset.cpus.effective", PLAIN)),
	V1(CPUSET_MEMS,           CPUSET, "cpuset.mems",           LIST, ONE("cpuset.mems", PLAIN)),
	V1(CPUSET_MEMS_EFFECTIVE, CPUSET, "cpuset.effective_mems", LIST, ONE("cpuset.mems.effective", PLAIN)),
};
/* clang-format on */

const size_t cgroup_v1_file_count = ARRAY_SIZE(cgroup_v1_files);

_Static_assert(ARRAY_SIZE(cgroup_v1_files) <= CGROUP_V1_MAX, "CGROUP_V1_MAX is large enough");

/* In the name of a device's reading, only the last word is in the table. */
static const char *telling_part(const struct cgroup_v1_file *file, const char *name)
{
	const char *blank = file->format == KERNEL_DEVICES ? strrchr(name, ' ') : NULL;

	return blank ? blank + 1 : name;
}

bool cgroup_v1_gives(const struct cgroup_v1_file *file, const char *name)
{
	const char *part = telling_part(file, name);

	for (const struct cgroup_v1_key *key = file->keys; key && key->from; key++)
		if (strcmp(key->to, part) == 0)
			return true;
	return file->rest == V1_TOTALS;
}

const char *cgroup_v1_reading(const struct cgroup_v1_file *file, size_t index)
{
	const struct cgroup_v1_key *key = file->keys;

	if (!key || file->format == KERNEL_DEVICES)
		return NULL;
	for (; key->from; key++)
		if (key->conversion != STATISTICS && index-- == 0)
			return key->to;
	return NULL;
}

static void convert_ticks(struct kernel_value *value, uint64_t tick_ns)
{
	if (__builtin_mul_overflow(value->number, tick_ns / NS_PER_US, &value->number))
		value->state = CELL_ABSENT;
}

static uint64_t shares_to_weight(uint64_t number)
{
	uint64_t weight;

	if (number > DEFAULT_SHARES * MAX_WEIGHT / DEFAULT_WEIGHT)
		return MAX_WEIGHT;
	weight = (number * DEFAULT_WEIGHT + DEFAULT_SHARES / 2) / DEFAULT_SHARES;
	return weight ? weight : 1;
}

static void convert(struct kernel_value *value, enum conversion conversion, uint64_t tick_ns)
{
	switch (conversion) {
	case PLAIN:
		break;
	case NANOSECONDS:
	case STATISTICS:
		value->number /= NS_PER_US;
		break;
	case TICKS:
		convert_ticks(value, tick_ns);
		break;
	case QUOTA:
		if ((int64_t)value->number < 0)
			value->state = CELL_UNLIMITED;
		break;
	case SHARES:
		value->number = shares_to_weight(value->number);
		break;
	case PAGES:
		if (value->number >= PAGES_UNLIMITED)
			value->state = CELL_UNLIMITED;
		break;
	}
	if (value->state == CELL_UNLIMITED)
		value->number = 0;
}

/* Names are short: those of files here, and keys that were checked. */
static void set_name(struct cgroup_reading *reading, const char *file, const char *key)
{
	snprintf(reading->name, sizeof(reading->name), "%s %s", file, key);
}

static size_t translate_rest(const struct cgroup_v1_file *file, const struct kernel_value *value,
			     struct cgroup_reading *ret)
{
	static const char total[] = "total_";
	const char *key = value->key;
	bool is_total = strncmp(key, total, strlen(total)) == 0;

	if (file->rest == V1_DROP || (file->rest == V1_TOTALS && !is_total))
		return 0;
	if (file->rest == V1_TOTALS)
		key += strlen(total);
	ret->value = *value;
	set_name(ret, cgroup_files[file->file].name, key);
	return *key != '\0';
}

/* The key as the table has it: without the device. */
static const char *table_key(const struct cgroup_v1_file *file, const struct kernel_value *value)
{
	const char *blank = strchr(value->key, ' ');

	return file->format == KERNEL_DEVICES && blank ? blank + 1 : value->key;
}

static void name_reading(struct cgroup_reading *reading, const struct cgroup_v1_file *file,
			 const struct kernel_value *value, const struct cgroup_v1_key *key)
{
	if (file->format == KERNEL_DEVICES)
		snprintf(reading->name, sizeof(reading->name), "%s %.*s %s",
			 cgroup_files[file->file].name, (int)strcspn(value->key, " "), value->key,
			 key->to);
	else
		snprintf(reading->name, sizeof(reading->name), "%s", key->to);
}

size_t cgroup_v1_translate(const struct cgroup_v1_file *file, uint64_t tick_ns,
			   const struct kernel_value *value,
			   struct cgroup_reading ret[V1_READINGS_MAX])
{
	const char *name = table_key(file, value);
	bool is_known = false;
	size_t count = 0;

	for (const struct cgroup_v1_key *key = file->keys; key && key->from; key++) {
		struct cgroup_reading *reading = &ret[count];

		if (count == V1_READINGS_MAX || strcmp(key->from, name) != 0)
			continue;
		is_known = true;
		reading->value = *value;
		convert(&reading->value, key->conversion, tick_ns);
		name_reading(reading, file, value, key);
		count += reading->value.state != CELL_ABSENT;
	}
	return is_known ? count : translate_rest(file, value, ret);
}
