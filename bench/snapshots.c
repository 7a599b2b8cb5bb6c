/* SPDX-License-Identifier: MIT */
/*
 * Two snapshots for the benchmark of `compare`: THREADS threads, then the same host ten seconds
 * later.  Of a hundred threads thirty ran meanwhile, one ended and one is new; of a hundred
 * processes one ended and one is new.
 *
 * Processes have ten threads each, in 300 services, with 1000 names of threads.  With "distinct"
 * every thread has a name of its own.  No pattern joins any two names.
 *
 * They have every metric that a capture can have.  Values are made from ids by a hash: the same
 * arguments always give the same files.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "model/snapshot/snapshot.h"
#include "store/snapshot_file.h"

#define THREADS_EACH 10
#define SECOND_NS ((uint64_t)1000000000)
#define TICK_NS (SECOND_NS / 100)
#define BOOTTIME_NS (SECOND_NS * 100000)
#define ELAPSED_NS (SECOND_NS * 10)
#define TID_BASE 1000

struct scene {
	struct snapshot *snapshot;
	bool after;
	bool distinct;
	uint32_t cpus[4]; /* texts of affinities */
};

static uint64_t hash(uint64_t a, uint64_t b)
{
	uint64_t x = a * 0x9e3779b97f4a7c15u ^ (b + 1) * 0xbf58476d1ce4e5b9u;

	x ^= x >> 31;
	x *= 0x94d049bb133111ebu;
	return x ^ x >> 29;
}

static bool one_of_hundred(uint64_t id, uint64_t what)
{
	return hash(id, what) % 100 == 0;
}

/* Of both snapshots, or of one. */
static bool exists(const struct scene *scene, uint64_t id, uint64_t kind)
{
	if (one_of_hundred(id, kind))
		return !scene->after;
	return scene->after || !one_of_hundred(id, kind + 1);
}

static bool is_new(uint64_t id, uint64_t kind)
{
	return !one_of_hundred(id, kind) && one_of_hundred(id, kind + 1);
}

static uint64_t start_time(uint64_t id, bool fresh)
{
	return fresh ? BOOTTIME_NS + SECOND_NS + id % 8 * TICK_NS : (id + 1) * TICK_NS;
}

/* Few numbers are large: most are 0 or small, as on a real host. */
static uint64_t amount(uint64_t id, enum metric_id metric, unsigned bits)
{
	uint64_t value = hash(id, metric * 7919u);

	return value % 4 == 0 ? 0 : value >> (64 - 1 - value % bits);
}

static uint64_t value_of(const struct scene *scene, enum metric_id metric, uint64_t id)
{
	bool ran = scene->after && hash(id, 30) % 100 < 30;
	unsigned bits = metrics[metric].unit == UNIT_COUNT ? 20 : 40;
	uint64_t first = amount(id, metric, bits);

	if (metric == METRIC_thread_count)
		return 1;
	switch (metrics[metric].kind) {
	case KIND_COUNTER:
		return first + (ran ? amount(id + 1000000007u, metric, bits - 4) : 0);
	case KIND_GAUGE:
		return first + (ran ? hash(id, 31) % 4096 : 0);
	case KIND_CPUSET:
		return scene->cpus[hash(id, 32) % 4];
	case KIND_CATEGORY:
		return metrics[metric].unit == UNIT_STATE ? (ran ? 'R' : 'S') : 0;
	case KIND_ORDINAL:
		return hash(id, metric) % 20;
	default:
		return first;
	}
}

static uint32_t text(struct scene *scene, const char *string)
{
	uint32_t id = 0;

	if (snapshot_intern(scene->snapshot, string, strlen(string), &id) < 0)
		exit(1);
	return id;
}

/* A name in letters only, so that no part of it is taken for a number. */
static uint32_t name(struct scene *scene, const char *before, uint64_t id, const char *after)
{
	char letters[16] = "", buffer[64];

	for (size_t length = 0; length == 0 || id; id /= 20)
		letters[length++] = (char)('g' + id % 20);
	snprintf(buffer, sizeof(buffer), "%s%s%s", before, letters, after);
	return text(scene, buffer);
}

