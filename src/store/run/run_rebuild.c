/* SPDX-License-Identifier: MIT */
#include "store/run/run_rebuild.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "store/run/run_parts.h"
#include "store/run/run_values.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void notice_time(struct run_rebuild *rebuild, uint64_t time_ns)
{
	if (time_ns > rebuild->latest_ns)
		rebuild->latest_ns = time_ns;
}

static void count_process(struct run_rebuild *rebuild, const struct tree_process *process)
{
	int code, signal;

	rebuild->exits++;
	rebuild->threads += process->threads;
	rebuild->execs += process->execs;
	rebuild->oom_kills += process->oom_killed;
	rebuild->signalled += tree_process_signal(process, &signal);
	rebuild->failed += tree_process_exit_code(process, &code) && code != 0;
	amounts_add(&rebuild->amounts, &process->amounts);
	if (process->facts.present & TREE_PROCESS_PEAK_RSS &&
	    process->facts.peak_rss_bytes > rebuild->largest_rss_bytes)
		rebuild->largest_rss_bytes = process->facts.peak_rss_bytes;
}

/* A pid is free for reuse only after its process ended: so the first one that ends is the root. */
static bool note_root(const struct tree_process *process, struct run *run)
{
	if (process->key.pid != run->pid || run->has_status ||
	    !(process->facts.present & TREE_PROCESS_STATUS))
		return false;
	run->has_status = true;
	run->status = process->facts.status;
	run->oom_killed = process->oom_killed;
	run->killer_pid = process->facts.sender_pid;
	memcpy(run->killer_comm, process->facts.sender_comm, sizeof(run->killer_comm));
	return true;
}

/* A process without a list of threads had only one thread: itself. */
static int keep_only_thread(struct tree *tree, const struct tree_process *process)
{
	struct tree_thread thread = {
		.key = process->key,
		.ended = true,
		.found = process->found,
		.begin_ns = process->begin_ns,
		.end_ns = process->end_ns,
		.amounts = process->amounts,
	};

	memcpy(thread.comm, process->comm, sizeof(thread.comm));
	memcpy(thread.program, process->comm, sizeof(thread.program));
	return tree_keep_thread(tree, &thread);
}

static int keep_threads(const json_t *object, const struct run *run,
			const struct tree_process *process)
{
	const json_t *list = json_object_get(object, "threads");
	int status = 0;

	if (!json_is_array(list))
		return keep_only_thread(run->tree, process);
	for (size_t i = 0; status == 0 && i < json_array_size(list); i++) {
		struct tree_thread thread = { 0 };

		status = run_read_thread(json_array_get(list, i), run, &thread);
		syscall_table_clear(&thread.syscalls);
		thread.ended = true;
		memcpy(thread.program, process->comm, sizeof(thread.program));
		if (status == 0)
			status = tree_keep_thread(run->tree, &thread);
	}
	return status;
}

int run_rebuild_exit(struct run_rebuild *rebuild, const json_t *object, struct run *run)
{
	CLEANUP(tree_process_free_pointer)
	struct tree_process *process = calloc(1, sizeof(*process));
	bool is_root;
	int status = process ? run_read_process(object, run, process) : -ENOMEM;

	if (status < 0)
		return status;
	count_process(rebuild, process);
	is_root = note_root(process, run);
	notice_time(rebuild, process->end_ns);
	status = keep_threads(object, run, process);
	if (status == 0)
		status = run_read_syscalls(json_object_get(object, "syscalls"), &rebuild->syscalls,
					   &rebuild->unnamed_syscalls);
	return status < 0 ? status : tree_keep_process(run->tree, TAKE_PTR(process), is_root);
}

static void count_fork(struct run_rebuild *rebuild, const json_t *object)
{
	int32_t pid = 0, tid = 0;

	member_i32(object, "pid", &pid);
	member_i32(object, "tid", &tid);
	if (pid != tid)
		return;
	rebuild->found += member_flag(object, "found");
	rebuild->forks += !member_flag(object, "found");
}

