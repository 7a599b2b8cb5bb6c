/* SPDX-License-Identifier: MIT */
#include "store/run_rebuild.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "store/run_parts.h"
#include "store/run_values.h"

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t cpu_of(const struct tree_process *process)
{
	return process->usage.values[USAGE_CPU];
}

static uint64_t weight_of(const struct tree_thread *thread)
{
	return ledger_costly_ns(&thread->ledger) + thread->ledger.on_cpu_ns;
}

static void notice_time(struct run_rebuild *rebuild, uint64_t time_ns)
{
	if (time_ns > rebuild->latest_ns)
		rebuild->latest_ns = time_ns;
}

static struct tree_process *find_weakest(const struct tree *tree)
{
	struct tree_process *weakest = tree->count ? tree->all[0] : NULL;

	for (size_t i = 1; i < tree->count; i++)
		if (cpu_of(tree->all[i]) < cpu_of(weakest))
			weakest = tree->all[i];
	return weakest;
}

/* A place for a process with so much CPU time; NULL when those that are there have more. */
static struct tree_process *find_place(struct run_rebuild *rebuild, struct tree *tree, uint64_t cpu)
{
	struct tree_process *place = NULL;

	if (tree->count < TREE_KEPT)
		return tree_add_process(tree);
	rebuild->folded++;
	if (!rebuild->weakest)
		rebuild->weakest = find_weakest(tree);
	if (rebuild->weakest && cpu_of(rebuild->weakest) < cpu) {
		place = rebuild->weakest;
		rebuild->weakest = NULL;
		free(place->arguments);
	}
	return place;
}

/* What the tree gave it stays. */
static void fill_place(struct tree_process *place, struct tree_process *process)
{
	process->state = place->state;
	process->exited = true;
	*place = *process;
	process->arguments = NULL;
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
	usage_add(&rebuild->usage, &process->usage);
	ledger_add(&rebuild->ledger, &process->ledger);
	if (process->facts.present & TREE_PROCESS_PEAK_RSS &&
	    process->facts.peak_rss_bytes > rebuild->largest_rss_bytes)
		rebuild->largest_rss_bytes = process->facts.peak_rss_bytes;
}

/* Only its end frees the number for another: the first one that ends is the root. */
static void note_root(const struct tree_process *process, struct run *run)
{
	if (process->key.pid != run->pid || run->has_status ||
	    !(process->facts.present & TREE_PROCESS_STATUS))
		return;
	run->has_status = true;
	run->status = process->facts.status;
	run->oom_killed = process->oom_killed;
	run->killer_pid = process->facts.sender_pid;
	memcpy(run->killer_comm, process->facts.sender_comm, sizeof(run->killer_comm));
}

static void find_weakest_thread(struct run_rebuild *rebuild)
{
	size_t weakest = 0;

	for (size_t i = 1; i < rebuild->ended_count; i++)
		if (rebuild->weights[i] < rebuild->weights[weakest])
			weakest = i;
	rebuild->weakest_thread = weakest;
}

static int add_thread(struct run_rebuild *rebuild, const struct tree_thread *thread)
{
	if (array_reserve_bytes((void **)&rebuild->ended, &rebuild->ended_capacity,
				rebuild->ended_count + 1, sizeof(*rebuild->ended)) < 0)
		return -ENOMEM;
	rebuild->weights[rebuild->ended_count] = weight_of(thread);
	rebuild->ended[rebuild->ended_count++] = *thread;
	if (rebuild->ended_count == TREE_KEPT)
		find_weakest_thread(rebuild);
	return 0;
}

static int keep_thread(struct run_rebuild *rebuild, const struct tree_thread *thread)
{
	uint64_t weight = weight_of(thread);

	if (rebuild->ended_count < TREE_KEPT)
		return add_thread(rebuild, thread);
	if (rebuild->weights[rebuild->weakest_thread] >= weight)
		return 0;
	rebuild->weights[rebuild->weakest_thread] = weight;
	rebuild->ended[rebuild->weakest_thread] = *thread;
	find_weakest_thread(rebuild);
	return 0;
}

/* A process without a list of threads had one, and is it. */
static int keep_only_thread(struct run_rebuild *rebuild, const struct tree_process *process)
{
	struct tree_thread thread = {
		.key = process->key,
		.ended = true,
		.found = process->found,
		.begin_ns = process->begin_ns,
		.end_ns = process->end_ns,
		.usage = process->usage,
		.ledger = process->ledger,
	};

	memcpy(thread.comm, process->comm, sizeof(thread.comm));
	return keep_thread(rebuild, &thread);
}

