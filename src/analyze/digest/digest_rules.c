/* SPDX-License-Identifier: MIT */
/* The rules of a digest, in the order in which they speak: causes first. */
#include "analyze/digest/digest_parts.h"

#define KIB 1024.0
#define MIB (1024 * KIB)
#define MS 1e6 /* in ns */

/* clang-format off */
#define WORK(resource, id, past, now, object, capacity, floor, most) \
	{ resource, digest_counter, METRIC_##id, NULL, past, now, object, capacity, floor, most, NULL }
#define WAITED(id, object, most) \
	WORK("waiting", id, "waited", "waits", object, CAPACITY_UNKNOWN, 50 * MS, most)
#define LEVEL(resource, id, object, capacity, floor, most) \
	{ resource, digest_level, METRIC_##id, NULL, NULL, NULL, object, capacity, floor, most, NULL }
#define READ(resource, reading, past, now, object, capacity, floor, most) \
	{ resource, digest_reading, METRIC_COUNT, reading, past, now, object, capacity, floor, most, NULL }
#define MOVED(reading, past, now) \
	{ "network", digest_reading, METRIC_COUNT, reading, past, now, "", CAPACITY_UNKNOWN, 4 * MIB, 1, DIGEST_INTERFACE }

const struct digest_rule digest_rules[] = {
	/* What someone changed. */
	{ .resource = "settings", .apply = digest_host_changes, .most = 3 },
	{ .resource = "limits",   .apply = digest_limits,       .most = 3 },
	/* What was reached: the floors of events are one in a quarter of an hour. */
	READ("limits reached", "memory.events oom_kill",        "had", "has", "OOM kills", CAPACITY_UNKNOWN, 0.001, 2),
	READ("limits reached", "memory.events.local oom_kill",  "had", "has", "OOM kills", CAPACITY_UNKNOWN, 0.001, 1),
	READ("limits reached", "vmstat oom_kill",               "had", "has", "OOM kills", CAPACITY_UNKNOWN, 0.001, 1),
	READ("limits reached", "cpu.stat throttled_usec",       "was throttled for", "is throttled", "by its cpu.max", CAPACITY_UNKNOWN, 10e3, 2),
	READ("limits reached", "memory.events max",             "reached memory.max", "reaches memory.max", "times", CAPACITY_UNKNOWN, 0.1, 1),
	READ("limits reached", "memory.events.local max",       "reached memory.max", "reaches memory.max", "times", CAPACITY_UNKNOWN, 0.1, 1),
	READ("limits reached", "memory.events high",            "reached memory.high", "reaches memory.high", "times", CAPACITY_UNKNOWN, 0.1, 1),
	{ .resource = "restarts", .apply = digest_restarts, .most = 2 },
	/* The group that moved most, by resource. */
	{ .resource = "host", .apply = digest_host_busy, .floor = 0.9, .most = 1 },
	READ("host", "stat cpu steal", "waited", "waits", "for CPUs that other guests had", CAPACITY_UNKNOWN, 100 * MS, 1),
	WORK("cpu", run_time_ns, "used", "uses", "of CPU", CAPACITY_CPUS, 50 * MS, 3),
	WORK("cpu wait", wait_time_ns, "waited", "waits", "for a CPU", CAPACITY_UNKNOWN, 50 * MS, 3),
	WAITED(wait_lock_ns,               "for locks", 2),
	WAITED(wait_disk_ns,               "for a disk", 1),
	WAITED(blkio_delay_total_ns,       "for a disk", 1),
	WAITED(wait_network_ns,            "for the network", 1),
	WAITED(wait_pipe_ns,               "for a pipe", 1),
	WAITED(wait_memory_ns,             "for memory", 1),
	WAITED(swapin_delay_total_ns,      "for swap", 1),
	WAITED(freepages_delay_total_ns,   "for free memory", 1),
	WAITED(thrashing_delay_total_ns,   "for memory that was evicted", 1),
	WAITED(compact_delay_total_ns,     "for compaction", 1),
	LEVEL("memory", rss_bytes,          "of memory", CAPACITY_MEMORY, 16 * MIB, 2),
	LEVEL("memory", swap_bytes,         "of swap",   CAPACITY_MEMORY, 16 * MIB, 1),
	LEVEL("heap",   live_heap_estimate, "of heap",   CAPACITY_MEMORY, 16 * MIB, 1),
	WORK("disk", read_bytes,  "read",  "reads",  "from disk", CAPACITY_UNKNOWN, 4 * MIB, 1),
	WORK("disk", write_bytes, "wrote", "writes", "to disk",   CAPACITY_UNKNOWN, 4 * MIB, 1),
	{ .resource = "disk", .apply = digest_disk_busy, .reading = "diskstats * busy_ns", .floor = 0.5, .most = 2 },
	READ("swap", "vmstat pswpin",  "read",  "reads",  "pages from swap", CAPACITY_UNKNOWN, 100, 1),
	READ("swap", "vmstat pswpout", "wrote", "writes", "pages to swap",   CAPACITY_UNKNOWN, 100, 1),
	WORK("network", net_rx_bytes, "received", "receives", "from the network", CAPACITY_UNKNOWN, 4 * MIB, 1),
	WORK("network", net_tx_bytes, "sent",     "sends",    "to the network",   CAPACITY_UNKNOWN, 4 * MIB, 1),
	MOVED("net/dev * rx_bytes", "received", "receives"),
	MOVED("net/dev * tx_bytes", "sent",     "sends"),
	WORK("page faults", majflt, "had", "has", "page faults from disk", CAPACITY_UNKNOWN, 20, 1),
	WORK("page faults", minflt, "had", "has", "page faults",           CAPACITY_UNKNOWN, 10e3, 1),
	LEVEL("tasks", thread_count, "threads",    CAPACITY_UNKNOWN, 10, 1),
	LEVEL("tasks", open_fds,     "open files", CAPACITY_UNKNOWN, 100, 1),
	{ .resource = "tasks", .apply = digest_births, .most = 1 },
	{ .resource = "tasks", .apply = digest_deaths, .most = 1 },
	{ .resource = NULL },
};
/* clang-format on */
