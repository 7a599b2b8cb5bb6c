/* SPDX-License-Identifier: MIT */
/*
 * Decides what counts of the events about members: with --exclude-children only those of the
 * processes themselves, with --since-process-start only what the kernel counts from the start of a
 * process.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "base/file.h"
#include "host/host.h"
#include "session/session.h"
#include "session/watch/watch.h"
#include "trace/proc/proc_sample.h"

#define IO_SIZE 512

/* What the kernel counts from the start of a task. */
static const enum amount_id lifelong[] = {
	AMOUNT_run_time_ns,   AMOUNT_wait_time_ns,
	AMOUNT_utime_ns,      AMOUNT_stime_ns,
	AMOUNT_read_bytes,    AMOUNT_write_bytes,
	AMOUNT_rchar,	      AMOUNT_wchar,
	AMOUNT_syscr,	      AMOUNT_syscw,
	AMOUNT_minflt,	      AMOUNT_majflt,
	AMOUNT_voluntary_csw, AMOUNT_nonvoluntary_csw,
};

int watch_know_roots(struct watch *watch, const int32_t *pids, size_t count)
{
	watch->members.roots = calloc(count, sizeof(*watch->members.roots));
	if (!watch->members.roots)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		watch->members.roots[i].pid = pids[i];
	watch->members.root_count = count;
	watch->run->since_start = watch->options->since_start;
	watch->run->children_excluded.present = watch->options->exclude_children;
	return 0;
}

static struct task_key *find_root(struct watch *watch, int32_t pid)
{
	for (size_t i = 0; i < watch->members.root_count; i++)
		if (watch->members.roots[i].pid == pid)
			return &watch->members.roots[i];
	return NULL;
}

/* A process that begins with the number of a root that has ended is another one. */
static bool is_of_root(struct watch *watch, const struct tree_event *event, bool is_birth)
{
	struct task_key *root = find_root(watch, event->task.pid);

	if (!root)
		return false;
	if (is_birth && root->start_ns && root->start_ns != event->task.start_ns) {
		root->pid = 0;
		return false;
	}
	if (is_birth)
		root->start_ns = event->task.start_ns;
	return true;
}

bool watch_leaves_out(struct watch *watch, const struct tree_event *event)
{
	bool is_birth = event->type == TREE_FORK && event->task.pid == event->task.tid;

	if (!watch->options->exclude_children || is_of_root(watch, event, is_birth))
		return false;
	watch->run->children_excluded.value += is_birth;
	return true;
}

static uint64_t to_monotonic(uint64_t start_ns)
{
	uint64_t asleep_ns = suspended_ns();

	return start_ns > asleep_ns ? start_ns - asleep_ns : 0;
}

void watch_begin_with_roots(struct watch *watch)
{
	struct run *run = watch->run;

	for (size_t i = 0; i < watch->members.root_count && run->since_start; i++) {
		struct proc_sample sample;
		uint64_t start_ns;

		if (proc_sample_process(watch->host, watch->members.roots[i].pid, &sample) < 0)
			continue;
		start_ns = to_monotonic(sample.start_ns);
		if (start_ns >= run->begin_ns)
			continue;
		run->begin_unix_ns -= run->begin_ns - start_ns;
		run->begin_ns = start_ns;
	}
}

static void keep_lifelong(struct amounts *amounts)
{
	struct amounts kept = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(lifelong); i++)
		if (amounts_has(amounts, lifelong[i]))
			amounts_set(&kept, lifelong[i], amounts_get(amounts, lifelong[i]));
	*amounts = kept;
}

void watch_adapt_event(struct watch *watch, struct tree_event *event)
{
	if (event->type == TREE_PROCESS && watch->options->exclude_children)
		event->process.present &= ~(unsigned)TREE_PROCESS_UNSEEN;
	if (!watch->options->since_start)
		return;
	if (event->type == TREE_THREAD)
		keep_lifelong(&event->account.amounts);
	if (event->type != TREE_FORK || !event->fork.found || !event->task.start_ns)
		return;
	event->time_ns = to_monotonic(event->task.start_ns);
}

int watch_report_members(struct watch *watch)
{
	static const char *const unknown[] = { "ledger", "syscalls", "critical_path" };
	int status = 0;

	if (!watch->options->since_start)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(unknown) && status == 0; i++) {
		const struct source_report *source = run_source(watch->run, unknown[i]);

		if (source && source->state != SOURCE_UNAVAILABLE)
			status = run_set_source(watch->run, unknown[i], SOURCE_OFF,
						WATCH_UNKNOWN_PAST);
	}
	return status;
}

/* What all threads of a process used, ended ones included; of I/O also waited-for children. */
static int read_whole(const struct watch *watch, const struct task_key *key, struct amounts *ret)
{
	CLEANUP(close_fd)
	int directory = process_directory(watch->host, key->pid, key->start_ns);
	struct proc_sample sample;
	char text[IO_SIZE];
	int status =
		directory < 0 ? directory : proc_sample_process(watch->host, key->pid, &sample);

	if (status < 0)
		return status;
	if (file_read(directory, "io", text, sizeof(text)) >= 0)
		proc_sample_parse_io(text, &sample);
	*ret = sample.counters;
	keep_lifelong(ret);
	return 0;
}

struct whole {
	struct task_key key;
	struct amounts amounts;
};

/* Adds what threads that had ended before used, as far as the process has it. */
static void add_ended(struct watch *watch, const struct whole *whole)
{
	const struct tree_process *process = tree_find(watch->run->tree, whole->key.pid);
	struct amounts rest = { 0 }, present = { 0 };

	if (!process || process->key.start_ns != whole->key.start_ns ||
	    !amounts_rest(&whole->amounts, &process->amounts, &rest))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(lifelong); i++)
		if (amounts_has(&process->amounts, lifelong[i]) && amounts_get(&rest, lifelong[i]))
			amounts_set(&present, lifelong[i], amounts_get(&rest, lifelong[i]));
	tree_add_past(watch->run->tree, whole->key.pid, &present);
}

/*
 * The wholes are read first: what the threads use until the sample is then missing from the rest,
 * and not in both.
 */
int watch_begin_samples(struct watch *watch)
{
	const struct tree *tree = watch->run->tree;
	CLEANUP(free_pointer) struct whole *wholes = NULL;
	size_t count = 0;

	if (watch->options->since_start) {
		wholes = calloc(tree->count + 1, sizeof(*wholes));
		if (!wholes)
			return -ENOMEM;
	}
	for (size_t i = 0; wholes && i < tree->count; i++) {
		wholes[count].key = tree->all[i]->key;
		count += read_whole(watch, &wholes[count].key, &wholes[count].amounts) == 0;
	}
	watch_sample(watch, TRACER_SAMPLE);
	for (size_t i = 0; i < count; i++)
		add_ended(watch, &wholes[i]);
	return 0;
}
