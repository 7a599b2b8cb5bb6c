/* SPDX-License-Identifier: MIT */
#include "record/job/book/job_reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/number_map.h"
#include "base/text.h"
#include "collect/cgroup/cgroup_files.h"
#include "host/host.h"
#include "model/snapshot/snapshot.h"
#include "trace/proc/proc_sample.h"

/* A process with more threads is read as a whole, in clock ticks. */
#define THREADS_MAX 64
#define MARK_NS (20 * NS_PER_MS)
#define MARK_WAIT_NS (500 * NS_PER_MS)

void job_reader_open(struct job_reader *reader, const struct host *host)
{
	*reader = (struct job_reader){ .host = host };
	reader->has_trees = hierarchies_open(host, &reader->trees) == 0;
	if (!host_read_line(host->proc, "sys/kernel/random/boot_id", reader->boot_id,
			    sizeof(reader->boot_id)))
		reader->boot_id[0] = '\0';
}

void job_reader_close(struct job_reader *reader)
{
	if (reader->has_trees)
		hierarchies_close(&reader->trees);
	deadline_threads_clear(&reader->threads);
}

struct job_instant job_reader_now(const struct job_reader *reader)
{
	return (struct job_instant){
		.unix_ns = clock_ns(CLOCK_REALTIME),
		.boottime_ns = clock_ns(CLOCK_BOOTTIME),
		.boot_id = reader->boot_id[0] ? reader->boot_id : NULL,
	};
}

void job_reader_begin(struct job_reader *reader)
{
	reader->deadline_ns =
		clock_ns(CLOCK_THREAD_CPUTIME_ID) + (reader->most_ns ? reader->most_ns : MARK_NS);
	reader->latest_ns = monotonic_ns() + MARK_WAIT_NS;
}

bool job_reader_has_time(const struct job_reader *reader)
{
	return !reader->deadline_ns || (clock_ns(CLOCK_THREAD_CPUTIME_ID) < reader->deadline_ns &&
					monotonic_ns() < reader->latest_ns);
}

/* Whole clock ticks say what ended threads used; those that live have more exact numbers. */
static void read_threads(struct job_reader *reader, int32_t pid, struct job_use *use)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers threads = { 0 };
	struct job_use sum = { .has_bytes = true };

	if (proc_list_threads(reader->host->proc, pid, &threads) < 0 ||
	    threads.list.count > THREADS_MAX)
		return;
	for (size_t i = 0; i < threads.list.count; i++) {
		struct proc_sample sample;
		const struct amounts *counters = &sample.counters;

		if (proc_sample_thread(reader->host, &reader->threads, pid, threads.list.data[i],
				       &sample) < 0)
			continue;
		sum.run_time_ns += amounts_get(counters, AMOUNT_run_time_ns);
		sum.has_bytes &= amounts_has(counters, AMOUNT_read_bytes);
		sum.read_bytes += amounts_get(counters, AMOUNT_read_bytes);
		sum.write_bytes += amounts_get(counters, AMOUNT_write_bytes);
		use->has_peak = sample.has_peak;
		use->peak_rss_bytes = sample.peak_rss_bytes;
	}
	if (sum.run_time_ns > use->run_time_ns)
		use->run_time_ns = sum.run_time_ns;
	use->has_bytes = sum.has_bytes && threads.list.count;
	use->read_bytes = sum.read_bytes;
	use->write_bytes = sum.write_bytes;
}

/* The second number of statm is what is in memory, in pages. */
static void read_rss(struct job_reader *reader, int32_t pid, struct job_use *use)
{
	char path[32], line[128];
	const char *cursor = line;
	uint64_t pages;

	snprintf(path, sizeof(path), "%" PRId32 "/statm", pid);
	if (!host_read_line(reader->host->proc, path, line, sizeof(line)) ||
	    !scan_u64(&cursor, &pages) || *cursor++ != ' ' || !scan_u64(&cursor, &pages))
		return;
	use->has_rss = true;
	use->rss_bytes = pages * reader->host->page_bytes;
}

