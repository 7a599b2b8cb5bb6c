/* SPDX-License-Identifier: MIT */
#include "model/tree/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "model/counter.h"
#include "model/path/timeline.h"
#include "model/profile/profile.h"
#include "model/snapshot/snapshot.h"
#include "model/tree/run_order.h"

/* In shorter intervals the error of the source's clock is too large. */
#define CORES_INTERVAL_NS 50000000

/*
 * The kernel charges by another clock than the wall's, so some excess is normal.  With more than
 * this the wall time is not known.
 */
#define CORES_EXCESS 1.25

static const char *const end_names[] = {
	[RUN_UNFINISHED] = "unfinished",
	[RUN_EXITED] = "exited",
	[RUN_TIMED_OUT] = "timed_out",
	[RUN_DETACHED] = "detached",
};

const char *run_end_name(enum run_end end)
{
	return end_names[end];
}

bool run_end_find(const char *name, enum run_end *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(end_names); i++) {
		if (strcmp(end_names[i], name) != 0)
			continue;
		*ret = (enum run_end)i;
		return true;
	}
	return false;
}

int run_new(struct run **ret)
{
	CLEANUP(run_free_pointer) struct run *run = calloc(1, sizeof(*run));
	int status;

	if (!run)
		return -ENOMEM;
	status = tree_new(&run->tree);
	if (status < 0)
		return status;
	*ret = TAKE_PTR(run);
	return 0;
}

void run_free(struct run *run)
{
	if (!run)
		return;
	tree_free(run->tree);
	snapshot_free(run->host);
	snapshot_free(run->states);
	timeline_free(run->timeline);
	critical_path_free(&run->path);
	profile_free(run->profile);
	phases_free(&run->phases);
	run_past_free(&run->past);
	arena_clear(&run->arena);
	free(run);
}

static const char *copy_text(struct run *run, const char *text)
{
	return arena_copy(&run->arena, text, strlen(text));
}

static int make_source(struct run *run, const char *name, enum source_state state,
		       const char *reason, struct source_report *ret)
{
	struct source_report source = { .name = copy_text(run, name), .state = state };

	if (!source.name)
		return -ENOMEM;
	if (reason && !(source.reason = copy_text(run, reason)))
		return -ENOMEM;
	*ret = source;
	return 0;
}

int run_add_source(struct run *run, const char *name, enum source_state state, const char *reason)
{
	int status;

	if (run->source_count == RUN_SOURCES_MAX)
		return -ENOSPC;
	status = make_source(run, name, state, reason, &run->sources[run->source_count]);
	run->source_count += status == 0;
	return status;
}

int run_set_source(struct run *run, const char *name, enum source_state state, const char *reason)
{
	for (size_t i = 0; i < run->source_count; i++)
		if (strcmp(run->sources[i].name, name) == 0)
			return make_source(run, name, state, reason, &run->sources[i]);
	return run_add_source(run, name, state, reason);
}

const struct source_report *run_source(const struct run *run, const char *name)
{
	for (size_t i = 0; i < run->source_count; i++)
		if (strcmp(run->sources[i].name, name) == 0)
			return &run->sources[i];
	return NULL;
}

static bool began_before(const struct tree_process *process, const struct tree_process *other)
{
	if (process->key.start_ns && other->key.start_ns)
		return process->key.start_ns < other->key.start_ns;
	return process->begin_ns < other->begin_ns;
}

struct tree_process *run_find_process(const struct run *run, int32_t pid)
{
	const struct tree *tree = run->tree;
	struct tree_process *found = NULL;

	for (size_t i = 0; i < tree->count; i++)
		if (tree->all[i]->key.pid == pid && (!found || began_before(tree->all[i], found)))
			found = tree->all[i];
	return found;
}

void run_find_root(struct run *run)
{
	struct tree_process *found = run_find_process(run, run->pid);

	if (found)
		run->tree->root = found;
}

int run_set_pids(struct run *run, const int32_t *pids, size_t count)
{
	run->pids = arena_alloc(&run->arena, count * sizeof(*pids));
	if (!run->pids)
		return -ENOMEM;
	memcpy(run->pids, pids, count * sizeof(*pids));
	run->pid_count = count;
	run->pid = pids[0];
	return 0;
}

