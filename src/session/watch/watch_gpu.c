/* SPDX-License-Identifier: MIT */
#include "session/watch/watch_gpu.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/anomaly/host_figures.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "collect/capture.h"
#include "model/snapshot/snapshot.h"
#include "session/session.h"
#include "session/watch/watch.h"
#include "trace/proc/proc_sample.h"

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

/* The member that a row is about, or NULL: another process may have got its number since. */
static const struct tree_process *member_of(const struct watch *watch,
					    const struct process *process)
{
	const struct tree_process *member = tree_find(watch->run->tree, process->tgid);

	if (process->tgid == getpid() || !member)
		return NULL;
	return !member->key.start_ns || proc_sample_is_start(watch->host, process->start_time_ns,
							     member->key.start_ns) ?
		       member :
		       NULL;
}

/* Its place among the users, a new one if need be.  NULL when there is no room. */
static struct watch_gpu_user *user_of(struct watch *watch, const struct task_key *key)
{
	struct watch_gpu *gpu = &watch->gpu;
	struct watch_gpu_user fresh = { .total = { .pid = key->pid, .start_ns = key->start_ns } };

	for (size_t i = 0; i < gpu->users.count; i++)
		if (gpu->users.data[i].total.pid == key->pid &&
		    gpu->users.data[i].total.start_ns == key->start_ns)
			return &gpu->users.data[i];
	if (gpu->users.count >= USERS_MAX) {
		keep_most(&watch->run->gpu.lost_users, watch->run->gpu.lost_users.value + 1);
		return NULL;
	}
	if (array_append(&gpu->users, fresh) < 0) {
		gpu->has_failed = true;
		return NULL;
	}
	return &gpu->users.data[gpu->users.count - 1];
}

/* Members of the first sample of a tree that was attached to may have used GPUs before. */
static void keep_time(const struct watch *watch, struct watch_gpu_user *user, uint64_t time_ns)
{
	bool is_old =
		watch_is_attached(watch) && !watch->options->since_start && !watch->gpu.has_begun;

	if (!user->time_before_ns.present)
		user->time_before_ns = (struct run_number){ true, is_old ? time_ns : 0 };
	if (time_ns >= user->time_before_ns.value)
		keep_most(&user->total.time_ns, time_ns - user->time_before_ns.value);
}

static void keep_user(struct watch *watch, const struct tree_process *member,
		      const struct run_number used[3])
{
	struct watch_gpu_user *user = user_of(watch, &member->key);

	if (!user)
		return;
	memcpy(user->total.comm, member->comm, sizeof(user->total.comm));
	if (used[0].present)
		keep_most(&user->total.memory_peak_bytes, used[0].value);
	if (used[1].present)
		keep_most(&user->total.busy_peak_percent, used[1].value);
	if (used[2].present)
		keep_time(watch, user, used[2].value);
}

/* Those of the tree: what each member used, and sums over them at one moment. */
static void keep_tree(struct watch *watch, const struct snapshot *snapshot)
{
	static const enum metric_id ids[] = { METRIC_gpu_memory_bytes, METRIC_gpu_busy_percent,
					      METRIC_gpu_time_ns };
	struct run_gpu *run = &watch->run->gpu;
	struct run_number sums[ARRAY_SIZE(ids)] = { 0 };

	for (uint32_t row = 0; row < snapshot->process_count; row++) {
		const struct tree_process *member = member_of(watch, &snapshot->processes[row]);
		struct run_number used[ARRAY_SIZE(ids)] = { 0 };
		bool is_user = false;

		for (size_t i = 0; member && i < ARRAY_SIZE(ids); i++) {
			used[i].present = snapshot_get(snapshot, ids[i], row, &used[i].value);
			if (used[i].present)
				sums[i] =
					(struct run_number){ true, sums[i].value + used[i].value };
			is_user |= used[i].present;
		}
		if (is_user)
			keep_user(watch, member, used);
	}
	if (sums[0].present)
		keep_most(&run->tree_memory_peak_bytes, sums[0].value);
	if (sums[1].present)
		keep_most(&run->tree_busy_peak_percent, sums[1].value);
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

static int compare_amounts(const struct run_number *a, const struct run_number *b)
{
	return a->value < b->value ? 1 : a->value > b->value ? -1 : 0;
}

static int compare_users(const void *a, const void *b)
{
	const struct run_gpu_user *one = &((const struct watch_gpu_user *)a)->total;
	const struct run_gpu_user *other = &((const struct watch_gpu_user *)b)->total;
	int order = compare_amounts(&one->memory_peak_bytes, &other->memory_peak_bytes);

	if (!order)
		order = compare_amounts(&one->time_ns, &other->time_ns);
	if (!order)
		order = compare_amounts(&one->busy_peak_percent, &other->busy_peak_percent);
	return order ? order : one->pid - other->pid;
}

static void sum_up_users(struct watch *watch)
{
	struct run_gpu_users *kept = &watch->run->gpu_users;
	struct run_number *time = &watch->run->gpu.tree_time_ns;
	const struct watch_gpu_user *users = watch->gpu.users.data;
	size_t count = watch->gpu.users.count;

	if (count)
		qsort(watch->gpu.users.data, count, sizeof(*users), compare_users);
	for (size_t i = 0; i < count; i++) {
		if (users[i].total.time_ns.present)
			*time = (struct run_number){ true,
						     time->value + users[i].total.time_ns.value };
		if (kept->count < RUN_GPU_USERS_MAX)
			kept->list[kept->count++] = users[i].total;
	}
	if (count > kept->count)
		watch->run->gpu.processes_omitted =
			(struct run_number){ true, count - kept->count };
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
	sum_up_users(watch);
	return watch->gpu.has_failed ? -ENOMEM : 0;
}