bool job_read_process(struct job_reader *reader, const struct task_key *key, struct job_use *ret)
{
	struct proc_sample sample;

	*ret = (struct job_use){ 0 };
	if (proc_sample_process(reader->host, key->pid, &sample) < 0 ||
	    (key->start_ns && sample.start_ns != key->start_ns))
		return false;
	ret->has_run_time = true;
	ret->run_time_ns = amounts_get(&sample.counters, AMOUNT_run_time_ns);
	read_threads(reader, key->pid, ret);
	read_rss(reader, key->pid, ret);
	return true;
}

enum kinship { KINSHIP_UNKNOWN, KINSHIP_DESCENDANT, KINSHIP_STRANGER };

struct relative {
	struct task_key key;
	int32_t parent;
	enum kinship kinship;
};

struct relatives {
	struct relative *list;
	size_t count;
	struct number_map by_pid;
};

static void relatives_clear(struct relatives *all)
{
	free(all->list);
	number_map_clear(&all->by_pid);
}

/*
 * What an ancestor is, its descendants are; each process is passed only once on the way up.  Parents
 * were read one after the other, so they may lead in a circle: hence the mark before going on.
 */
static void judge(struct relatives *all, struct relative *one, int32_t root)
{
	enum kinship kinship = KINSHIP_UNKNOWN;
	struct relative *next = one;

	while (kinship == KINSHIP_UNKNOWN) {
		next->kinship = KINSHIP_STRANGER;
		if (next->parent == root)
			kinship = KINSHIP_DESCENDANT;
		next = number_map_get(&all->by_pid, next->parent);
		if (kinship == KINSHIP_UNKNOWN)
			kinship = next ? next->kinship : KINSHIP_STRANGER;
	}
	for (next = one; kinship == KINSHIP_DESCENDANT && next && next->kinship != kinship;) {
		next->kinship = kinship;
		next = next->parent == root ? NULL : number_map_get(&all->by_pid, next->parent);
	}
}

static int find_descendants(struct relatives *all, const struct task_key *root,
			    struct job_family *ret)
{
	int status = 0;

	for (size_t i = 0; i < all->count && status == 0; i++)
		status = number_map_set(&all->by_pid, all->list[i].key.pid, &all->list[i]);
	for (size_t i = 0; i < all->count && status == 0; i++) {
		if (all->list[i].kinship == KINSHIP_UNKNOWN)
			judge(all, &all->list[i], root->pid);
		if (all->list[i].kinship == KINSHIP_DESCENDANT)
			status = array_append(&ret->list, all->list[i].key);
	}
	return status;
}

/* Adds the children of all threads of a process. */
static int add_children(struct job_reader *reader, int32_t pid, struct job_family *ret)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers threads = { 0 }, children = { 0 };
	int status = proc_list_threads(reader->host->proc, pid, &threads);

	for (size_t i = 0; i < threads.list.count && status != -ENOMEM; i++) {
		if (!job_reader_has_time(reader))
			return -ETIME;
		status = proc_sample_list_children(reader->host, pid, threads.list.data[i],
						   &children);
	}
	for (size_t i = 0; i < children.list.count && status != -ENOMEM; i++) {
		int32_t child = children.list.data[i];
		struct proc_sample sample;

		if (!job_reader_has_time(reader))
			return -ETIME;
		if (proc_sample_process(reader->host, child, &sample) == 0 && !sample.is_dead)
			status = array_append(&ret->list,
					      ((struct task_key){ child, child, sample.start_ns }));
	}
	return status == -ENOMEM ? status : 0;
}

/* The list grows meanwhile, by the children of those that were added. */
static int list_by_children(struct job_reader *reader, const struct task_key *root,
			    struct job_family *ret)
{
	int status = add_children(reader, root->pid, ret);

	for (size_t i = 0; i < ret->list.count && status == 0; i++)
		status = add_children(reader, ret->list.data[i].pid, ret);
	return status;
}