void run_learn_end(struct run *run)
{
	const struct tree_process *root = run->tree->root;

	if (!root || root->key.pid != run->pid)
		return;
	if (!run->has_status && root->exited && root->facts.present & TREE_PROCESS_STATUS) {
		run->has_status = true;
		run->status = root->facts.status;
	}
	run->oom_killed = root->oom_killed;
	if (root->facts.present & TREE_PROCESS_SENDER) {
		run->killer_pid = root->facts.sender_pid;
		memcpy(run->killer_comm, root->facts.sender_comm, sizeof(run->killer_comm));
	}
}

static void number_raise(struct run_number *number, uint64_t value)
{
	number->present = true;
	counter_raise(&number->value, value);
}

static void measure_interval(struct run_sampling *sampling, uint64_t interval_ns)
{
	struct run_number *shortest = &sampling->shortest_ns;

	if (!shortest->present || interval_ns < shortest->value)
		*shortest = (struct run_number){ true, interval_ns };
	number_raise(&sampling->longest_ns, interval_ns);
	counter_add(&sampling->covered_ns, interval_ns);
}

/* Between two samples the RSS counts as the mean of both. */
static void average_rss(struct run_sampling *sampling, const struct run_sample *before,
			const struct run_sample *now, uint64_t interval_ns)
{
	double mean = ((double)before->rss_bytes + (double)now->rss_bytes) / 2;
	struct run_real *average = &sampling->rss_average;

	if (!before->has_rss || !now->has_rss)
		return;
	counter_add(&sampling->rss_ns, interval_ns);
	average->present = true;
	average->value += (mean - average->value) * (double)interval_ns / (double)sampling->rss_ns;
}

bool run_sample_cpu(const struct run_sample *sample, uint64_t *ret)
{
	*ret = amounts_cpu_ns(&sample->amounts);
	counter_add(ret, sample->unseen_cpu_ns);
	return amounts_has_cpu(&sample->amounts) || sample->unseen_cpu_ns;
}

static void raise_cores(struct run_sampling *sampling, double cores)
{
	struct run_real *peak = &sampling->cores_peak;

	if (!peak->present || cores > peak->value)
		*peak = (struct run_real){ true, cores };
}

/*
 * The first interval begins with the run, with 0 used; where that is not known, with the first
 * sample.
 */
static void begin_mark(struct run *run, const struct run_sample *first)
{
	run->sampling.mark_ns = run->begin_ns ? run->begin_ns : first->time_ns;
	if (!run->begin_ns)
		run_sample_cpu(first, &run->sampling.mark_cpu_ns);
}

static void find_busiest(struct run *run, const struct run_sample *now)
{
	struct run_sampling *sampling = &run->sampling;
	uint64_t cpu_ns, interval_ns;
	double cores;

	if (!run_sample_cpu(now, &cpu_ns))
		return;
	if (!sampling->mark_ns)
		begin_mark(run, now);
	if (now->time_ns < sampling->mark_ns ||
	    now->time_ns - sampling->mark_ns < CORES_INTERVAL_NS)
		return;
	interval_ns = now->time_ns - sampling->mark_ns;
	/* In a file the CPU time may fall. */
	if (cpu_ns < sampling->mark_cpu_ns)
		cpu_ns = sampling->mark_cpu_ns;
	cores = (double)(cpu_ns - sampling->mark_cpu_ns) / (double)interval_ns;
	/* A source that counts in ticks can charge more time than there was. */
	if (run->limits.online_cpus && cores > run->limits.online_cpus)
		cores = run->limits.online_cpus;
	raise_cores(sampling, cores);
	sampling->mark_ns = now->time_ns;
	sampling->mark_cpu_ns = cpu_ns;
}

static void take_sample(const struct tree *tree, uint64_t time_ns, struct run_sample *ret)
{
	*ret = (struct run_sample){
		.time_ns = time_ns,
		.amounts = tree->amounts,
		.unseen_cpu_ns = tree->unseen_cpu_ns,
		.processes = tree->live_processes,
		.threads = tree->live_threads,
		.has_rss = tree->has_rss,
		.has_fds = tree->has_fds,
		.rss_bytes = tree->rss_bytes,
		.open_fds = tree->open_fds,
	};
}

