/* SPDX-License-Identifier: MIT */
#include "session/watch/watch_gpu.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "analyze/anomaly/host_figures.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "collect/capture.h"
#include "model/snapshot/snapshot.h"
#include "session/session.h"
#include "session/watch/watch.h"

#define INTERVAL_NS NS_PER_SECOND
#define COST_PART 200 /* of the time: half a percent */
#define USERS_MAX 4096
#define LAST_TRIES 100 /* at the end, for a driver that has not answered yet */
#define LAST_PAUSE_MS 20

/* Only what is needed to know whose the numbers are. */
#define OTHER_SOURCES                                                                              \
	(((UINT32_C(1) << SOURCE_COUNT) - 1) & ~(1u << SOURCE_STAT | 1u << SOURCE_GPU))

void watch_close_gpu(struct watch_gpu *gpu)
{
	sampling_close(gpu->sampling);
	array_free(&gpu->pids);
	array_free(&gpu->users);
}

/* We are in the list ourselves: a sample of processes that have all ended would fail. */
static int list_members(struct watch *watch)
{
	const struct tree *tree = watch->run->tree;
	struct watch_gpu *gpu = &watch->gpu;
	int status;

	gpu->pids.count = 0;
	status = array_append(&gpu->pids, (int32_t)getpid());
	for (size_t i = 0; i < tree->count && status == 0; i++)
		if (tree->all[i]->live_count)
			status = array_append(&gpu->pids, tree->all[i]->key.pid);
	return status;
}

void watch_open_gpu(struct watch *watch)
{
	struct capture_options options = {
		.lister = LIST_PROCFS, .without = OTHER_SOURCES, .gpu = true, .gpu_ms = 1
	};
	struct error error = { 0 };

	if (!watch->options->gpu)
		return;
	watch->gpu.has_failed = list_members(watch) < 0;
	options.pids = watch->gpu.pids.data;
	options.pid_count = 1;
	if (!watch->gpu.has_failed)
		watch->gpu.has_failed =
			sampling_open(watch->host, &options, &watch->gpu.sampling, &error) < 0;
	watch_sample_gpu(watch, monotonic_ns());
}

static void keep_most(struct run_number *peak, uint64_t value)
{
	if (!peak->present || value > peak->value)
		*peak = (struct run_number){ true, value };
}

/* Those of the host, whoever used its GPUs. */
static void keep_host(struct watch *watch, const struct snapshot *snapshot)
{
	struct run_gpu *run = &watch->run->gpu;
	struct host_sample sample;
	const struct {
		enum host_value value;
		struct run_number *peak;
		double factor;
	} peaks[] = {
		{ HOST_VALUE_gpu_busy_percent, &run->busy_peak_percent, 1 },
		{ HOST_VALUE_gpu_memory_used_bytes, &run->memory_used_peak_bytes, 1 },
		{ HOST_VALUE_gpu_memory_total_bytes, &run->memory_total_bytes, 1 },
		{ HOST_VALUE_gpu_temperature_celsius, &run->temperature_peak_celsius, 1 },
		{ HOST_VALUE_gpu_power_watts, &run->power_peak_milliwatts, 1000 },
	};

	host_figures(NULL, snapshot, &sample);
	for (size_t i = 0; i < ARRAY_SIZE(peaks); i++)
		if (host_sample_has(&sample, peaks[i].value))
			keep_most(
				peaks[i].peak,
				(uint64_t)(sample.values[peaks[i].value] * peaks[i].factor + 0.5));
	keep_most(&run->samples, run->samples.value + 1);
	if (!host_sample_has(&sample, HOST_VALUE_gpu_busy_percent))
		return;
	watch->gpu.busy_sum += sample.values[HOST_VALUE_gpu_busy_percent];
	run->busy_average_percent =
		(struct run_real){ true, watch->gpu.busy_sum / (double)++watch->gpu.busy_samples };
}