static int list_by_parents(struct job_reader *reader, const struct task_key *root,
			   struct job_family *ret)
{
	CLEANUP(proc_numbers_clear) struct proc_numbers numbers = { 0 };
	CLEANUP(relatives_clear) struct relatives all = { 0 };
	int status = proc_list(reader->host->proc, ".", &numbers);

	if (status < 0)
		return status;
	all.list = calloc(numbers.list.count + 1, sizeof(*all.list));
	if (!all.list)
		return -ENOMEM;
	for (size_t i = 0; i < numbers.list.count; i++) {
		int32_t pid = numbers.list.data[i];
		struct proc_sample sample;

		if (!job_reader_has_time(reader))
			return -ETIME;
		if (pid == root->pid || proc_sample_process(reader->host, pid, &sample) < 0 ||
		    sample.is_dead)
			continue;
		all.list[all.count++] = (struct relative){
			.key = { pid, pid, sample.start_ns },
			.parent = sample.parent_pid,
		};
	}
	return find_descendants(&all, root, ret);
}

int job_list_family(struct job_reader *reader, const struct task_key *root, struct job_family *ret)
{
	return proc_sample_knows_children(reader->host) ? list_by_children(reader, root, ret) :
							  list_by_parents(reader, root, ret);
}

int job_family_at(const struct snapshot *snapshot, const struct task_key *root,
		  struct job_family *ret)
{
	CLEANUP(relatives_clear) struct relatives all = { 0 };

	all.list = calloc(snapshot->process_count + 1, sizeof(*all.list));
	if (!all.list)
		return -ENOMEM;
	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		const struct process *process = &snapshot->processes[row];

		if (process->tgid != root->pid)
			all.list[all.count++] = (struct relative){
				.key = { process->tgid, process->tgid, process->start_time_ns },
				.parent = snapshot_parent(snapshot, row),
			};
	}
	return find_descendants(&all, root, ret);
}

static bool read_cell(const struct snapshot *snapshot, uint32_t row, const char *name,
		      uint64_t *ret)
{
	return column_get(sheet_find(&snapshot->sheets[SHEET_CGROUPS], name), row, ret) ==
	       CELL_NUMBER;
}

struct job_cgroup job_cgroup_at(const struct snapshot *snapshot, const char *path)
{
	const struct sheet *sheet = &snapshot->sheets[SHEET_CGROUPS];
	struct job_cgroup found = { 0 };

	for (uint32_t row = 0; row < sheet->row_count && !found.exists; row++) {
		if (strcmp(snapshot_text(snapshot, sheet->keys[row]), path) != 0)
			continue;
		found.exists = true;
		found.has_run_time =
			read_cell(snapshot, row, "cpu.stat usage_usec", &found.run_time_ns);
		found.run_time_ns *= 1000;
		found.has_peak = read_cell(snapshot, row, "memory.peak", &found.peak_bytes);
	}
	return found;
}

/* The path is that of the hierarchy that paths are taken from; others may have it, too. */
static void write_places(const struct host *host, const char *path, struct text *places)
{
	static const char *const controllers[] = { "memory", "cpu", "cpuacct" };

	for (size_t i = 0; host->cgroup.version == 1 && i < ARRAY_SIZE(controllers); i++)
		text_format(places, "%zu:%s:%s\n", i + 1, controllers[i], path);
	if (host->cgroup.version == 2)
		text_format(places, "0::%s\n", path);
}

struct job_cgroup job_read_cgroup(struct job_reader *reader, const char *path)
{
	CLEANUP(text_free) struct text places = { 0 };
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	const int tree = reader->host->cgroup.fd;
	CLEANUP(close_fd) int directory = -1;
	struct job_cgroup found = { 0 };

	write_places(reader->host, path, &places);
	if (tree < 0 || !reader->has_trees || places.failed || snapshot_new(&snapshot) < 0)
		return found;
	directory =
		host_open_directory(tree, path[strspn(path, "/")] ? path + strspn(path, "/") : ".");
	if (directory < 0)
		return found;
	if (cgroup_files_read(reader->host, &reader->trees, text_string(&places), snapshot) == 0)
		found = job_cgroup_at(snapshot, path);
	found.exists = true;
	return found;
}