void run_add_sample(struct run *run, const struct run_sample *sample)
{
	struct run_sampling *sampling = &run->sampling;

	if (sampling->samples && sample->time_ns > run->last.time_ns) {
		uint64_t interval_ns = sample->time_ns - run->last.time_ns;

		measure_interval(sampling, interval_ns);
		average_rss(sampling, &run->last, sample, interval_ns);
	}
	find_busiest(run, sample);
	if (sample->has_rss)
		number_raise(&sampling->peak_rss_bytes, sample->rss_bytes);
	if (sample->has_fds)
		number_raise(&sampling->most_fds, sample->open_fds);
	sampling->samples++;
	run_past_sample(&run->past, sample);
	run->previous = run->last;
	run->last = *sample;
}

void run_sample(struct run *run, uint64_t time_ns)
{
	struct run_sample now;

	tree_sampled(run->tree);
	take_sample(run->tree, time_ns, &now);
	run_add_sample(run, &now);
}

/* The most cores that can be busy: no more than CPUs, or threads; 0 when neither is known. */
static double most_cores(const struct run *run)
{
	uint64_t cpus = run->limits.online_cpus, threads = run->tree->threads;

	/* The thread count lacks threads that nobody saw. */
	if (!threads || run->tree->unseen_cpu_ns || run->losses.untracked_tasks)
		return (double)cpus;
	return (double)(!cpus || threads < cpus ? threads : cpus);
}

uint64_t run_seen_cpu_ns(const struct run *run)
{
	uint64_t cpu_ns;

	run_amounts_cpu(&run->tree->amounts, &cpu_ns);
	return cpu_ns;
}

uint64_t run_unseen_cpu_ns(const struct run *run)
{
	uint64_t seen = run_seen_cpu_ns(run), all = amounts_cpu_ns(&run->tree->amounts);

	counter_add(&all, run->tree->unseen_cpu_ns);
	/*
	 * The kernel charges at other moments than the switches: threads that sleep a thousand times
	 * a second are charged a fifth more.  So only a gap above 2 % of a run that missed something
	 * is time of others.
	 */
	return run_lower_bounds(run) & RUN_BOUND_CPU && all > seen &&
			       all - seen > run->tree->unseen_cpu_ns + all / 50 ?
		       all - seen :
		       run->tree->unseen_cpu_ns;
}

bool run_knows_cpu(const struct run *run)
{
	const struct amounts *amounts = &run->tree->amounts;

	return amounts_has(amounts, AMOUNT_run_time_ns) || amounts_has_cpu(amounts) ||
	       run->tree->unseen_cpu_ns;
}

double run_cores(const struct run *run)
{
	uint64_t wall_ns = run_wall_ns(run);
	double most = most_cores(run), cores;

	if (!wall_ns || !run_knows_cpu(run))
		return -1;
	cores = (double)(run_seen_cpu_ns(run) + run_unseen_cpu_ns(run)) / (double)wall_ns;
	if (most <= 0 || cores <= most)
		return cores;
	return cores <= most * CORES_EXCESS ? most : -1;
}

unsigned run_lower_bounds(const struct run *run)
{
	const unsigned all = RUN_BOUND_PROCESSES | RUN_BOUND_CPU | RUN_BOUND_MEMORY;
	const struct run_losses *losses = &run->losses;
	const struct {
		uint64_t lost;
		unsigned bounds;
	} rows[] = {
		{ run->tracer_misses != NULL, all },
		{ losses->events, all },
		{ losses->untracked_tasks, all },
		{ losses->unmatched_events, RUN_BOUND_PROCESSES | RUN_BOUND_CPU },
		{ losses->threads, RUN_BOUND_CPU },
		{ losses->tracer_failures.value, RUN_BOUND_CPU | RUN_BOUND_MEMORY },
	};
	unsigned bounds = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		bounds |= rows[i].lost ? rows[i].bounds : 0;
	return bounds;
}