static void add_thread(struct scene *scene, uint64_t process, uint64_t id, bool fresh)
{
	uint32_t row;
	struct task task = { .tid = (int32_t)(TID_BASE + id),
			     .start_time_ns = start_time(id, fresh || is_new(id, 3)) };

	task.comm = name(scene, "", scene->distinct ? id : hash(id, 5) % 1000, "");
	task.cgroup = name(scene, "/system.slice/", process % 300, ".service");
	if (snapshot_process(scene->snapshot, (int32_t)(TID_BASE + process * THREADS_EACH),
			     &task.process) < 0 ||
	    snapshot_add_task(scene->snapshot, &task, &row) < 0)
		exit(1);
}

static void add_process(struct scene *scene, uint64_t process, uint64_t threads)
{
	uint64_t leader = process * THREADS_EACH;
	bool fresh = is_new(process, 1);
	struct process *row;

	if (!exists(scene, process, 1))
		return;
	for (uint64_t id = leader; id < leader + THREADS_EACH && id < threads; id++)
		if (id == leader || exists(scene, id, 3))
			add_thread(scene, process, id, fresh);
	row = &scene->snapshot->processes[scene->snapshot->process_count - 1];
	row->start_time_ns = start_time(leader, fresh);
	row->pcomm = name(scene, "", scene->distinct ? leader : process % 300, "");
}

static void fill_column(struct scene *scene, enum metric_id metric)
{
	struct snapshot *snapshot = scene->snapshot;

	if (snapshot_need_column(snapshot, metric) < 0)
		exit(1);
	for (uint32_t row = 0; row < snapshot_rows(snapshot, metric); row++) {
		uint64_t id = (uint64_t)(metrics[metric].scope == METRIC_OF_THREAD ?
						 snapshot->tasks[row].tid :
						 snapshot->processes[row].tgid);

		snapshot_set(snapshot, metric, row, value_of(scene, metric, id));
	}
}

static void set_facts(struct scene *scene)
{
	struct snapshot *snapshot = scene->snapshot;
	uint64_t elapsed = scene->after ? ELAPSED_NS : 0;

	snapshot_set_fact_text(snapshot, FACT_boot_id, "11111111-2222-3333-4444-555555555555");
	snapshot_set_fact_text(snapshot, FACT_kernel_release, "6.12.0");
	snapshot_set_fact_text(snapshot, FACT_online_cpus, "0-63");
	snapshot_set_fact_text(snapshot, FACT_task_source, "bpf");
	snapshot_set_fact_number(snapshot, FACT_clock_ticks, 100);
	snapshot_set_fact_number(snapshot, FACT_total_memory_bytes, (uint64_t)256 << 30);
	snapshot_set_fact_number(snapshot, FACT_boottime_ns, BOOTTIME_NS + elapsed);
	snapshot_set_fact_number(snapshot, FACT_captured_at_unix_ns,
				 SECOND_NS * 1700000000 + elapsed);
}

static int write_snapshot(struct scene *scene, uint64_t threads, const char *path)
{
	static const char *const lists[] = { "0-63", "0-31", "32-63", "5" };
	struct error error;
	int status;

	if (snapshot_new(&scene->snapshot) < 0)
		return 1;
	for (size_t i = 0; i < 4; i++)
		scene->cpus[i] = text(scene, lists[i]);
	for (uint64_t process = 0; process * THREADS_EACH < threads; process++)
		add_process(scene, process, threads);
	for (int metric = 0; metric < METRIC_STORED; metric++)
		if (!metric_is_only_traced((enum metric_id)metric))
			fill_column(scene, (enum metric_id)metric);
	set_facts(scene);
	status = snapshot_finish(scene->snapshot);
	if (status == 0)
		status = snapshot_file_write(scene->snapshot, path, &error);
	if (status < 0)
		fprintf(stderr, "cannot write %s: %s\n", path, error.message);
	snapshot_free(scene->snapshot);
	return status < 0;
}

int main(int argc, char **argv)
{
	struct scene before = { 0 }, after = { .after = true };
	uint64_t threads;

	if (argc == 5 && strcmp(argv[4], "distinct") == 0)
		before.distinct = after.distinct = true;
	else if (argc != 4)
		argc = 0;
	if (!argc || !parse_u64(argv[1], &threads) || threads < 1 || threads > 4000000) {
		fprintf(stderr, "usage: snapshots THREADS BEFORE AFTER [distinct]\n");
		return 2;
	}
	return write_snapshot(&before, threads, argv[2]) ||
	       write_snapshot(&after, threads, argv[3]);
}