int run_rebuild_event(struct run_rebuild *rebuild, const json_t *object)
{
	const char *event = member_text(object, "event");

	if (!event)
		return 0;
	rebuild->events++;
	if (strcmp(event, "fork") == 0)
		count_fork(rebuild, object);
	rebuild->exec_events += strcmp(event, "exec") == 0;
	rebuild->oom_events += strcmp(event, "oom_kill") == 0;
	return 0;
}

static void read_sample(const json_t *object, const struct run *run, struct run_sample *ret)
{
	uint64_t offset = 0, kilobytes = 0;

	member_u64(object, "time_ns", &offset);
	ret->time_ns = run->begin_ns + offset;
	run_read_amounts(object, &ret->amounts);
	member_u64(object, "unseen_cpu_ns", &ret->unseen_cpu_ns);
	member_u64(object, "process_count", &ret->processes);
	member_u64(object, "thread_count", &ret->threads);
	ret->has_rss = member_u64(object, "mem_rss_kb", &kilobytes);
	ret->rss_bytes = kilobytes > UINT64_MAX / 1024 ? UINT64_MAX : kilobytes * 1024;
	ret->has_fds = member_u64(object, "open_fds", &ret->open_fds);
}

int run_rebuild_sample(struct run_rebuild *rebuild, const json_t *object, struct run *run)
{
	struct run_sample sample = { 0 };

	read_sample(object, run, &sample);
	run_add_sample(run, &sample);
	member_u64(object, "processes_ever", &rebuild->processes_seen);
	member_u64(object, "threads_ever", &rebuild->threads_seen);
	member_u64(object, "unseen_cpu_ns", &rebuild->unseen_cpu_ns);
	rebuild->most_processes = larger(rebuild->most_processes, sample.processes);
	rebuild->most_threads = larger(rebuild->most_threads, sample.threads);
	notice_time(rebuild, sample.time_ns);
	return 0;
}

int run_rebuild_tree(struct run_rebuild *rebuild, json_t *object, struct run *run)
{
	(void)run;
	json_decref(rebuild->live);
	rebuild->live = json_incref(object);
	return 0;
}

static bool has_ended(const struct tree *tree, const struct task_key *key)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->all[i]->key.pid == key->pid &&
		    tree->all[i]->key.start_ns == key->start_ns)
			return true;
	return false;
}

/* Processes of the last list without an exit line were alive, as far as is known. */
static int add_live(struct run_rebuild *rebuild, struct run *run)
{
	const json_t *list = json_object_get(rebuild->live, "processes");
	int status = 0;

	for (size_t i = 0; status == 0 && i < json_array_size(list); i++) {
		CLEANUP(tree_process_free_pointer)
		struct tree_process *process = calloc(1, sizeof(*process));

		status =
			process ? run_read_process(json_array_get(list, i), run, process) : -ENOMEM;
		if (status < 0 || process->key.pid <= 0 || has_ended(run->tree, &process->key))
			continue;
		rebuild->listed++;
		if (run->tree->count >= 2 * TREE_KEPT)
			continue;
		status = tree_keep_process(run->tree, TAKE_PTR(process), true);
		if (status < 0)
			continue;
		run->tree->all[run->tree->count - 1]->exited = false;
		run->tree->all[run->tree->count - 1]->end_ns = 0;
	}
	return status;
}

/*
 * The last sample has what ended before it, the exit lines have all that
 * ended.  Neither is complete, so the larger one is taken.  A ledger is taken
 * whole, so that its parts add up.
 */