static int keep_threads(struct run_rebuild *rebuild, const json_t *object, const struct run *run,
			const struct tree_process *process)
{
	const json_t *list = json_object_get(object, "threads_detail");
	int status = 0;

	if (!json_is_array(list))
		return keep_only_thread(rebuild, process);
	for (size_t i = 0; status == 0 && i < json_array_size(list); i++) {
		struct tree_thread thread = { 0 };

		status = run_read_thread(json_array_get(list, i), run, &thread);
		syscall_table_clear(&thread.syscalls);
		thread.ended = true;
		if (status == 0)
			status = keep_thread(rebuild, &thread);
	}
	return status;
}

static void free_arguments(struct tree_process *process)
{
	free(process->arguments);
}

int run_rebuild_exit(struct run_rebuild *rebuild, const json_t *object, struct run *run)
{
	CLEANUP(free_arguments) struct tree_process process = { 0 };
	struct tree_process *place;
	int status = run_read_process(object, run, &process);

	if (status < 0)
		return status;
	count_process(rebuild, &process);
	note_root(&process, run);
	notice_time(rebuild, process.end_ns);
	status = keep_threads(rebuild, object, run, &process);
	if (status == 0)
		status = run_read_syscalls(json_object_get(object, "syscalls"), &rebuild->syscalls,
					   &rebuild->unnamed_syscalls);
	if (status < 0)
		return status;
	place = find_place(rebuild, run->tree, cpu_of(&process));
	if (place)
		fill_place(place, &process);
	return 0;
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
	run_read_usage(object, &ret->usage);
	run_read_ledger(json_object_get(object, "ledger"), &ret->ledger);
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
	member_u64(object, "processes", &rebuild->processes_seen);
	member_u64(object, "threads", &rebuild->threads_seen);
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

/* Those of the last list that no exit line is about were alive, as far as can be told. */
static int add_live(struct run_rebuild *rebuild, struct run *run)
{
	const json_t *list = json_object_get(rebuild->live, "processes");
	int status = 0;

	for (size_t i = 0; status == 0 && i < json_array_size(list); i++) {
		CLEANUP(free_arguments) struct tree_process process = { 0 };
		struct tree_process *place = NULL;

		status = run_read_process(json_array_get(list, i), run, &process);
		if (status == 0 && process.key.pid > 0 && !has_ended(run->tree, &process.key)) {
			rebuild->listed++;
			place = tree_add_process(run->tree);
		}
		if (!place)
			continue;
		fill_place(place, &process);
		place->exited = false;
		place->end_ns = 0;
	}
	return status;
}

/*
 * The last sample has what ended before it, the exit lines have what ended at all: neither is the
 * whole, so the larger one is what is known.  A ledger is taken as it is, that its parts add up.
 */
static void set_sums(struct run_rebuild *rebuild, struct run *run)
{
	const struct run_sample *last = &run->last;
	struct tree *tree = run->tree;

	tree->usage = rebuild->usage;
	usage_raise(&tree->usage, &last->usage);
	tree->ledger =
		last->ledger.wall_ns > rebuild->ledger.wall_ns ? last->ledger : rebuild->ledger;
	tree->syscalls = rebuild->syscalls;
	rebuild->syscalls = (struct syscall_table){ 0 };
	tree->unnamed_syscalls = rebuild->unnamed_syscalls;
	tree->exited = rebuild->exits;
	tree->signalled = rebuild->signalled;
	tree->failed = rebuild->failed;
	tree->unseen_cpu_ns = rebuild->unseen_cpu_ns;
	tree->folded_processes = rebuild->folded;
	tree->folded_threads = rebuild->threads > rebuild->ended_count ?
				       rebuild->threads - rebuild->ended_count :
				       0;
}

/* What a process that was found runs already is told as an exec, too. */
static uint64_t execs_told(const struct run_rebuild *rebuild)
{
	return rebuild->exec_events > rebuild->found ? rebuild->exec_events - rebuild->found : 0;
}

/* Whoever began and did not end was alive, with one thread at least. */
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

/* Scopes were looked for, and what they add up to is in the summary alone. */
static int set_phases(struct run *run)
{
	if (!run_source_works(run_source(run, "scopes")))
		return 0;
	return run_set_source(run, "scopes", "unavailable",
			      "the phases are in the summary, which the file has none of");
}

static int add_threads(struct run_rebuild *rebuild, struct tree *tree)
{
	for (size_t i = 0; i < rebuild->ended_count; i++) {
		struct tree_thread *thread = tree_add_thread(tree);

		if (!thread)
			return -ENOMEM;
		*thread = rebuild->ended[i];
	}
	return 0;
}

int run_rebuild_finish(struct run_rebuild *rebuild, struct run *run)
{
	int status = add_live(rebuild, run);

	if (status == 0)
		status = add_threads(rebuild, run->tree);
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
	/* Nothing is left to be added: this finds the top waits among the threads. */
	return tree_settle(run->tree);
}

void run_rebuild_free(struct run_rebuild *rebuild)
{
	syscall_table_clear(&rebuild->syscalls);
	free(rebuild->ended);
	json_decref(rebuild->live);
	*rebuild = (struct run_rebuild){ 0 };
}