static void keep_time(struct watch *watch, const struct process *process, uint64_t time_ns)
{
	struct watch_gpu *gpu = &watch->gpu;
	bool is_old = watch_is_attached(watch) && !watch->options->since_start && !gpu->has_begun;
	struct watch_gpu_user fresh = { process->tgid, process->start_time_ns, is_old ? time_ns : 0,
					time_ns };

	for (size_t i = 0; i < gpu->users.count; i++) {
		struct watch_gpu_user *user = &gpu->users.data[i];

		if (user->pid != process->tgid || user->start_ns != process->start_time_ns)
			continue;
		if (time_ns > user->last_ns)
			user->last_ns = time_ns;
		return;
	}
	if (gpu->users.count < USERS_MAX)
		gpu->has_failed |= array_append(&gpu->users, fresh) < 0;
}

/* Those of the tree: sums over its members at one moment. */
static void keep_tree(struct watch *watch, const struct snapshot *snapshot)
{
	struct run_gpu *run = &watch->run->gpu;
	uint64_t memory = 0, busy = 0, value;
	bool has_memory = false, has_busy = false;

	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		const struct process *process = &snapshot->processes[row];

		if (process->tgid == getpid())
			continue;
		if (snapshot_get(snapshot, METRIC_gpu_memory_bytes, row, &value)) {
			has_memory = true;
			memory += value;
		}
		if (snapshot_get(snapshot, METRIC_gpu_busy_percent, row, &value)) {
			has_busy = true;
			busy += value;
		}
		if (snapshot_get(snapshot, METRIC_gpu_time_ns, row, &value))
			keep_time(watch, process, value);
	}
	if (has_memory)
		keep_most(&run->tree_memory_peak_bytes, memory);
	if (has_busy)
		keep_most(&run->tree_busy_peak_percent, busy);
	watch->gpu.has_begun = true;
}

static const struct source_report *report_of(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->source_count; i++)
		if (source_find(snapshot->sources[i].name) == SOURCE_GPU)
			return &snapshot->sources[i];
	return NULL;
}

/* The source stays one that works once it did: a late answer costs one sample. */
static void keep_report(struct watch *watch, const struct source_report *report)
{
	const struct source_report *before = run_source(watch->run, "gpu");

	if (run_source_works(report) || !run_source_works(before))
		watch->gpu.has_failed |=
			run_set_source(watch->run, "gpu", report->state, report->reason) < 0;
}

static void take(struct watch *watch)
{
	CLEANUP(snapshot_free_pointer) struct snapshot *snapshot = NULL;
	const struct source_report *report;
	struct error error = { 0 };

	if (list_members(watch) < 0) {
		watch->gpu.has_failed = true;
		return;
	}
	sampling_set_pids(watch->gpu.sampling, watch->gpu.pids.data, watch->gpu.pids.count);
	if (sampling_take(watch->gpu.sampling, &snapshot, &error) < 0)
		return;
	report = report_of(snapshot);
	if (!report)
		return;
	keep_report(watch, report);
	if (!run_source_works(report))
		return;
	keep_host(watch, snapshot);
	keep_tree(watch, snapshot);
}

void watch_sample_gpu(struct watch *watch, uint64_t now_ns)
{
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (!watch->gpu.sampling || now_ns < watch->gpu.next_ns)
		return;
	take(watch);
	cpu_ns = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) * COST_PART;
	watch->gpu.next_ns = now_ns + (cpu_ns > INTERVAL_NS ? cpu_ns : INTERVAL_NS);
}

static void sum_up_time(struct watch *watch)
{
	struct run_number *time = &watch->run->gpu.tree_time_ns;

	for (size_t i = 0; i < watch->gpu.users.count; i++) {
		time->present = true;
		time->value += watch->gpu.users.data[i].last_ns - watch->gpu.users.data[i].first_ns;
	}
}

/* A driver that is there, and has not answered at all. */
static bool may_answer(const struct watch *watch)
{
	const struct source_report *source = run_source(watch->run, "gpu");

	return source && source->state == SOURCE_UNAVAILABLE;
}

int watch_finish_gpu(struct watch *watch)
{
	if (!watch->options->gpu)
		return 0;
	for (int i = 0; watch->gpu.sampling && i < LAST_TRIES; i++) {
		take(watch);
		if (!may_answer(watch))
			break;
		poll(NULL, 0, LAST_PAUSE_MS);
	}
	sum_up_time(watch);
	return watch->gpu.has_failed ? -ENOMEM : 0;
}