static void set_sums(struct run_rebuild *rebuild, struct run *run)
{
	const struct run_sample *last = &run->last;
	struct tree *tree = run->tree;

	tree->amounts = amounts_get(&last->amounts, AMOUNT_wall_time_ns) >
					amounts_get(&rebuild->amounts, AMOUNT_wall_time_ns) ?
				last->amounts :
				rebuild->amounts;
	tree->syscalls = rebuild->syscalls;
	rebuild->syscalls = (struct syscall_table){ 0 };
	tree->unnamed_syscalls = rebuild->unnamed_syscalls;
	tree->exited = rebuild->exits;
	tree->signalled = rebuild->signalled;
	tree->failed = rebuild->failed;
	tree->unseen_cpu_ns = rebuild->unseen_cpu_ns;
	tree->folded_threads =
		rebuild->threads > tree->ended_count ? rebuild->threads - tree->ended_count : 0;
}

/* A process that was found running is also reported as an exec. */
static uint64_t execs_told(const struct run_rebuild *rebuild)
{
	return rebuild->exec_events > rebuild->found ? rebuild->exec_events - rebuild->found : 0;
}

/* A process that began and did not end was alive, with at least one thread. */
static void set_counts(const struct run_rebuild *rebuild, struct run *run)
{
	struct tree *tree = run->tree;

	tree->forks = rebuild->forks;
	tree->execs = larger(rebuild->execs, execs_told(rebuild));
	tree->oom_kills = larger(rebuild->oom_kills, rebuild->oom_events);
	tree->processes = larger(rebuild->processes_seen, rebuild->forks + rebuild->found);
	tree->processes = larger(tree->processes, rebuild->exits + rebuild->listed);
	tree->live_processes = tree->processes - rebuild->exits;
	if (tree->live_processes)
		tree->live_threads = larger(run->last.threads, tree->live_processes);
	tree->threads = larger(rebuild->threads_seen, rebuild->threads + tree->live_processes);
	tree->most_processes = rebuild->most_processes;
	tree->most_threads = rebuild->most_threads;
	if (!rebuild->forks && !rebuild->found)
		tree->unknown |= TREE_UNKNOWN_FORKS;
	if (!rebuild->events && !rebuild->exits)
		tree->unknown |= TREE_UNKNOWN_EXECS | TREE_UNKNOWN_OOM_KILLS;
	if (!rebuild->most_processes)
		tree->unknown |= TREE_UNKNOWN_MOST_PROCESSES;
	if (!rebuild->most_threads)
		tree->unknown |= TREE_UNKNOWN_MOST_THREADS;
}

static void set_memory(const struct run_rebuild *rebuild, struct run *run)
{
	struct tree *tree = run->tree;

	tree->has_rss = run->last.has_rss;
	tree->rss_bytes = run->last.rss_bytes;
	tree->largest_rss_bytes = rebuild->largest_rss_bytes;
	tree->peak_rss_bytes = larger(run->sampling.peak_rss_bytes.value, tree->largest_rss_bytes);
	tree->has_peak_rss = tree->peak_rss_bytes != 0;
	tree->has_fds = run->last.has_fds;
	tree->open_fds = run->last.open_fds;
}

/* Scopes were searched for, but their sums are only in the summary. */
static int set_phases(struct run *run)
{
	if (!run_source_works(run_source(run, "scopes")))
		return 0;
	return run_set_source(run, "scopes", "unavailable",
			      "the phases are in the summary, which the file has none of");
}

int run_rebuild_finish(struct run_rebuild *rebuild, struct run *run)
{
	int status = add_live(rebuild, run);

	if (status < 0)
		return status;
	run->end = RUN_UNFINISHED;
	run->end_ns = rebuild->latest_ns;
	set_sums(rebuild, run);
	set_counts(rebuild, run);
	set_memory(rebuild, run);
	status = set_phases(run);
	if (status < 0)
		return status;
	/* Nothing is left to add: this finds the top waits among the threads. */
	return tree_settle(run->tree);
}

void run_rebuild_free(struct run_rebuild *rebuild)
{
	syscall_table_clear(&rebuild->syscalls);
	json_decref(rebuild->live);
	*rebuild = (struct run_rebuild){ 0 };
}
