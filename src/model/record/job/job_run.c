/* SPDX-License-Identifier: MIT */
#include "model/record/job/job_run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/collection/array.h"
#include "model/syscall/syscall.h"
#include "model/tree/run.h"
#include "model/tree/run_order.h"

static void set_memory(const struct tree *tree, struct job_figures *ret,
		       enum job_memory *ret_memory)
{
	uint64_t most = tree->has_peak_rss ? tree->peak_rss_bytes : 0;

	if (tree->largest_rss_bytes)
		job_set(ret, JOB_peak_rss_bytes, (double)tree->largest_rss_bytes);
	if (tree->largest_rss_bytes > most)
		most = tree->largest_rss_bytes;
	if (!most)
		return;
	job_set(ret, JOB_peak_memory_bytes, (double)most);
	*ret_memory = JOB_MEMORY_RSS;
}

/* Signals that were sent, where the tracer sees them; at least those that ended a process. */
static void set_signals(const struct run *run, struct job_figures *ret)
{
	uint64_t signals = 0, kills = 0, deadly = 0;

	for (size_t i = 0; i < run->past.events.count; i++) {
		const struct past_event *event = &run->past.events.data[i];

		if (strcmp(event->event, tree_event_names[TREE_SIGNAL]) != 0)
			continue;
		signals++;
		kills += event->signal == SIGKILL;
	}
	for (size_t i = 0; i < run->tree->count; i++) {
		int signal;

		deadly += tree_process_signal(run->tree->all[i], &signal) && signal == SIGKILL;
	}
	if (signals < run->tree->signalled)
		signals = run->tree->signalled;
	job_set(ret, JOB_signals, (double)signals);
	job_set(ret, JOB_kills, (double)(kills > deadly ? kills : deadly));
}

/* One that was too short to be sampled has its average; a peak is never less. */
static void set_peak_cpu(const struct run *run, struct job_figures *ret)
{
	double peak = run->sampling.cores_peak.present ? run->sampling.cores_peak.value : 0;
	uint64_t wall_ns = run_wall_ns(run);
	double average = job_has(ret, JOB_run_time_ns) && wall_ns ?
				 ret->values[JOB_run_time_ns] / (double)wall_ns :
				 0;

	if (run->sampling.cores_peak.present || average > 0)
		job_set(ret, JOB_peak_cpu_percent, 100 * (average > peak ? average : peak));
}

const char *job_run_lacks(const struct job_figures *figures)
{
	if (job_has(figures, JOB_run_time_ns) && job_has(figures, JOB_peak_memory_bytes) &&
	    job_has(figures, JOB_read_bytes))
		return NULL;
	return "the run was watched without BPF, which sees less of short processes; "
	       "`taskscope doctor` says what BPF needs";
}

static void set_gpu(const struct run_gpu *gpu, struct job_figures *ret)
{
	if (gpu->tree_memory_peak_bytes.present)
		job_set(ret, JOB_peak_gpu_memory_bytes, (double)gpu->tree_memory_peak_bytes.value);
	if (gpu->tree_busy_peak_percent.present)
		job_set(ret, JOB_peak_gpu_busy_percent, (double)gpu->tree_busy_peak_percent.value);
}

void job_figures_of_run(const struct run *run, struct job_figures *ret, enum job_memory *ret_memory)
{
	static const struct {
		enum amount_id amount;
		enum job_value value;
	} amounts[] = {
		{ AMOUNT_read_bytes, JOB_read_bytes },
		{ AMOUNT_write_bytes, JOB_write_bytes },
	};
	const struct tree *tree = run->tree;

	*ret = (struct job_figures){ 0 };
	*ret_memory = JOB_MEMORY_UNKNOWN;
	if (run_knows_cpu(run))
		job_set(ret, JOB_run_time_ns,
			(double)(run_seen_cpu_ns(run) + run_unseen_cpu_ns(run)));
	set_memory(tree, ret, ret_memory);
	set_peak_cpu(run, ret);
	for (size_t i = 0; i < ARRAY_SIZE(amounts); i++)
		if (amounts_has(&tree->amounts, amounts[i].amount))
			job_set(ret, amounts[i].value,
				(double)amounts_get(&tree->amounts, amounts[i].amount));
	set_gpu(&run->gpu, ret);
	job_set(ret, JOB_processes, (double)tree->processes);
	if (!(tree->unknown & TREE_UNKNOWN_FORKS))
		job_set(ret, JOB_spawns, (double)tree->forks);
	job_set(ret, JOB_exits, (double)tree->exited);
	job_set(ret, JOB_failed_exits, (double)(tree->failed + tree->signalled));
	set_signals(run, ret);
	if (!(tree->unknown & TREE_UNKNOWN_OOM_KILLS))
		job_set(ret, JOB_ooms, (double)tree->oom_kills);
}

size_t job_syscalls_of_run(const struct run *run, struct job_syscall *ret, size_t most)
{
	const struct syscall_table *calls = &run->tree->syscalls;
	CLEANUP(free_pointer)
	const struct syscall_row **rows = run_syscalls_sorted(calls, run_syscalls_by_time);
	size_t count = !rows ? 0 : calls->count < most ? calls->count : most;

	for (size_t i = 0; i < count; i++)
		ret[i] = (struct job_syscall){
			.name = rows[i]->name,
			.calls = rows[i]->stats.count,
			.errors = rows[i]->stats.errors,
			.time_ns = rows[i]->stats.total_ns,
		};
	return count;
}
